#include "capi/compiler/LoadedLibrary.h"

#include "base/UserLibrary.h"
#include "capi/Guard.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

namespace tile::capi {
namespace {

void *load(const std::string &path) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault))
    refuse(ErrorCode::IoError,
           "cannot read '" + path + "': " + (fault ? fault.message() : "not a file"));
  // A name without '/' would be looked up elsewhere.
  std::string file = std::filesystem::absolute(path, fault).string();
  if (fault)
    refuse(ErrorCode::LinkError, "cannot load '" + path + "': " + fault.message());
  return base::loadUserLibrary(file, path);
}

std::vector<Record> madeSince(const std::vector<Record> &before) {
  std::vector<Record> made;
  for (const Record &record : detail::liveRecords())
    if (std::ranges::find(before, record) == before.end())
      made.push_back(record);
  return made;
}

} // namespace

LoadedLibrary LoadedLibrary::open(const std::string &path) {
  static std::mutex mutex; // what is made meanwhile is of this library
  static auto *loaded = new std::map<void *, std::vector<Record>>;
  std::lock_guard lock(mutex);
  std::vector<Record> before = detail::liveRecords();
  void *handle = load(path);
  auto known = loaded->find(handle); // the loader gives one file one handle
  if (known == loaded->end())
    known = loaded->emplace(handle, madeSince(before)).first;
  if (known->second.empty())
    refuse(ErrorCode::InvalidArgument,
           "'" + path +
               "' makes no kernel in a static variable when it is loaded, as in: auto k = "
               "kernel(\"k\", ...);");
  return LoadedLibrary(path, known->second);
}

const Record &LoadedLibrary::kernel(const std::string &name) const {
  const Record *found = nullptr;
  bool isUnique = true;
  std::string known;
  for (const Record &record : kernels_) {
    known += (known.empty() ? "" : ", ") + record->name;
    if (record->name != name)
      continue;
    isUnique = !found;
    found = &record;
  }
  if (found && isUnique)
    return *found;
  refuse(ErrorCode::InvalidArgument, "'" + path_ + "' has " +
                                         (found ? "several kernels '" : "no kernel '") + name +
                                         "'; it has " + known);
}

} // namespace tile::capi
