#include "base/ReadFile.h"

#include <tile/Error.h>

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace tile::base {
namespace {

/// More than any file of ours has.
constexpr size_t kMostBytes = size_t{1} << 32;

[[noreturn]] void refuse(const std::string &path, const std::string &why) {
  throw Error(Fault::User, ErrorCode::IoError, "cannot read '" + path + "': " + why);
}

[[noreturn]] void refuse(const std::string &path, int error) {
  refuse(path, std::generic_category().message(error));
}

class OpenFile {
public:
  explicit OpenFile(const std::string &path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number < 0)
      refuse(path, errno);
  }
  ~OpenFile() { ::close(number); }
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;

  const int number;
};

} // namespace

std::string readFile(const std::string &path) {
  OpenFile file(path);
  std::string content;
  char part[65536];
  for (;;) {
    ssize_t bytes = ::read(file.number, part, sizeof part);
    if (bytes == 0)
      return content;
    if (bytes < 0 && errno != EINTR)
      refuse(path, errno);
    if (bytes > 0)
      content.append(part, static_cast<size_t>(bytes));
    if (content.size() > kMostBytes)
      refuse(path, "it has more than 4 GiB");
  }
}

} // namespace tile::base
