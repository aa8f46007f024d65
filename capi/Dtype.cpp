#include "capi/Dtype.h"

#include "capi/Guard.h"

#include <iterator>

namespace tile::capi {
namespace {

// By the number of the C API.
constexpr DType kDtypes[] = {any, i1,  i8,  i16,  i32, i64, u8,   u16,
                             u32, u64, f16, bf16, f32, f64, e4m3, e5m2};
static_assert(kDtypes[TILE_I1] == i1 && kDtypes[TILE_I64] == i64 && kDtypes[TILE_U64] == u64);
static_assert(kDtypes[TILE_F16] == f16 && kDtypes[TILE_F64] == f64 && kDtypes[TILE_E5M2] == e5m2);

bool isKnown(tile_dtype number) {
  return number >= 0 && number < static_cast<tile_dtype>(std::size(kDtypes));
}

} // namespace

tile_dtype numberOf(DType dtype) {
  tile_dtype number = TILE_ANY;
  while (kDtypes[number] != dtype)
    ++number;
  return number;
}

DType elementType(tile_dtype number) {
  if (!isKnown(number) || number == TILE_ANY)
    refuse(ErrorCode::InvalidArgument, "dtype " + std::to_string(number) +
                                           " is none that a tensor can have: use TILE_F32 or "
                                           "another of tile_dtypes but TILE_ANY");
  return kDtypes[number];
}

} // namespace tile::capi

using namespace tile;
using namespace tile::capi;

const char *tile_dtype_name(tile_dtype dtype) {
  return isKnown(dtype) ? nameOf(kDtypes[dtype]) : "?";
}
size_t tile_dtype_size(tile_dtype dtype) { return isKnown(dtype) ? sizeOf(kDtypes[dtype]) : 0; }
