#include "base/AtomicFile.h"

#include <tile/Error.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace tile::base {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string &path, const std::string &why) {
  throw Error(Fault::User, ErrorCode::IoError, "cannot write '" + path + "': " + why);
}

[[noreturn]] void refuse(const std::string &path, int error) {
  refuse(path, std::generic_category().message(error));
}

/// A file that is open for writing. Its functions return 0 or an errno.
class OpenFile {
public:
  OpenFile() = default;
  ~OpenFile() {
    if (number_ >= 0)
      ::close(number_);
  }
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;

  int open(const std::string &path, int flags) {
    number_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
    return number_ < 0 ? errno : 0;
  }

  int write(std::string_view content) {
    while (!content.empty()) {
      ssize_t written = ::write(number_, content.data(), content.size());
      if (written >= 0)
        content.remove_prefix(static_cast<size_t>(written));
      else if (errno != EINTR)
        return errno;
    }
    return 0;
  }

  /// Some file systems tell only now that the bytes have no room.
  int close() { return ::close(std::exchange(number_, -1)) < 0 ? errno : 0; }

private:
  int number_ = -1;
};

/// Writes to what is there: a device, a pipe.
void writeInPlace(const std::string &path, std::string_view content) {
  OpenFile file;
  int error = file.open(path, 0);
  if (!error)
    error = file.write(content);
  if (int late = error ? 0 : file.close())
    error = late;
  if (error)
    refuse(path, error);
}

/// Opens a new file beside `target`; returns its name.
std::string openBeside(const std::string &target, OpenFile &file, const std::string &shown) {
  std::random_device random;
  for (;;) {
    char ending[16];
    std::snprintf(ending, sizeof ending, ".%08x", random());
    int error = file.open(target + ending, O_CREAT | O_EXCL);
    if (!error)
      return target + ending;
    if (error != EEXIST)
      refuse(shown, error);
  }
}

void writeAndRename(const std::string &path, const std::string &target, std::string_view content) {
  OpenFile file;
  std::string draft = openBeside(target, file, path);
  int error = file.write(content);
  if (int late = file.close(); !error)
    error = late;
  if (!error && std::rename(draft.c_str(), target.c_str()) < 0)
    error = errno;
  if (error) {
    ::unlink(draft.c_str());
    refuse(path, error);
  }
}

} // namespace

void checkWritable(const std::string &path) {
  std::error_code ignored;
  fs::file_status status = fs::status(path, ignored);
  std::string target = path;
  if (!fs::exists(status)) { // it is made in its folder
    target = fs::path(path).parent_path().string();
    if (target.empty())
      target = ".";
    if (!fs::is_directory(target, ignored))
      refuse(path, "there is no such folder");
  } else if (fs::is_directory(status)) {
    refuse(path, "it is a folder");
  }
  if (::access(target.c_str(), W_OK) < 0)
    refuse(path, errno);
}

void writeFile(const std::string &path, std::string_view content) {
  std::error_code fault;
  fs::file_status status = fs::status(path, fault);
  if (!fs::exists(status))
    return writeAndRename(path, path, content);
  if (!fs::is_regular_file(status))
    return writeInPlace(path, content);
  if (::access(path.c_str(), W_OK) < 0)
    refuse(path, errno); // a rename would replace what must not be written to
  fs::path target = fs::canonical(path, fault);
  writeAndRename(path, fault ? path : target.string(), content);
}

} // namespace tile::base
