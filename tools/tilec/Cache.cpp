// `tilec cache`: what the kernel cache holds, whether it is whole, and why a kernel was not found in it.
#include "runtime/cache/Entry.h"
#include "runtime/jit/KernelCache.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>

namespace tile::tilec {
namespace {

using Json = nlohmann::ordered_json;

/// An entry that is whole, and what its key says.
struct Kept {
  cache::FileFacts file;
  cache::Entry entry;
  Json key;
};

/// What a command does to the folder; one that only looks makes none.
enum class Use { Looks, Writes };

std::unique_ptr<cache::Folder> folderInUse(Use use) {
  std::optional<cache::FolderOptions> options = jit::KernelCache::folderOfEnvironment();
  if (!options)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "the kernel cache is off: TILE_CACHE is off, or there is no home folder and no "
                "TILE_CACHE_DIR");
  std::error_code fault;
  bool isMissing = !std::filesystem::exists(options->path, fault) && !fault;
  options->isReadOnly |= isMissing && use == Use::Looks;
  auto folder = std::make_unique<cache::Folder>(*options);
  if (!folder->refusal().empty() && !(isMissing && options->isReadOnly))
    throw Error(Fault::User, ErrorCode::IoError,
                "'" + folder->path() + "' is not used: " + folder->refusal());
  return folder;
}

cache::Folder folderAt(const std::string &path) {
  cache::FolderOptions options;
  options.path = path;
  options.trustsAll = true; // the user has named it
  return cache::Folder(options);
}

std::optional<Kept> keptIn(cache::Folder &folder, const cache::FileFacts &file, std::string &why) {
  std::optional<std::vector<std::byte>> bytes = folder.read(file.name);
  std::optional<cache::Entry> entry;
  if (bytes)
    entry = cache::decode(*bytes, &why);
  else
    why = "it cannot be read";
  Json key = entry ? Json::parse(entry->key, nullptr, /*allow_exceptions=*/false) : Json();
  if (entry && (cache::nameOf(entry->key) != file.name || !key.is_object()))
    why = "it is of another kernel", entry.reset();
  return entry ? std::optional(Kept{file, std::move(*entry), std::move(key)}) : std::nullopt;
}

std::vector<Kept> allIn(cache::Folder &folder) {
  std::vector<Kept> all;
  std::string why;
  for (const cache::FileFacts &file : folder.files())
    if (std::optional<Kept> kept = keptIn(folder, file, why))
      all.push_back(std::move(*kept));
  return all;
}

std::string shortName(const std::string &name) { return name.substr(0, 12); }

std::string text(const Json &key, const char *field) {
  auto found = key.find(field);
  if (found == key.end())
    return "-";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string timeText(int64_t seconds) {
  std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts;
  char line[32];
  std::strftime(line, sizeof line, "%Y-%m-%d %H:%M", ::localtime_r(&time, &parts));
  return line;
}

int list(bool asJson) {
  std::unique_ptr<cache::Folder> inUse = folderInUse(Use::Looks);
  cache::Folder &folder = *inUse;
  int64_t bytes = 0;
  Json all = Json::array();
  for (const Kept &kept : allIn(folder)) {
    bytes += kept.file.bytes;
    if (asJson)
      all.push_back({{"name", kept.file.name},
                     {"bytes", kept.file.bytes},
                     {"used", kept.file.usedAt},
                     {"ptx_bytes", kept.entry.ptx.size()},
                     {"cubin_bytes", kept.entry.cubin.size()},
                     {"key", kept.key}});
    else
      std::cout << shortName(kept.file.name) << "  " << timeText(kept.file.usedAt) << "  "
                << kept.file.bytes << " bytes  " << text(kept.key, "target") << "  "
                << text(kept.key, "kernel") << "\n";
  }
  if (asJson)
    std::cout << all.dump(2) << "\n";
  else
    std::cout << folder.files().size() << " kernels, " << bytes << " bytes in " << folder.path()
              << "\n";
  return kOk;
}

int verify() {
  std::unique_ptr<cache::Folder> inUse = folderInUse(Use::Looks);
  cache::Folder &folder = *inUse;
  size_t whole = 0, broken = 0;
  for (const cache::FileFacts &file : folder.files()) {
    std::string why;
    if (keptIn(folder, file, why)) {
      ++whole;
      continue;
    }
    ++broken;
    std::cout << file.name << ": " << why << "\n";
    folder.setAside(file.name, why);
  }
  std::cout << whole << " kernels are whole, " << broken << " are not"
            << (broken ? " and were set aside" : "") << "\n";
  return broken ? kFinding : kOk;
}

int prune(int64_t megabytes) {
  std::unique_ptr<cache::Folder> inUse = folderInUse(Use::Looks);
  cache::Folder &folder = *inUse;
  int64_t removed = folder.prune(megabytes << 20);
  std::cout << removed << " bytes removed, " << folder.files().size() << " kernels stay in "
            << folder.path() << "\n";
  return kOk;
}

// Only what is whole goes from one folder to the other.
int copyEntries(cache::Folder &from, cache::Folder &to) {
  if (!to.refusal().empty())
    throw Error(Fault::User, ErrorCode::IoError, "'" + to.path() + "': " + to.refusal());
  size_t copied = 0, left = 0;
  for (const cache::FileFacts &file : from.files()) {
    std::string why;
    std::optional<Kept> kept = keptIn(from, file, why);
    if (kept)
      to.write(file.name, cache::encode(kept->entry));
    bool isThere = kept && to.read(file.name).has_value();
    copied += isThere, left += !isThere;
  }
  std::cout << copied << " kernels copied from " << from.path() << " to " << to.path();
  if (left)
    std::cout << ", " << left << " were not whole or could not be written";
  std::cout << "\n";
  return left ? kFinding : kOk;
}

int exportTo(const std::string &path) {
  cache::Folder to = folderAt(path);
  return copyEntries(*folderInUse(Use::Looks), to);
}

int importFrom(const std::string &path) {
  if (!std::filesystem::is_directory(path))
    throw Error(Fault::User, ErrorCode::IoError, "'" + path + "' is no folder");
  cache::Folder from = folderAt(path);
  return copyEntries(from, *folderInUse(Use::Writes));
}

std::vector<std::string> differences(const Json &a, const Json &b) {
  std::vector<std::string> fields;
  for (const auto &[field, value] : a.items())
    if (!b.contains(field) || b[field] != value)
      fields.push_back(field);
  return fields;
}

// Entries of the same kernel differ by what made the later ones compile.
int why(const std::string &wanted) {
  std::vector<Kept> all = allIn(*folderInUse(Use::Looks));
  auto isWanted = [&](const Kept &kept) {
    return kept.file.name.starts_with(wanted) || text(kept.key, "kernel") == wanted;
  };
  bool any = false;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!isWanted(all[i]))
      continue;
    any = true;
    std::cout << shortName(all[i].file.name) << "  used " << timeText(all[i].file.usedAt) << "\n";
    for (const auto &[field, value] : all[i].key.items())
      std::cout << "  " << field << ": " << text(all[i].key, field.c_str()) << "\n";
    const Kept *nearest = nullptr;
    std::vector<std::string> fewest;
    for (const Kept &other : all) {
      std::vector<std::string> fields = differences(all[i].key, other.key);
      bool isNearer = !fields.empty() && text(other.key, "kernel") == text(all[i].key, "kernel") &&
                      (!nearest || fields.size() < fewest.size());
      if (isNearer)
        nearest = &other, fewest = fields;
    }
    if (!nearest)
      continue;
    std::cout << "  nearest to " << shortName(nearest->file.name) << ", which has another";
    for (size_t f = 0; f < fewest.size(); ++f)
      std::cout << (f ? ", " : " ") << fewest[f] << " (" << text(nearest->key, fewest[f].c_str())
                << ")";
    std::cout << "\n";
  }
  if (any)
    return kOk;
  throw Error(Fault::User, ErrorCode::InvalidArgument,
              "no kernel that is kept has the name, or a digest that begins with, '" + wanted +
                  "': `tilec cache ls` lists them");
}

} // namespace

