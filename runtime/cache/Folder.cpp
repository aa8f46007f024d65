#include "runtime/cache/Folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tile::cache {
namespace {

/// Files lie in folders named by their first two digits, so that none of these becomes long.
constexpr size_t kNameDigits = 64, kFolderDigits = 2;
constexpr std::string_view kEnding = ".tile", kDraft = ".draft-", kAside = ".aside";
constexpr mode_t kFileMode = 0600, kFolderMode = 0700;
/// More than this is none of our files.
constexpr int64_t kMostFileBytes = int64_t(1) << 30;
/// When a file that is read counts as used again: often enough to tell, seldom enough to cost nothing.
constexpr int64_t kTouchSeconds = 3600;
/// A draft that is older was left behind.
constexpr int64_t kDraftSeconds = 3600;
/// How often a process, of all that write, looks for what has to go; how much of the room one writes without looking; and how much
/// stays. Eight processes that write at once fill a quarter more than there is.
constexpr int64_t kSweepSeconds = 3600, kWrittenBlindly = 32;
constexpr double kStays = 0.8;

/// An open file or folder.
class Descriptor {
public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  /// Some file systems tell only now that the bytes have no room.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

private:
  int number_;
};

bool isHexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool isName(std::string_view name) { return name.size() == kNameDigits && isHexadecimal(name); }

int64_t now() { return static_cast<int64_t>(std::time(nullptr)); }

// A time to come, which a clock that was set back has left, is as good as now.
int64_t secondsSince(const struct stat &facts) {
  return std::max<int64_t>(0, now() - static_cast<int64_t>(facts.st_mtim.tv_sec));
}

// Why the folder may hold what others have put there; empty if it may not.
std::string whyNotTrusted(const struct stat &facts) {
  constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
  if (!S_ISDIR(facts.st_mode))
    return "it is no folder";
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
    return "it belongs to another user";
  if (facts.st_mode & kOthersWrite)
    return "others may write to it";
  return {};
}

// All of the bytes, or an errno.
int writeAll(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written >= 0)
      bytes = bytes.subspan(static_cast<size_t>(written));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

int readAll(int file, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t got = ::read(file, bytes.data(), bytes.size());
    if (got > 0)
      bytes = bytes.subspan(static_cast<size_t>(got));
    else if (got == 0)
      return EIO; // shorter than it was a moment ago
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

/// Writes a draft, and renames it once it is on disk. An errno if that fails, and nothing is left.
int publish(const std::string &path, std::span<const std::byte> bytes) {
  std::string folder = path.substr(0, path.rfind('/'));
  if (::mkdir(folder.c_str(), kFolderMode) < 0 && errno != EEXIST)
    return errno;
  std::random_device random;
  char number[24];
  std::snprintf(number, sizeof number, "%08x%08x", random(), random());
  std::string draft = folder + "/" + std::string(kDraft) + number;
  Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
  if (!file)
    return errno;
  int error = writeAll(file.get(), bytes);
  if (!error && ::fsync(file.get()) < 0)
    error = errno;
  if (!file.close() && !error)
    error = errno;
  if (!error && ::rename(draft.c_str(), path.c_str()) < 0)
    error = errno;
  if (error)
    ::unlink(draft.c_str());
  return error;
}

/// A file or draft, as it was when the folder was looked through.
struct Found {
  std::string path, name; ///< no name: a draft, or what was set aside
  struct stat facts;
};

// In one of the folders; what is not ours is not looked at.
void findIn(const std::string &folder, const std::string &digits, std::vector<Found> &found) {
  DIR *open = ::opendir(folder.c_str());
  if (!open)
    return;
  while (const dirent *item = ::readdir(open)) {
    std::string_view name = item->d_name;
    bool isDraft = name.starts_with(kDraft), isAside = name.ends_with(kAside);
    std::string whole = digits;
    if (name.ends_with(kEnding))
      whole += name.substr(0, name.size() - kEnding.size());
    Found one = {folder + "/" + std::string(name), isName(whole) ? whole : "", {}};
    bool isOurs = isDraft || isAside || !one.name.empty();
    if (isOurs && ::lstat(one.path.c_str(), &one.facts) == 0 && S_ISREG(one.facts.st_mode))
      found.push_back(std::move(one));
  }
  ::closedir(open);
}

std::vector<Found> findAll(const std::string &path) {
  std::vector<Found> found;
  for (unsigned first = 0; first < 256; ++first) {
    char digits[kFolderDigits + 1];
    std::snprintf(digits, sizeof digits, "%02x", first);
    findIn(path + "/" + digits, digits, found);
  }
  return found;
}

// Unless somebody has written or used it since.
bool removeUnchanged(const Found &file) {
  struct stat facts;
  bool isSame = ::lstat(file.path.c_str(), &facts) == 0 && facts.st_ino == file.facts.st_ino &&
                facts.st_size == file.facts.st_size &&
                facts.st_mtim.tv_sec == file.facts.st_mtim.tv_sec &&
                facts.st_mtim.tv_nsec == file.facts.st_mtim.tv_nsec;
  return isSame && ::unlink(file.path.c_str()) == 0;
}

// Removes those used longest ago, until so many bytes stay, and what was left behind; returns how many bytes went.
int64_t prune(std::vector<Found> found, int64_t mostBytes) {
  int64_t removed = 0, kept = 0;
  std::ranges::sort(found, [](const Found &a, const Found &b) {
    return std::pair(a.facts.st_mtim.tv_sec, a.facts.st_mtim.tv_nsec) >
           std::pair(b.facts.st_mtim.tv_sec, b.facts.st_mtim.tv_nsec);
  });
  for (const Found &file : found) { // those used last come first
    auto bytes = static_cast<int64_t>(file.facts.st_size);
    bool goes =
        file.name.empty() ? secondsSince(file.facts) > kDraftSeconds : kept + bytes > mostBytes;
    if (goes && removeUnchanged(file))
      removed += bytes;
    else if (!file.name.empty())
      kept += bytes;
  }
  return removed;
}

bool isRefusal(int error) {
  return error == EACCES || error == EPERM || error == EROFS || error == ENOSPC ||
         error == EDQUOT || error == EFBIG;
}

} // namespace

Folder::Folder(FolderOptions options)
    : options_(std::move(options)), writes_(!options_.isReadOnly) {
  std::error_code ignored; // what is missing then is told by stat
  if (!options_.isReadOnly) {
    std::filesystem::create_directories(std::filesystem::path(options_.path).parent_path(),
                                        ignored);
    ::mkdir(options_.path.c_str(), kFolderMode);
  }
  struct stat facts;
  if (::stat(options_.path.c_str(), &facts) < 0)
    refusal_ = std::strerror(errno);
  else if (!S_ISDIR(facts.st_mode) || !options_.trustsAll)
    refusal_ = whyNotTrusted(facts);
  bool isOnlyMissing = options_.isReadOnly && !std::filesystem::exists(options_.path, ignored);
  if (!refusal_.empty() && !isOnlyMissing)
    warn("'" + options_.path + "' is not used: " + refusal_, 0);
}

std::string Folder::pathOf(std::string_view name) const {
  return options_.path + "/" + std::string(name.substr(0, kFolderDigits)) + "/" +
         std::string(name.substr(kFolderDigits)) + std::string(kEnding);
}

std::optional<std::vector<std::byte>> Folder::read(std::string_view name) {
  if (!refusal_.empty() || !isName(name))
    return std::nullopt;
  std::string path = pathOf(name);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE)
      warn("cannot read '" + path + "'", errno);
    return std::nullopt;
  }
  struct stat facts;
  if (::fstat(file.get(), &facts) < 0 || !S_ISREG(facts.st_mode) || facts.st_size > kMostFileBytes)
    return std::nullopt;
  std::vector<std::byte> bytes(static_cast<size_t>(facts.st_size));
  if (int error = readAll(file.get(), bytes)) {
    warn("cannot read '" + path + "'", error);
    return std::nullopt;
  }
  if (writes_ && (secondsSince(facts) > kTouchSeconds || facts.st_mtim.tv_sec > now()))
    ::futimens(file.get(), nullptr);
  return bytes;
}

