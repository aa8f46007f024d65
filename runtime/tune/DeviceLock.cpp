#include "runtime/tune/DeviceLock.h"

#include <cctype>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace tile::tune {
namespace {

using Clock = std::chrono::steady_clock;

/// A file for all users of this machine.
std::string fileOf(const Device &device) {
  std::string name;
  for (char c : device.name())
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  std::error_code fault;
  return (std::filesystem::temp_directory_path(fault) / ("tilec-measures-" + name)).string();
}

} // namespace

DeviceLock::DeviceLock(const Device &device, double mostSeconds) {
  constexpr int kForAll = 0666;
  file_ = open(fileOf(device).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kForAll);
  Clock::time_point deadline =
      Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(mostSeconds * 1e3));
  while (file_ >= 0 && !isHeld_) {
    isHeld_ = flock(file_, LOCK_EX | LOCK_NB) == 0;
    if (isHeld_ || (errno != EWOULDBLOCK && errno != EINTR) || Clock::now() > deadline)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// The file stays: whoever removed it would take it from one that waits for it. A child that was forked meanwhile has the lock too,
// so that closing would not be enough.
DeviceLock::~DeviceLock() {
  if (isHeld_ && !process_.isOfParent())
    flock(file_, LOCK_UN);
  if (file_ >= 0)
    close(file_);
}

} // namespace tile::tune
