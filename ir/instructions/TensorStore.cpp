#include "ir/instructions/TensorStore.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/instructions/TensorCopy.h"
#include "ir/layout/SharedAccess.h"

using namespace mlir;

namespace tile::gpu {

namespace {

/// Elements of a thread that are converted and stored at a time: beside the sums of a product they
/// leave room for the rest.
constexpr int64_t kElementsAtOnce = 32;
/// Bytes of a row that lie together: the widest swizzle of the engine, and a line of the caches.
constexpr int64_t kRowBytes = 128;

int64_t elementsOfThread(RankedTensorType tile) { return layoutOf(tile).numRegisters(); }

} // namespace

RankedTensorType storedPart(RankedTensorType tile, int32_t fastestDim) {
  SmallVector<int64_t> shape(tile.getShape());
  int64_t row = shape[fastestDim];
  shape[fastestDim] = std::min(row & -row, kRowBytes / bytesOf(tile.getElementType()));
  RankedTensorType part = partOf(tile, shape);
  for (int64_t dim = 0; part && dim < tile.getRank(); ++dim)
    while (dim != fastestDim && elementsOfThread(part) > kElementsAtOnce && shape[dim] > 1) {
      SmallVector<int64_t> smaller(shape);
      int64_t power = shape[dim] & -shape[dim];
      smaller[dim] = power == shape[dim] ? power / 2 : power;
      RankedTensorType next = partOf(tile, smaller);
      if (!next)
        break;
      part = next, shape = smaller;
    }
  return part;
}

std::optional<TensorStorePlan> planTensorStore(ir::ViewStoreOp store, RankedTensorType tile,
                                               Refusal *why) {
  constexpr int kMatrixBytes = 2;
  if (bytesOf(tile.getElementType()) != kMatrixBytes)
    return refuse(
        why, "its elements have no 16 bits, as matrices have that threads put to shared memory");
  RankedTensorType part = storedPart(tile, accessOf(store).getOrder().front());
  if (!part)
    return refuse(why, "threads do not hold stretches of its rows in registers of their own");
  SmemType memory =
      tensorCopyMemory(store, part.getShape(), part.getElementType(), part.getShape());
  if (!memory)
    return refuse(why, "TMA takes no memory of its shape");
  if (!layout::matchMatrixAccess(layoutOf(part), sharedOf(memory), kMatrixBytes))
    return refuse(why, "threads do not hold it in matrices, as products leave it");
  if (!planTensorCopy(store, store.getView(), part.getShape(), memory, why))
    return std::nullopt;
  return TensorStorePlan{part, memory};
}

} // namespace tile::gpu
