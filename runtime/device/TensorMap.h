// Tensor maps: how the copy engine of sm_90 and newer sees a tensor in global memory and the box of it that one bulk tensor
// copy moves. A device encodes the description into 128 opaque bytes, which a kernel takes as a parameter
// (`.param .align 64 .b8 map[128]`) or reads from global memory.
//
// Dimension 0 is the innermost: its elements are contiguous. The values of the enumerations are those of the CUDA driver.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tile::device {

inline constexpr uint32_t kMaxTensorRank = 5;
inline constexpr size_t kTensorMapBytes = 128;

/// The element type. The last three are f32 in global memory; loads of the last two round to tf32.
enum class TensorMapType : uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz
};
/// Whether channels come in slices of 16 or 32 bytes, as in NC/8HWC8.
enum class TensorMapInterleave : uint8_t { None, Bytes16, Bytes32 };
/// The span of shared memory within which 16-byte chunks change places from row to row, so that columns spread over banks.
enum class TensorMapSwizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };
/// The bytes that the L2 cache fetches at once; they do not change results.
enum class TensorMapL2Promotion : uint8_t { None, Bytes64, Bytes128, Bytes256 };
/// The value that elements outside the tensor read as.
enum class TensorMapFill : uint8_t { Zero, NaN };

/// Bytes of an element, 0 for a value that names no type.
size_t sizeOf(TensorMapType type);
/// "f16", "f32.ftz"; "type 77" for a value that names no type.
std::string nameOf(TensorMapType type);
/// Bytes of the span, 0 for none.
uint32_t spanOf(TensorMapSwizzle swizzle);

/// A tensor and the box that is copied at a time.
struct TensorMapParams {
  TensorMapType type = TensorMapType::F16;
  uint32_t rank = 0;                                  ///< 1 to 5
  uint64_t base = 0;                                  ///< device address, 16-byte aligned
  std::array<uint64_t, kMaxTensorRank> dims{};        ///< elements, 1 to 2^32
  std::array<uint64_t, kMaxTensorRank - 1> strides{}; ///< bytes, of dimensions 1 and up
  std::array<uint32_t, kMaxTensorRank> box{};         ///< elements, 1 to 256
  std::array<uint32_t, kMaxTensorRank> elementStrides{1, 1, 1, 1,
                                                      1}; ///< step within the box, 1 to 8
  TensorMapInterleave interleave = TensorMapInterleave::None;
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
  TensorMapL2Promotion l2Promotion = TensorMapL2Promotion::None;
  TensorMapFill fill = TensorMapFill::Zero;
  bool operator==(const TensorMapParams &) const = default;
};

/// The first encode rule the description breaks, with its values; empty if it breaks none.
std::string tensorMapFault(const TensorMapParams &params);
/// Throws InvalidArgument with that text, or Unsupported if `arch` (90 for sm_90) has no tensor maps.
void checkTensorMap(const TensorMapParams &params, int arch);

/// An encoded map, as a kernel receives it. Opaque: each device has its own format.
struct alignas(64) TensorMap {
  std::array<std::byte, kTensorMapBytes> bytes{};
};

} // namespace tile::device
