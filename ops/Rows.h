// Tensors as matrices whose rows are the last dimension, for ops that work row by row.
#pragma once

#include <tile/Tensor.h>
#include <tile/ops/Operand.h>
#include <tile/tile.h>

#include <optional>

namespace tile::ops {

/// The longest row that a program holds in registers: 32 elements a thread of 8 warps.
inline constexpr int kLongestTile = 8192;
/// The tile of longer rows, which are swept.
inline constexpr int kSweptColumns = kLongestTile / 2;

/// How rows of up to kLongestTile elements share a program. Where rows lie across (see liesAcross) more of them do, so that
/// whole sectors of memory are used.
struct RowTile {
  explicit RowTile(int64_t length, bool across = false);
  int elements() const { return rows * columns; }
  int columns, rows, warps;
};

/// The tile in which rows are swept that do not fit one: a single row, or some that lie across.
struct SweptTile {
  explicit SweptTile(bool across = false)
      : rows(across ? 32 : 1), columns(kSweptColumns / rows), warps(8) {}
  int rows, columns, warps;
};

/// How many programs share `tiles` tiles, where each loads what all tiles need once and then takes every so-manyth of them.
/// While there are no more tiles than `perMultiprocessor` programs on each multiprocessor of the device, a tile each, so that
/// few spread over all of it; of more tiles, as many each as it takes to need no more programs than that, all alike.
int programsFor(const Stream &stream, int64_t tiles, int perMultiprocessor);

/// The sums of rows, as a column.
Value sumOfRow(Value tile);
/// What is computed between tensors of these dtypes: f64 if one of them is, else f32.
DType widestOf(std::initializer_list<DType> dtypes);

/// The number of rows of a tensor of rank 1 or more.
int64_t rowsOf(const Operand &x);
/// The same elements with dimension `dim` last.
Operand withLast(const Operand &x, int dim);
/// Whether in memory the rows of a matrix lie side by side, as its columns use to.
bool liesAcross(const Operand &matrix);
/// Whether rows are longer than a tile, or lie across and are so long that too few fit one to fill sectors of memory.
bool isSwept(const Operand &matrix);
/// All dimensions but the last `tail` as one, if they walk as one in memory.
std::optional<Operand> foldLeading(const Operand &x, int tail);
/// A matrix or vector of no elements in the place of an argument that is not given.
Operand nothing(DType dtype, int rank, const Operand &sameDevice);

/// x as a matrix (tail 1) or vector (tail 0) that a kernel reads: its own memory where the dimensions merge, else a copy.
class InputRows {
public:
  InputRows(CallSite site, const Operand &x, int tail = 1);
  operator const Operand &() const { return folded_; }

private:
  Tensor copy_;
  Operand folded_;
};

/// y as a matrix or vector that a kernel writes; `finish` copies to y what did not go there at once.
class OutputRows {
public:
  OutputRows(CallSite site, const Operand &y, int tail = 1);
  operator const Operand &() const { return folded_; }
  void finish(CallSite site) const;

private:
  Tensor temporary_;
  Operand target_, folded_;
};

} // namespace tile::ops
