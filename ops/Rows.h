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

/// The tile in which rows of up to kLongestTile elements share a program. Where rows lie across (see liesAcross), more of
/// them do, so that whole sectors of memory are used.
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

/// The number n of programs that share `tiles` tiles, program i taking tiles i, i + n, i + 2n, ...: a program loads what all
/// of its tiles need once. Up to `perMultiprocessor` tiles a multiprocessor of the device each tile has its own program, so
/// that few tiles spread over all of it; beyond that, programs take several tiles each, as equally as can be.
int programsFor(const Stream &stream, int64_t tiles, int perMultiprocessor);
int programsFor(int multiprocessors, int64_t tiles, int perMultiprocessor);

/// The sums of rows, as a column.
Value sumOfRow(Value tile);
/// The dtype in which functions of tensors of these dtypes are computed: f64 if one of them is f64, else f32.
DType widestOf(std::initializer_list<DType> dtypes);

/// The number of rows of a tensor of rank 1 or more.
int64_t rowsOf(const Operand &x);
/// A view of x's elements with dimension `dim` moved to the end.
Operand withLast(const Operand &x, int dim);
/// True if neighbours in memory belong to neighbouring rows, as in a transposed matrix, and not to one row.
bool liesAcross(const Operand &matrix);
/// True if rows are swept in several tiles: they are longer than one, or lie across and too few fit one to fill sectors.
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
