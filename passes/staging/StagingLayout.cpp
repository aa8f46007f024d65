#include "passes/staging/StagingLayout.h"

#include "ir/LayoutAttr.h"
#include "ir/layout/SharedAccess.h"

using namespace mlir;

namespace tile::passes {

namespace {

// Dimensions from the fastest in the registers that write the tile: its rows in shared memory run the same way.
std::vector<int32_t> orderOf(const layout::Layout &layout) {
  int32_t rank = layout.rank(), fastest = rank - 1;
  const std::vector<layout::Coords> &registers = layout.bases(layout::In::Register),
                                    &lanes = layout.bases(layout::In::Lane);
  const std::vector<layout::Coords> &first = registers.empty() ? lanes : registers;
  for (int32_t dim = 0; dim < rank && !first.empty(); ++dim)
    if (first.front()[dim] == 1)
      fastest = dim;
  std::vector<int32_t> order = {fastest};
  for (int32_t dim = rank; dim-- > 0;)
    if (dim != fastest)
      order.push_back(dim);
  return order;
}

/// Cycles of a warp that reads the tile (or writes it) in a layout: accesses issued plus wavefronts served.
int64_t readCost(const layout::Layout &layout, const layout::SharedLayout &shared, int bytes) {
  layout::VectorGroup group = layout::vectorGroupOf(layout, shared, bytes, 0);
  layout::Wavefronts one = layout::groupWavefronts(layout, shared, bytes, group, 0);
  return layout.numRegisters() / static_cast<int64_t>(group.size()) *
         (one.instructions + one.actual);
}

// The swizzle for ldmatrix if that delivers all readers' fragments; else the cheapest of it and those made for one reader.
layout::SharedLayout stagingLayout(const layout::Layout &writer, std::vector<int32_t> order,
                                   ArrayRef<layout::Layout> readers, int bytes) {
  auto best = layout::SharedLayout::swizzled(writer.shape(), order, bytes);
  if (llvm::all_of(readers, [&](const layout::Layout &reader) {
        return layout::matchMatrixAccess(reader, best, bytes).has_value();
      }))
    return best;
  auto cost = [&](const layout::SharedLayout &shared) {
    int64_t sum = readCost(writer, shared, bytes);
    for (const layout::Layout &reader : readers)
      sum += readCost(reader, shared, bytes);
    return sum;
  };
  int64_t bestCost = cost(best);
  for (const layout::Layout &reader : readers) {
    auto candidate = layout::scratchSwizzle(writer, reader, bytes);
    if (int64_t candidateCost = cost(candidate); candidateCost < bestCost)
      best = std::move(candidate), bestCost = candidateCost;
  }
  return best;
}

} // namespace

gpu::SmemType stagingType(const layout::Layout &writer, Type elementType,
                          ArrayRef<layout::Layout> readers) {
  MLIRContext *context = elementType.getContext();
  auto shared =
      stagingLayout(writer, orderOf(writer), readers, static_cast<int>(gpu::bytesOf(elementType)));
  return gpu::SmemType::get(context, writer.shape(), elementType,
                            gpu::attributeOf(context, shared));
}

} // namespace tile::passes