void Folder::write(std::string_view name, std::span<const std::byte> bytes) {
  if (!refusal_.empty() || !writes_ || !isName(name))
    return;
  if (int error = publish(pathOf(name), bytes)) {
    if (isRefusal(error))
      writes_ = false;
    return warn("cannot write to '" + options_.path + "'", error);
  }
  makeRoom(static_cast<int64_t>(bytes.size()));
}

void Folder::setAside(std::string_view name, const std::string &why) {
  if (!refusal_.empty() || !isName(name))
    return;
  std::string path = pathOf(name);
  if (writes_)
    ::rename(path.c_str(), (path + std::string(kAside)).c_str());
  warn("'" + path + "' is not used: " + why, 0);
}

std::vector<FileFacts> Folder::files() const {
  std::vector<FileFacts> files;
  for (const Found &file : findAll(options_.path))
    if (!file.name.empty())
      files.push_back({file.name, static_cast<int64_t>(file.facts.st_size),
                       static_cast<int64_t>(file.facts.st_mtim.tv_sec)});
  std::ranges::sort(files,
                    [](const FileFacts &a, const FileFacts &b) { return a.usedAt > b.usedAt; });
  return files;
}

int64_t Folder::prune(int64_t mostBytes) { return cache::prune(findAll(options_.path), mostBytes); }

// The age of a file says when somebody did so last. Two who do so at once lose nothing by it.
void Folder::makeRoom(int64_t written) {
  std::string stamp = options_.path + "/swept";
  struct stat facts;
  bool isRecent = ::lstat(stamp.c_str(), &facts) == 0 && secondsSince(facts) < kSweepSeconds &&
                  facts.st_mtim.tv_sec <= now();
  if (isRecent && (written_ += written) * kWrittenBlindly < options_.mostBytes)
    return;
  written_ = 0;
  Descriptor file(::open(stamp.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!file || ::futimens(file.get(), nullptr) < 0)
    return;
  std::vector<Found> found = findAll(options_.path);
  int64_t bytes = 0;
  for (const Found &each : found)
    if (!each.name.empty())
      bytes += static_cast<int64_t>(each.facts.st_size);
  cache::prune(std::move(found),
               bytes > options_.mostBytes
                   ? static_cast<int64_t>(kStays * static_cast<double>(options_.mostBytes))
                   : options_.mostBytes);
}

void Folder::warn(const std::string &what, int error) {
  if (warned_.exchange(true))
    return;
  std::fprintf(stderr, "tile: warning: kernel cache: %s%s%s; kernels are compiled anew\n",
               what.c_str(), error ? ": " : "", error ? std::strerror(error) : "");
}

} // namespace tile::cache
