// Any bytes as a .npy file: an array or a tile::Error.
#include "tests/fuzz/parsers/MemoryFile.h"
#include "tools/tilec/run/Npy.h"

#include <tile/Error.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tile::fuzz::MemoryFile file;
  if (!file.write(data, size))
    return 0;
  try {
    tile::tilec::readNpy(file.path());
  } catch (const tile::Error &) {
  }
  return 0;
}
