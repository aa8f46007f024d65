// Any bytes as a safetensors file: a header or a tile::Error.
#include <tile/SafeTensors.h>
#include <tile/detail/SafeTensors.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    auto header = tile::detail::parseSafeTensors({data, size}, "input", {});
    size_t end = 0;
    for (const auto &entry : header.entries)
      end = entry.begin + entry.bytes;
    if (end > size)
      __builtin_trap();
  } catch (const tile::Error &) {
  }
  return 0;
}
