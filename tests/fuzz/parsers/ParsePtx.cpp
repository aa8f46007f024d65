// Any bytes as PTX for the virtual GPU: a module or a tile::Error.
#include "runtime/device/Device.h"

#include <tile/Error.h>

#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tile;
  static auto device = device::openVirtual({.target = "sm_90a"});
  try {
    device->unloadModule(device->loadModule(std::string(data, data + size)));
  } catch (const Error &) {
  }
  return 0;
}
