#include "ir/instructions/TensorCopy.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/AccessAnnotations.h"

using namespace mlir;

namespace tile::gpu {

namespace {

constexpr size_t kMostDims = 5;
constexpr int64_t kMostInBox = 256;
/// Instructions that one tile may take; beyond it threads copy faster by themselves.
constexpr size_t kMostBoxes = 32;
/// What a box in shared memory must start at a multiple of.
constexpr int64_t kBoxAlignment = 128;
/// Each row of a box is a multiple of this.
constexpr int64_t kChunkBytes = 16;

/// The dimension of the memory for each of the view; none for those of extent 1 that the memory
/// leaves out.
using MemoryDims = SmallVector<std::optional<int32_t>>;

std::optional<MemoryDims> matchDims(ArrayRef<int64_t> shape, ArrayRef<int64_t> memory) {
  MemoryDims dims;
  size_t next = 0;
  for (auto [i, extent] : llvm::enumerate(shape)) {
    bool isKept = next < memory.size() && memory[next] == extent &&
                  (extent != 1 || shape.size() - i <= memory.size() - next);
    dims.push_back(isKept ? std::optional(static_cast<int32_t>(next++)) : std::nullopt);
    if (!isKept && extent != 1)
      return std::nullopt;
  }
  return next == memory.size() ? std::optional(dims) : std::nullopt;
}

// The order of the memory's dimensions that follows from that of the view's.
std::vector<int32_t> memoryOrder(ArrayRef<int32_t> order, const MemoryDims &dims) {
  std::vector<int32_t> inMemory;
  for (int32_t dim : order)
    if (dims[dim])
      inMemory.push_back(*dims[dim]);
  return inMemory;
}

// The swizzle with which the engine writes the memory's layout; nothing if there is none. A single
// row, which has no pattern, has none: its slots may begin anywhere.
std::optional<int32_t> swizzleOf(const layout::SharedLayout &shared,
                                 const std::vector<int32_t> &order, int bytes) {
  for (int swizzle : {0, 128, 64, 32})
    if (layout::SharedLayout::tma(shared.shape(), order, bytes, swizzle) == shared)
      return swizzle;
  return std::nullopt;
}

// Extents of a box along the view's dimensions. Only the slowest dimension that is longer than 1 in
// a box may be cut: what lies in a box is packed.
SmallVector<int64_t> boxOf(ArrayRef<int64_t> shape, ArrayRef<int32_t> order, int64_t rowElements) {
  SmallVector<int64_t> box(shape.size(), 1);
  box[order.front()] = rowElements;
  bool isCut = false;
  for (int32_t dim : order.drop_front()) {
    if (isCut)
      break;
    box[dim] = shape[dim] <= kMostInBox ? shape[dim] : std::gcd(shape[dim], kMostInBox);
    isCut = box[dim] != shape[dim];
  }
  return box;
}

// The start of each box, the fastest dimension's varying fastest; none if they are too many.
SmallVector<SmallVector<int64_t>> startsOf(ArrayRef<int64_t> shape, ArrayRef<int32_t> order,
                                           ArrayRef<int64_t> box) {
  SmallVector<SmallVector<int64_t>> starts = {SmallVector<int64_t>(shape.size(), 0)};
  for (int32_t dim : order) {
    size_t before = starts.size();
    for (int64_t at = box[dim]; at < shape[dim]; at += box[dim]) {
      if (starts.size() + before > kMostBoxes)
        return {};
      for (size_t i = 0; i < before; ++i) {
        SmallVector<int64_t> moved = starts[i];
        moved[dim] = at;
        starts.push_back(std::move(moved));
      }
    }
  }
  return starts;
}

int64_t bytesAt(const layout::SharedLayout &shared, const MemoryDims &dims, ArrayRef<int64_t> start,
                int64_t bytes) {
  layout::Coords at(static_cast<size_t>(shared.rank()), 0);
  for (auto [dim, position] : llvm::zip_equal(dims, start))
    if (dim)
      at[static_cast<size_t>(*dim)] = static_cast<int32_t>(position);
  return shared.offset(at) * bytes;
}

} // namespace

std::optional<TensorCopyPlan> planTensorCopy(Operation *access, Value view, ArrayRef<int64_t> shape,
                                             SmemType memory, Refusal *why) {
  auto makeView = view.getDefiningOp<ir::MakeViewOp>();
  ViewOfAttr source = makeView ? viewOf(makeView) : ViewOfAttr();
  if (!source)
    return refuse(why, "its view is no argument of the kernel");
  if (shape.size() > kMostDims)
    return refuse(why, "its view has " + std::to_string(shape.size()) +
                           " dimensions, a tensor map at most 5");
  ArrayRef<int32_t> order = accessOf(access).getOrder();
  std::optional<MemoryDims> dims = matchDims(shape, memory.getShape());
  if (!dims || !(*dims)[order.front()])
    return refuse(why, "no dimension of the tile in shared memory is contiguous in the view");
  int64_t bytes = bytesOf(memory.getElementType());
  layout::SharedLayout shared = sharedOf(memory);
  std::optional<int32_t> swizzle =
      swizzleOf(shared, memoryOrder(order, *dims), static_cast<int>(bytes));
  if (!swizzle)
    return refuse(why, "TMA does not write the tile's layout in shared memory");
  int64_t row = *swizzle ? *swizzle / bytes : shape[order.front()];
  if (row > kMostInBox || row * bytes % kChunkBytes)
    return refuse(why, "rows of the tile have " + std::to_string(row * bytes) + " bytes");
  TensorCopyPlan plan;
  plan.order.assign(order.begin(), order.end());
  SmallVector<int64_t> box = boxOf(shape, order, row);
  for (SmallVector<int64_t> &start : startsOf(shape, order, box)) {
    int64_t at = bytesAt(shared, *dims, start, bytes);
    if (at % kBoxAlignment)
      return refuse(why, "a box of the tile starts at no multiple of 128 bytes");
    plan.boxes.push_back({std::move(start), at});
  }
  if (plan.boxes.empty())
    return refuse(why, "the tile takes more than " + std::to_string(kMostBoxes) + " copies");
  SmallVector<int32_t> sourceDims, extents;
  for (int32_t dim : order) {
    sourceDims.push_back(source.getDims()[dim]);
    extents.push_back(static_cast<int32_t>(box[dim]));
  }
  plan.map = TensorMapAttr::get(access->getContext(), source.getArg(), memory.getElementType(),
                                sourceDims, extents, *swizzle);
  return plan;
}

// How far a box is from another.
static TensorBox between(const TensorBox &from, const TensorBox &to) {
  TensorBox difference = to;
  for (auto [own, other] : llvm::zip_equal(difference.start, from.start))
    own -= other;
  difference.bytes -= from.bytes;
  return difference;
}

// The boxes of each block are those of the first, all moved by the same.
static std::optional<TensorShare> shareOfBoxes(const TensorCopyPlan &plan, size_t blocks) {
  size_t count = plan.boxes.size() / blocks;
  ArrayRef<TensorBox> all = plan.boxes;
  TensorShare share = {plan.map, SmallVector<TensorBox>(all.take_front(count)), {}};
  share.ofEach = between(all.front(), all[blocks > 1 ? count : 0]);
  for (size_t i = 0; i < all.size(); ++i) {
    TensorBox moved = between(all[i % count], all[i]);
    auto rank = static_cast<int64_t>(i / count);
    bool isEven = moved.bytes == rank * share.ofEach.bytes;
    for (auto [own, each] : llvm::zip_equal(moved.start, share.ofEach.start))
      isEven &= own == rank * each;
    if (!isEven)
      return std::nullopt;
  }
  return share;
}

// The only box is cut along its slowest dimension: the parts follow each other in memory, where the
// swizzle begins anew.
static std::optional<TensorShare> shareOfBox(const TensorCopyPlan &plan, SmemType memory,
                                             int64_t blocks) {
  constexpr int64_t kSwizzleBytes = 1024;
  SmallVector<int32_t> extents(plan.map.getBox());
  size_t slowest = extents.size() - 1;
  while (slowest > 0 && extents[slowest] == 1)
    --slowest;
  int64_t bytes =
      ShapedType::getNumElements(memory.getShape()) * bytesOf(memory.getElementType()) / blocks;
  if (slowest == 0 || extents[slowest] % blocks || bytes % kSwizzleBytes)
    return std::nullopt;
  extents[slowest] = static_cast<int32_t>(extents[slowest] / blocks);
  TensorShare share = {TensorMapAttr::get(plan.map.getContext(), plan.map.getArg(),
                                          plan.map.getElement(), plan.map.getDims(), extents,
                                          plan.map.getSwizzle()),
                       plan.boxes, plan.boxes.front()};
  share.ofEach.start[plan.order[slowest]] = extents[slowest];
  share.ofEach.bytes = bytes;
  return share;
}

std::optional<TensorShare> shareOf(const TensorCopyPlan &plan, SmemType memory, int64_t blocks) {
  if (plan.boxes.size() % static_cast<size_t>(blocks) == 0)
    return shareOfBoxes(plan, static_cast<size_t>(blocks));
  return plan.boxes.size() == 1 ? shareOfBox(plan, memory, blocks) : std::nullopt;
}

SmemType tensorCopyMemory(Operation *access, ArrayRef<int64_t> shape, Type element,
                          ArrayRef<int64_t> memoryShape) {
  AccessAttr known = accessOf(access);
  std::optional<MemoryDims> dims = matchDims(shape, memoryShape);
  if (!dims || !(*dims)[known.getOrder().front()])
    return {};
  auto bytes = static_cast<int>(bytesOf(element));
  for (int swizzle : layout::kTmaSwizzles)
    if (!swizzle || shape[known.getOrder().front()] * bytes % swizzle == 0)
      if (auto shared = layout::SharedLayout::tma(
              layout::Shape(memoryShape), memoryOrder(known.getOrder(), *dims), bytes, swizzle))
        return SmemType::get(access->getContext(), memoryShape, element,
                             attributeOf(access->getContext(), *shared));
  return {};
}

} // namespace tile::gpu
