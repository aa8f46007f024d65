// SharedLayout: where the elements of a tile lie in shared memory.
//
// Each coordinate splits into its low `panelBits` bits and a digit above them. The low bits of all
// dimensions go through a linear map over GF(2) (that is what a swizzle is: address bits XORed with
// other address bits); each digit adds a stride:
//
//   offset = linear(low bits of all coordinates)  +  sum over d of digit[d] * digitStride[d]
//
// Natural panels take exactly the power-of-two part of each dimension, so the digit is the odd
// digit and is the outermost address part. Wider panels pad (176 = 11 panels of 16, or 3 panels of
// 64 with 16 columns unused); narrower ones describe what the TMA engine writes.
//
// Offsets count elements. Bank facts used throughout: 32 banks of 4 bytes; a 16-byte access is
// served in 4 phases of 8 lanes, an 8-byte one in 2 of 16, smaller ones in 1 of 32, ldmatrix in 1
// per 8x8 matrix.
#pragma once

#include "ir/layout/Layout.h"

#include <string>

namespace tile::layout {

inline constexpr int kBankBytes = 4;
inline constexpr int kNumBanks = 32;
inline constexpr int kMaxVectorBytes = 16;

/// The patterns in which the TMA engine writes rows, by their bytes, widest first; 0 is none.
inline constexpr int kTmaSwizzles[] = {128, 64, 32, 0};

class SharedLayout {
public:
  SharedLayout() = default;

  /// The general form. `linear` maps flat words (low bits of all dimensions, last dimension in the
  /// low bits) to element offsets and must be one-to-one; digit strides are multiples of the linear
  /// part's size or otherwise such that no two elements meet (the caller's promise). Refuses lists
  /// of the wrong length and maps that are not one-to-one.
  static std::optional<SharedLayout> create(Shape shape, std::vector<int> panelBits,
                                            LinearMap linear, std::vector<int64_t> digitStrides,
                                            Refusal *why = nullptr);

  /// Row-major in the given order (fastest dimension first) without swizzle.
  static SharedLayout rowMajor(const Shape &shape, const std::vector<int32_t> &order);

  /// Row-major with the 16-byte chunks of a row XORed with the row number, so that 16-byte accesses
  /// along rows and ldmatrix reads of 8 rows meet no bank twice, for rows of 32 bytes and more and
  /// 8 rows or more. Rows of up to 128 bytes get exactly the TMA engine's pattern of their size. If
  /// the linear row is shorter than `minRowBytes` and the row has further (odd) parts, rows are
  /// padded to panels of minRowBytes. `rotation` numbers the chunk bits from another one on: with
  /// 1, accesses that take pairs of chunks from 4 rows meet no bank twice.
  static SharedLayout swizzled(const Shape &shape, const std::vector<int32_t> &order,
                               int elementBytes, int64_t minRowBytes = 0, int rotation = 0);

  /// What a TMA copy with the given swizzle (0, 32, 64 or 128 bytes) writes when the fastest
  /// dimension is split into boxes of swizzleBytes (0: one box): panels of all rows, one after the
  /// other. The base must be aligned to 8 * swizzleBytes. Refused if the pattern would depend on an
  /// odd digit.
  static std::optional<SharedLayout> tma(const Shape &shape, const std::vector<int32_t> &order,
                                         int elementBytes, int swizzleBytes,
                                         Refusal *why = nullptr);

  [[nodiscard]] const Shape &shape() const { return dims_; }
  [[nodiscard]] int rank() const { return static_cast<int>(dims_.size()); }
  [[nodiscard]] const std::vector<int> &panelBits() const { return panel_; }
  [[nodiscard]] const LinearMap &linear() const { return map_; }
  [[nodiscard]] const std::vector<int64_t> &digitStrides() const { return strides_; }

  /// Element offset of a coordinate inside the tile.
  [[nodiscard]] int64_t offset(const Coords &coords) const;
  /// The two summands of `offset`: what is XORed together and what is added.
  struct Parts {
    int64_t toggle, addend;
  };
  [[nodiscard]] Parts offsetParts(const Coords &coords) const;
  /// One past the largest offset, padding included.
  [[nodiscard]] int64_t numElements() const;
  [[nodiscard]] int64_t numBytes(int elementBytes) const { return numElements() * elementBytes; }
  /// True if every digit is an odd digit: then all contributions of threads are XORs.
  [[nodiscard]] bool isLinear() const;
  /// The same memory seen with permuted dimensions: result dimension i is dimension order[i].
  [[nodiscard]] SharedLayout permuted(const std::vector<int32_t> &order) const;

  /// The same memory seen as a smaller tile, the leading part of this one.
  [[nodiscard]] SharedLayout leadingPart(const Shape &part) const;

  /// "128x64 panel[7 6] linear[1 2 4 ...] digits[...]"
  [[nodiscard]] std::string toString() const;
  friend bool operator==(const SharedLayout &, const SharedLayout &) = default;

private:
  Shape dims_;
  std::vector<int> panel_;
  LinearMap map_;
  std::vector<int64_t> strides_;
};

} // namespace tile::layout
