// Tensors as matrices whose rows are the last dimension.
#include "ops/Rows.h"

#include "ops/NewTensor.h"

#include <tile/ops/Arithmetic.h>

#include <algorithm>
#include <array>
#include <bit>

namespace tile::ops {

namespace {

/// Short rows share a program until it has this many elements; those that lie across while it has room, up to a warp of
/// them.
constexpr int kFewestElements = 1024, kMostRowsAcross = 32;

int columnsFor(int64_t length) {
  return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(length, 32))));
}

} // namespace

RowTile::RowTile(int64_t length, bool across)
    : columns(columnsFor(length)),
      rows(across ? std::clamp(kLongestTile / columns, 1, kMostRowsAcross)
                  : std::max(1, kFewestElements / columns)),
      warps(columns * rows > 2048 ? 8 : 4) {}

int programsFor(const Stream &stream, int64_t tiles, int perMultiprocessor) {
  return programsFor(stream.device().multiprocessors(), tiles, perMultiprocessor);
}

int programsFor(int multiprocessors, int64_t tiles, int perMultiprocessor) {
  int64_t most = int64_t{perMultiprocessor} * multiprocessors;
  int64_t tilesEach = std::max<int64_t>((tiles + most - 1) / most, 1);
  return static_cast<int>((tiles + tilesEach - 1) / tilesEach);
}

Value sumOfRow(Value tile) { return sum(tile, 1, {.keep_dims = true}); }

DType widestOf(std::initializer_list<DType> dtypes) {
  return std::ranges::find(dtypes, f64) != dtypes.end() ? f64 : f32;
}

Operand withLast(const Operand &x, int dim) {
  int64_t extents[kMaxRank], strides[kMaxRank];
  size_t rank = 0;
  auto append = [&](int each) { extents[rank] = x.extent(each), strides[rank++] = x.stride(each); };
  for (int each = 0; each < x.rank(); ++each)
    if (each != dim)
      append(each);
  append(dim);
  return x.strided({extents, rank}, {strides, rank});
}

bool liesAcross(const Operand &matrix) {
  return matrix.extent(0) > 1 && matrix.stride(0) == 1 && matrix.stride(1) != 1;
}

bool isSwept(const Operand &matrix) {
  int64_t length = matrix.extent(1);
  if (length > kLongestTile || !liesAcross(matrix))
    return length > kLongestTile;
  constexpr int kSectorBytes = 32;
  return RowTile(length, true).rows * static_cast<int>(sizeOf(matrix.dtype())) < kSectorBytes;
}

int64_t rowsOf(const Operand &x) {
  int64_t rows = 1;
  for (int dim = 0; dim + 1 < x.rank(); ++dim)
    rows *= x.extent(dim);
  return rows;
}

std::optional<Operand> foldLeading(const Operand &x, int tail) {
  int64_t extent = 1, stride = 0;
  for (int dim = x.rank() - tail; dim-- > 0;) {
    if (x.extent(dim) == 1)
      continue;
    if (extent == 1)
      stride = x.stride(dim);
    else if (x.stride(dim) != stride * extent && x.numel() != 0)
      return {};
    extent *= x.extent(dim);
  }
  if (tail == 0)
    return x.strided(std::array{extent}, std::array{stride});
  int last = x.rank() - 1;
  return x.strided(std::array{extent, x.extent(last)}, std::array{stride, x.stride(last)});
}

Operand nothing(DType dtype, int rank, const Operand &sameDevice) {
  const int64_t zeros[kMaxRank] = {};
  std::span<const int64_t> list(zeros, static_cast<size_t>(rank));
  return sameDevice.strided(list, list).as(dtype);
}

InputRows::InputRows(CallSite site, const Operand &x, int tail) {
  if (auto folded = foldLeading(x, tail)) {
    folded_ = *folded;
    return;
  }
  copy_ = copy(site.stream, x, any, site.where);
  folded_ = *foldLeading(copy_, tail);
}

OutputRows::OutputRows(CallSite site, const Operand &y, int tail) {
  if (auto folded = foldLeading(y, tail)) {
    folded_ = *folded;
    return;
  }
  temporary_ = temporaryLike(site.stream, y, y.dtype());
  target_ = y;
  folded_ = *foldLeading(temporary_, tail);
}

void OutputRows::finish(CallSite site) const {
  if (temporary_)
    copy(site.stream, temporary_, target_, site.where);
}

} // namespace tile::ops