void addCache(CLI::App &app, std::function<int()> &chosen) {
  CLI::App *command =
      app.add_subcommand("cache", "Compiled kernels that are kept for later processes");
  command->require_subcommand(1);
  command->footer("The folder is TILE_CACHE_DIR, else $XDG_CACHE_HOME/tilec, else ~/.cache/tilec.");
  auto add = [&](const char *name, const char *what, std::function<int()> act) {
    CLI::App *sub = command->add_subcommand(name, what);
    sub->callback([&chosen, act = std::move(act)] { chosen = act; });
    return sub;
  };
  static bool asJson = false, all = false;
  static int64_t megabytes = 1024;
  static std::string word;
  add("ls", "List kernels, those used last first", [] {
    return list(asJson);
  })->add_flag("--json", asJson, "with everything their code follows from");
  add("verify", "Read each kernel; what is not whole is set aside", verify);
  CLI::App *pruning = add("prune", "Remove the kernels used longest ago",
                          [] { return prune(all ? 0 : megabytes); });
  pruning->add_option("--mb", megabytes, "megabytes that may stay")
      ->check(CLI::Range(int64_t(0), jit::kMostCacheMegabytes));
  pruning->add_flag("--all", all, "remove all");
  add("export", "Copy the kernels to a folder", [] { return exportTo(word); })
      ->add_option("folder", word, "made if it is not there")
      ->required();
  add("import", "Copy kernels from such a folder", [] { return importFrom(word); })
      ->add_option("folder", word, "of a user whom you trust: kernels run as you")
      ->required();
  add("why", "Show what a kernel's code follows from, and how it differs from the next",
      [] { return why(word); })
      ->add_option("kernel", word, "its name, or the first digits that `ls` shows")
      ->required();
}

} // namespace tile::tilec
