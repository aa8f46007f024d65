// Views of tensors, by arithmetic on extents and strides.
#include "capi/Guard.h"
#include "capi/Handles.h"
#include "capi/Place.h"

#include <tile/Tensor.h>
#include <tile/c/Tensor.h>

using namespace tile;
using namespace tile::capi;

namespace {

std::vector<int64_t> vectorOf(Extents values) { return {values.begin(), values.end()}; }

Tensor permuted(const Tensor &tensor, const int32_t *order) {
  auto rank = static_cast<size_t>(tensor.rank());
  required(order, rank, "order");
  std::vector<int64_t> extents, strides;
  std::vector<bool> isTaken(rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    auto from = static_cast<size_t>(order[dim]);
    if (order[dim] < 0 || from >= rank || isTaken[from])
      refuse(ErrorCode::InvalidArgument, "'order' must have each of the " + std::to_string(rank) +
                                             " dimensions once; its place " + std::to_string(dim) +
                                             " has " + std::to_string(order[dim]));
    isTaken[from] = true;
    extents.push_back(tensor.extents()[from]);
    strides.push_back(tensor.strides()[from]);
  }
  return tensor.withStrides(std::move(extents), std::move(strides), here());
}

} // namespace

tile_status tile_tensor_permute(tile_tensor *tensor, const int32_t *order, tile_tensor **view) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    required(view, "view");
    *view = give<tile_tensor>(permuted(*object, order));
  });
}

tile_status tile_tensor_slice(tile_tensor *tensor, int32_t dimension, int64_t start, int64_t extent,
                              tile_tensor **view) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    required(view, "view");
    *view = give<tile_tensor>(object->slice(dimension, start, extent, here()));
  });
}

tile_status tile_tensor_reshape(tile_tensor *tensor, int32_t rank, const int64_t *shape,
                                tile_tensor **view) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    required(view, "view");
    Extents extents = extentsAt(shape, rank, "shape");
    *view = give<tile_tensor>(object->reshape(vectorOf(extents), here()));
  });
}

tile_status tile_tensor_restride(tile_tensor *tensor, int32_t rank, const int64_t *shape,
                                 const int64_t *strides, tile_tensor **view) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    required(view, "view");
    Extents extents = extentsAt(shape, rank, "shape"), places = extentsAt(strides, rank, "strides");
    *view = give<tile_tensor>(object->withStrides(vectorOf(extents), vectorOf(places), here()));
  });
}
