// Any bytes as PTX for the virtual GPU: a module whose kernels are decoded, or a tile::Error.
#include "runtime/device/Device.h"
#include "tests/fuzz/parsers/EntriesOfPtx.h"
#include "tests/fuzz/parsers/MutatePtx.h"

#include <tile/Error.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tile;
  static auto device = device::openVirtual({.target = "sm_90a"});
  std::string text(data, data + size);
  try {
    device::Module module = device->loadModule(text);
    for (const std::string &name : fuzz::entriesOf(text))
      try {
        device->functionInfo(device->getFunction(module, name));
      } catch (const Error &) {
      }
    device->unloadModule(module);
  } catch (const Error &) {
  }
  return 0;
}
