// The rules of tensor maps, which the CUDA driver would only answer with CUDA_ERROR_INVALID_VALUE.
#include "runtime/device/TensorMap.h"

#include <tile/Error.h>

namespace tile::device {
namespace {

constexpr uint64_t kMaxDim = uint64_t{1} << 32, kStrideLimit = uint64_t{1} << 40;
constexpr uint32_t kMaxBox = 256, kMaxElementStride = 8;
constexpr uint64_t kChunkBytes = 16, kInterleave32Bytes = 32;
constexpr uint32_t kMinInterleavedRank = 3;
constexpr int kFirstArch = 90;

constexpr const char *kTypeNames[] = {"u8",  "u16", "u32",  "s32",     "u64",  "s64",     "f16",
                                      "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz"};
constexpr uint8_t kTypeBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

// "box[2] = 300".
template <class Value> std::string entry(const char *array, uint32_t index, Value value) {
  return std::string(array) + "[" + std::to_string(index) + "] = " + std::to_string(value);
}

bool isFloat(TensorMapType type) {
  return type >= TensorMapType::F16 && type <= TensorMapType::TF32Ftz;
}

std::string enumFault(const TensorMapParams &params) {
  if (sizeOf(params.type) == 0)
    return "there is no element type " + std::to_string(static_cast<int>(params.type));
  if (params.interleave > TensorMapInterleave::Bytes32)
    return "there is no interleave " + std::to_string(static_cast<int>(params.interleave));
  if (params.swizzle > TensorMapSwizzle::Bytes128)
    return "there is no swizzle " + std::to_string(static_cast<int>(params.swizzle));
  if (params.l2Promotion > TensorMapL2Promotion::Bytes256)
    return "there is no L2 promotion " + std::to_string(static_cast<int>(params.l2Promotion));
  if (params.fill > TensorMapFill::NaN)
    return "there is no fill mode " + std::to_string(static_cast<int>(params.fill));
  return "";
}

// Shape and place of the tensor in global memory.
std::string tensorFault(const TensorMapParams &params) {
  bool wide = params.interleave == TensorMapInterleave::Bytes32;
  uint64_t alignment = wide ? kInterleave32Bytes : kChunkBytes;
  const char *why = wide ? " with interleave 32B" : "";
  if (params.rank < 1 || params.rank > kMaxTensorRank)
    return "rank is " + std::to_string(params.rank) + ", must be 1 to 5";
  if (params.interleave != TensorMapInterleave::None && params.rank < kMinInterleavedRank)
    return "rank is " + std::to_string(params.rank) + ", must be 3 to 5 with interleave";
  if (params.base % alignment)
    return "base address " + std::to_string(params.base) + " must be a multiple of " +
           std::to_string(alignment) + why;
  for (uint32_t d = 0; d < params.rank; ++d)
    if (params.dims[d] < 1 || params.dims[d] > kMaxDim)
      return entry("dims", d, params.dims[d]) + ", must be 1 to 2^32 elements";
  for (uint32_t d = 0; d + 1 < params.rank; ++d) {
    if (params.strides[d] % alignment)
      return entry("strides", d, params.strides[d]) + " bytes, must be a multiple of " +
             std::to_string(alignment) + why;
    if (params.strides[d] >= kStrideLimit)
      return entry("strides", d, params.strides[d]) + " bytes, must be less than 2^40";
  }
  return "";
}

// The box and how it lies in shared memory.
std::string boxFault(const TensorMapParams &params) {
  for (uint32_t d = 0; d < params.rank; ++d)
    if (params.box[d] < 1 || params.box[d] > kMaxBox)
      return entry("box", d, params.box[d]) + ", must be 1 to 256 elements";
  for (uint32_t d = 0; d < params.rank; ++d)
    if (params.elementStrides[d] < 1 || params.elementStrides[d] > kMaxElementStride)
      return entry("elementStrides", d, params.elementStrides[d]) + ", must be 1 to 8";
  if (params.interleave == TensorMapInterleave::Bytes32 &&
      params.swizzle != TensorMapSwizzle::Bytes32)
    return "interleave 32B needs swizzle 32B";
  if (params.interleave != TensorMapInterleave::None)
    return "";
  uint64_t rowBytes = params.box[0] * sizeOf(params.type);
  std::string row = "box[0] of " + std::to_string(params.box[0]) + " " + nameOf(params.type) +
                    " is " + std::to_string(rowBytes) + " bytes, must be ";
  if (rowBytes % kChunkBytes)
    return row + "a multiple of 16";
  if (params.swizzle != TensorMapSwizzle::None && rowBytes > spanOf(params.swizzle))
    return row + "at most " + std::to_string(spanOf(params.swizzle)) + ", the span of the swizzle";
  return "";
}

} // namespace

size_t sizeOf(TensorMapType type) {
  auto index = static_cast<size_t>(type);
  return index < std::size(kTypeBytes) ? kTypeBytes[index] : 0;
}

std::string nameOf(TensorMapType type) {
  auto index = static_cast<size_t>(type);
  return index < std::size(kTypeNames) ? kTypeNames[index] : "type " + std::to_string(index);
}

uint32_t spanOf(TensorMapSwizzle swizzle) {
  return swizzle == TensorMapSwizzle::None ? 0 : 16u << static_cast<uint32_t>(swizzle);
}

std::string tensorMapFault(const TensorMapParams &params) {
  if (std::string fault = enumFault(params); !fault.empty())
    return fault;
  if (std::string fault = tensorFault(params); !fault.empty())
    return fault;
  if (std::string fault = boxFault(params); !fault.empty())
    return fault;
  if (params.fill == TensorMapFill::NaN && !isFloat(params.type))
    return "fill NaN needs a floating-point element type, not " + nameOf(params.type);
  return "";
}

void checkTensorMap(const TensorMapParams &params, int arch) {
  if (arch < kFirstArch)
    throw Error(Fault::User, ErrorCode::Unsupported,
                "tensor map: the device is sm_" + std::to_string(arch) + ", sm_90 is needed");
  if (std::string fault = tensorMapFault(params); !fault.empty())
    throw Error(Fault::User, ErrorCode::InvalidArgument, "tensor map: " + fault);
}

} // namespace tile::device
