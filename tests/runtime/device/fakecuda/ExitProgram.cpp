// A program whose static variables own a device, and hold work for its last moments. The fake driver ends the process
// with a status of its own if it is called after it went down.
#include "runtime/device/Device.h"

#include <cstdio>
#include <cstdlib>

using namespace tile;

namespace {

struct Owner {
  std::shared_ptr<device::Device> device;
  device::DevicePtr pointer = 0;
  ~Owner() {
    try {
      device->free(pointer);
    } catch (const Error &error) {
      isRefused = error.code() == ErrorCode::DeviceLost;
    }
    if (isRefused != isExpectedToBeRefused)
      std::_Exit(3);
  }
  bool isRefused = false, isExpectedToBeRefused = true;
};

// Made before the driver was loaded, so destroyed after it went down.
Owner early;

} // namespace

int main() {
  try {
    early.device = device::openCuda(0);
    early.pointer = early.device->alloc(64);
    early.device->createStream();
    // Made after, so destroyed while the driver still answers.
    static Owner late;
    late.device = early.device;
    late.pointer = late.device->alloc(64);
    late.isExpectedToBeRefused = false;
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
