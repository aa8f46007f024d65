#include "passes/staging/StagingLayout.h"

#include "ir/LayoutAttr.h"
#include "ir/layout/SharedAccess.h"

using namespace mlir;

namespace tile::passes {

namespace {

// The tile's dimensions, from the fastest varying in the registers that write it: its rows in
// shared memory have the same order.
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

// Layouts that keep 16 bytes of a row together come first, since copies move that many; of equal
// ones that for ldmatrix wins.
std::vector<layout::SharedLayout> candidatesFor(const layout::Layout &writer,
                                                ArrayRef<layout::Layout> readers, int bytes) {
  std::vector<layout::SharedLayout> candidates;
  for (int skew : {0, 1, 2})
    candidates.push_back(
        layout::SharedLayout::swizzled(writer.shape(), orderOf(writer), bytes, 0, skew));
  for (const layout::Layout &reader : readers)
    candidates.push_back(layout::scratchSwizzle(writer, reader, bytes));
  return candidates;
}

// Can all readers get their fragments by ldmatrix?
bool deliversMatrices(const layout::SharedLayout &shared, ArrayRef<layout::Layout> readers,
                      int bytes) {
  return llvm::all_of(readers, [&](const layout::Layout &reader) {
    return layout::matchMatrixAccess(reader, shared, bytes).has_value();
  });
}

int64_t readCost(const layout::Layout &reader, const layout::SharedLayout &shared, int bytes) {
  auto matrices = layout::matchMatrixAccess(reader, shared, bytes);
  if (!matrices)
    return accessCost(reader, shared, bytes);
  layout::Wavefronts all = layout::matrixWavefronts(*matrices, 1, bytes);
  return all.instructions + all.actual;
}

} // namespace

int64_t accessCost(const layout::Layout &layout, const layout::SharedLayout &shared, int64_t bytes,
                   const layout::VectorGroup &group) {
  layout::Wavefronts one =
      layout::groupWavefronts(layout, shared, static_cast<int>(bytes), group, 0);
  return layout.numRegisters() / static_cast<int64_t>(group.size()) *
         (one.instructions + one.actual);
}

int64_t accessCost(const layout::Layout &layout, const layout::SharedLayout &shared,
                   int64_t bytes) {
  return accessCost(layout, shared, bytes,
                    layout::vectorGroupOf(layout, shared, static_cast<int>(bytes), 0));
}

bool isRow(ArrayRef<int64_t> shape) {
  return llvm::count_if(shape, [](int64_t extent) { return extent > 1; }) <= 1;
}

int64_t readCost(gpu::SmemType memory, ArrayRef<layout::Layout> readers) {
  layout::SharedLayout shared = gpu::sharedOf(memory);
  auto bytes = static_cast<int>(gpu::bytesOf(memory.getElementType()));
  int64_t cost = 0;
  for (const layout::Layout &reader : readers)
    cost += readCost(reader, shared, bytes);
  return cost;
}

gpu::SmemType stagingType(const layout::Layout &writer, Type elementType,
                          ArrayRef<layout::Layout> readers,
                          llvm::function_ref<int64_t(gpu::SmemType)> writeCost) {
  MLIRContext *context = elementType.getContext();
  int bytes = static_cast<int>(gpu::bytesOf(elementType));
  gpu::SmemType best;
  int64_t bestCost = std::numeric_limits<int64_t>::max();
  for (const layout::SharedLayout &shared : candidatesFor(writer, readers, bytes)) {
    auto type =
        gpu::SmemType::get(context, writer.shape(), elementType, gpu::attributeOf(context, shared));
    if (!best && deliversMatrices(shared, readers, bytes))
      return type;
    int64_t cost = writeCost ? writeCost(type) : accessCost(writer, shared, bytes);
    for (const layout::Layout &reader : readers)
      cost += readCost(reader, shared, bytes);
    if (cost < bestCost)
      best = type, bestCost = cost;
  }
  return best;
}

} // namespace tile::passes
