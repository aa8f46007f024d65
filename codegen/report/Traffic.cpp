// Sectors of global memory that the warp-wide accesses of a tile touch.
#include "codegen/report/MakeReport.h"

#include <set>
#include <vector>

using namespace mlir;

namespace tile::codegen {

double GlobalTraffic::efficiency() const {
  return sectors ? double(usedBytes) / (32.0 * double(sectors)) : 1;
}

double GlobalTraffic::mostEfficiency() const {
  return leastSectors ? double(usedBytes) / (32.0 * double(leastSectors)) : 1;
}

namespace {

constexpr int64_t kSectorBytes = 32;

/// Which bytes of which sectors one warp-wide access touches.
class SectorCount {
public:
  SectorCount(const layout::Layout &layout, int dim, AlongMemory along, int64_t bytes)
      : layout_(layout), dim_(dim), along_(along), bytes_(bytes) {}

  void touch(const layout::Coords &coords) {
    int64_t row = 0, position = coords[dim_] % along_.run * along_.step * bytes_;
    for (int d = 0; d < layout_.rank(); ++d)
      row = row * layout_.shape()[d] + (d == dim_ ? coords[d] / along_.run : coords[d]);
    elements_.insert({row, position});
    sectors_.insert({row, position / kSectorBytes});
  }
  int64_t usedBytes() const { return static_cast<int64_t>(elements_.size()) * bytes_; }
  int64_t numSectors() const { return static_cast<int64_t>(sectors_.size()); }
  int64_t leastSectors() const {
    bool isKnown = along_.run >= layout_.shape()[dim_];
    return isKnown ? numSectors() : llvm::divideCeil(usedBytes(), kSectorBytes);
  }

private:
  const layout::Layout &layout_;
  int dim_;
  AlongMemory along_;
  int64_t bytes_;
  std::set<std::pair<int64_t, int64_t>> elements_, sectors_;
};

} // namespace

int64_t warpsPerElement(const layout::Layout &layout) {
  return int64_t(1) << llvm::popcount(layout.freeMask(layout::In::Warp));
}

GlobalTraffic trafficOf(const layout::Layout &layout, int dim, AlongMemory along, int64_t vector,
                        int64_t elementBytes) {
  GlobalTraffic traffic;
  uint32_t copies = layout.freeMask(layout::In::Register);
  for (int32_t warp = 0; warp < layout.numWarps(); ++warp)
    for (int32_t reg = 0; reg < layout.numRegisters(); reg += static_cast<int32_t>(vector)) {
      if (reg & copies)
        continue;
      SectorCount count(layout, dim, along, elementBytes);
      for (int32_t lane = 0; lane < layout::kLanesPerWarp; ++lane)
        for (int32_t i = 0; i < vector; ++i)
          count.touch(layout.apply(reg + i, lane, warp));
      ++traffic.accesses;
      traffic.usedBytes += count.usedBytes();
      traffic.sectors += count.numSectors();
      traffic.leastSectors += count.leastSectors();
    }
  return traffic;
}

double requestsPerElement(const layout::Layout &layout, int64_t vector, uint32_t sameDims) {
  uint32_t copies = layout.freeMask(layout::In::Register);
  size_t requests = 0;
  for (int32_t warp = 0; warp < layout.numWarps(); ++warp)
    for (int32_t reg = 0; reg < layout.numRegisters(); reg += static_cast<int32_t>(vector)) {
      if (reg & copies)
        continue;
      std::set<std::vector<int32_t>> distinct;
      for (int32_t lane = 0; lane < layout::kLanesPerWarp; ++lane)
        for (int32_t i = 0; i < vector; ++i) {
          layout::Coords coords = layout.apply(reg + i, lane, warp);
          std::vector<int32_t> element(coords.begin(), coords.end());
          for (size_t dim = 0; dim < element.size(); ++dim)
            element[dim] = sameDims >> dim & 1 ? 0 : element[dim];
          distinct.insert(std::move(element));
        }
      requests += distinct.size();
    }
  return static_cast<double>(requests) / static_cast<double>(llvm::product_of(layout.shape()));
}

} // namespace tile::codegen
