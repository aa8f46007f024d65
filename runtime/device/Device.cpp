// What devices have in common.
#include "runtime/device/Device.h"

#include <algorithm>
#include <thread>

namespace tile::device {

// Asks often at first, since most work is short, and a thousand times a second in the end.
bool Device::waitUntil(Event event, std::chrono::steady_clock::time_point deadline) {
  using namespace std::chrono;
  for (nanoseconds pause = microseconds(10); !isDone(event);
       pause = std::min<nanoseconds>(pause * 2, milliseconds(1))) {
    steady_clock::time_point now = steady_clock::now();
    if (now >= deadline)
      return false;
    std::this_thread::sleep_for(std::min<nanoseconds>(pause, deadline - now));
  }
  return true;
}

} // namespace tile::device
