#include "capi/Argument.h"

#include "capi/Dtype.h"
#include "capi/Guard.h"
#include "capi/Handles.h"

#include <tile/Tensor.h>

#include <algorithm>
#include <bit>
#include <cstdio>

namespace tile::capi {
namespace {

[[noreturn]] void refuseArgument(const char *name, const std::string &why) {
  refuse(ErrorCode::InvalidArgument, std::string("argument '") + name + "': " + why);
}

std::string textOf(const tile_argument &argument) {
  if (argument.kind == TILE_UNSIGNED_ARGUMENT)
    return std::to_string(static_cast<uint64_t>(argument.integer));
  if (argument.kind == TILE_INTEGER_ARGUMENT)
    return std::to_string(argument.integer);
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", argument.real);
  return text;
}

uint64_t bitsOfReal(double value, DType dtype) {
  auto single = static_cast<float>(value);
  switch (dtype) {
  case DType::F64:
    return std::bit_cast<uint64_t>(value);
  case DType::F32:
    return std::bit_cast<uint32_t>(single);
  case DType::F16:
    return half(single).bits;
  case DType::BF16:
    return bfloat16(single).bits;
  case DType::E4M3:
    return float8_e4m3(single).bits;
  default:
    return float8_e5m2(single).bits;
  }
}

double realOf(const tile_argument &argument) {
  if (argument.kind == TILE_REAL_ARGUMENT)
    return argument.real;
  return argument.kind == TILE_UNSIGNED_ARGUMENT
             ? static_cast<double>(static_cast<uint64_t>(argument.integer))
             : static_cast<double>(argument.integer);
}

/// Whether the number is one of `dtype`, an integer type.
bool fits(const tile_argument &argument, DType dtype) {
  int bits = dtype == i1 ? 1 : static_cast<int>(sizeOf(dtype)) * 8;
  bool isNegative = argument.kind == TILE_INTEGER_ARGUMENT && argument.integer < 0;
  int used = isUnsigned(dtype) ? bits : bits - 1; // but the sign
  auto magnitude = static_cast<uint64_t>(isNegative ? ~argument.integer : argument.integer);
  return !(isNegative && isUnsigned(dtype)) && (used >= 64 || magnitude >> used == 0);
}

} // namespace

HostArg tensorArgument(const tile_argument &argument, const char *name) {
  if (argument.kind != TILE_TENSOR_ARGUMENT)
    refuseArgument(name, argument.kind == 0
                             ? "its kind is not set"
                             : "a tensor is expected, got the number " + textOf(argument));
  HostArg host;
  host.dtype = elementType(argument.dtype);
  if (argument.rank < 0 || argument.rank > kMaxRank)
    refuseArgument(name, "a tensor has 0 to " + std::to_string(kMaxRank) + " dimensions, not " +
                             std::to_string(argument.rank));
  host.rank = static_cast<uint8_t>(argument.rank);
  host.pointer = argument.data;
  host.device = argument.device;
  std::copy_n(argument.shape, argument.rank, host.extents);
  std::copy_n(argument.strides, argument.rank, host.strides);
  return host;
}

HostArg scalarArgument(const tile_argument &argument, DType dtype, const char *name) {
  bool isInteger =
      argument.kind == TILE_INTEGER_ARGUMENT || argument.kind == TILE_UNSIGNED_ARGUMENT;
  if (!isInteger && argument.kind != TILE_REAL_ARGUMENT)
    refuseArgument(
        name,
        std::string("a number of type ") + nameOf(dtype) + " is expected, got " +
            (argument.kind == TILE_TENSOR_ARGUMENT ? "a tensor" : "an argument without a kind"));
  HostArg host;
  host.kind = HostArg::Scalar;
  host.dtype = dtype;
  if (isFloat(dtype)) {
    host.bits = bitsOfReal(realOf(argument), dtype);
    return host;
  }
  if (!isInteger)
    refuseArgument(name, std::string("an integer is expected for ") + nameOf(dtype) + ", got " +
                             textOf(argument));
  if (!fits(argument, dtype))
    refuseArgument(name, textOf(argument) + " is not a number of type " + nameOf(dtype));
  host.bits = static_cast<uint64_t>(argument.integer);
  if (size_t bits = sizeOf(dtype) * 8; bits < 64)
    host.bits &= (uint64_t(1) << bits) - 1;
  return host;
}

} // namespace tile::capi

using namespace tile;
using namespace tile::capi;

tile_status tile_tensor_argument(tile_tensor *tensor, tile_argument *argument) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    tile_argument &filled = *required(argument, "argument") = {};
    filled.kind = TILE_TENSOR_ARGUMENT;
    filled.dtype = numberOf(object->dtype());
    filled.rank = object->rank();
    filled.data = object->data();
    filled.device = object->deviceHandle();
    std::ranges::copy(object->extents(), filled.shape);
    std::ranges::copy(object->strides(), filled.strides);
  });
}
