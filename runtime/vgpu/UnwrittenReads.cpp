// Counts unwritten elements, whole rows at a time where they are dense and written.
#include "runtime/vgpu/UnwrittenReads.h"

#include <cstdio>

namespace tile::vgpu {
namespace {

size_t countRun(const ValidBits &valid, uint64_t at, size_t elementBytes, uint64_t count) {
  if (valid.holdsRange(at, count * elementBytes))
    return 0;
  size_t unwritten = 0;
  for (uint64_t i = 0; i < count; ++i)
    unwritten += !valid.holdsRange(at + i * elementBytes, elementBytes);
  return unwritten;
}

size_t countFrom(const ValidBits &valid, const ElementRange &elements, size_t dim, uint64_t at) {
  if (dim == elements.extents.size())
    return countRun(valid, at, elements.elementBytes, 1);
  auto extent = static_cast<uint64_t>(elements.extents[dim]);
  auto stride = static_cast<uint64_t>(elements.strides[dim]);
  if (dim + 1 == elements.extents.size() && stride == 1)
    return countRun(valid, at, elements.elementBytes, extent);
  size_t unwritten = 0;
  for (uint64_t i = 0; i < extent; ++i)
    unwritten += countFrom(valid, elements, dim + 1, at + i * stride * elements.elementBytes);
  return unwritten;
}

} // namespace

size_t countUnwritten(const ValidBits &valid, const ElementRange &elements) {
  return countFrom(valid, elements, 0, elements.base - kGlobalBase);
}

void UnwrittenReads::note(GlobalMemory &memory, const ElementRange &elements, Loc where) {
  if (where.line == 0)
    return;
  size_t unwritten = countUnwritten(memory.valid(), elements);
  if (unwritten == 0 || !said_.emplace(where.file, where.line).second)
    return;
  size_t count = 1;
  for (int64_t extent : elements.extents)
    count *= static_cast<size_t>(extent);
  std::string name = memory.locationOf(elements.base).name;
  std::string text = std::string(where.file) + ":" + std::to_string(where.line) +
                     ": note: virtual GPU: " + std::to_string(unwritten) + " of the " +
                     std::to_string(count) + " elements read here" +
                     (name.empty() ? "" : " from " + name) +
                     " were never written; does the grid cover the output?\n";
  std::fputs(text.c_str(), stderr);
}

} // namespace tile::vgpu
