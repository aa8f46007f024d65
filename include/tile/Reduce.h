// Reductions, scans and sorting: what combines or compares elements along an axis.
//
// Axes may be negative and count from the end. An error is a tile::Error at the user's line, while
// tracing.
#pragma once

#include <tile/Value.h>

#include <optional>
#include <vector>

namespace tile {

// --- Reductions ----------------------------------------------------------------------------------
// Along one axis, which disappears (or stays with extent 1: `{.keep_dims = true}`), or without an
// axis along all, which gives a scalar (`sum(x, {.keep_dims = true})`: extents of 1); the order of
// combination is open but fixed for a compiled kernel.

struct ReduceOptions {
  bool keep_dims = false;
  /// For sum, prod and mean: the operand is cast to this dtype first, and the result has it.
  DType dtype = any;
};

/// Signed integers below 32 bits give i32, unsigned ones and i1 u32, unless a dtype is asked for
/// (i8 then wraps modulo 256); 16-bit floats are summed in f32 and rounded back.
Value sum(Arg x, std::optional<int> axis = {}, ReduceOptions options = {}, Loc loc = Loc::here());
template <class = void> Value sum(Arg x, ReduceOptions options, Loc loc = Loc::here()) {
  return sum(x, std::nullopt, options, loc);
}
/// As `sum`, multiplying.
Value prod(Arg x, std::optional<int> axis = {}, ReduceOptions options = {}, Loc loc = Loc::here());
template <class = void> Value prod(Arg x, ReduceOptions options, Loc loc = Loc::here()) {
  return prod(x, std::nullopt, options, loc);
}
/// The sum over the number of elements; integers give f32.
Value mean(Arg x, std::optional<int> axis = {}, ReduceOptions options = {}, Loc loc = Loc::here());
template <class = void> Value mean(Arg x, ReduceOptions options, Loc loc = Loc::here()) {
  return mean(x, std::nullopt, options, loc);
}
/// The largest / smallest element; NaN is ignored unless all are. (`max(x, 0)` is elementwise.)
Value reduce_max(Arg x, std::optional<int> axis = {}, ReduceOptions options = {},
                 Loc loc = Loc::here());
template <class = void> Value reduce_max(Arg x, ReduceOptions options, Loc loc = Loc::here()) {
  return reduce_max(x, std::nullopt, options, loc);
}
Value reduce_min(Arg x, std::optional<int> axis = {}, ReduceOptions options = {},
                 Loc loc = Loc::here());
template <class = void> Value reduce_min(Arg x, ReduceOptions options, Loc loc = Loc::here()) {
  return reduce_min(x, std::nullopt, options, loc);
}

/// An element and its i32 index.
struct ValueAndIndex {
  Value value, index;
};
/// The largest / smallest element and its index along the axis, without an axis in row-major order;
/// the smallest index of equals. NaN is ignored; if all are NaN, the index is 0.
ValueAndIndex max_with_index(Arg x, std::optional<int> axis = {}, ReduceOptions options = {},
                             Loc loc = Loc::here());
ValueAndIndex min_with_index(Arg x, std::optional<int> axis = {}, ReduceOptions options = {},
                             Loc loc = Loc::here());
/// The index alone.
Value argmax(Arg x, std::optional<int> axis = {}, ReduceOptions options = {},
             Loc loc = Loc::here());
Value argmin(Arg x, std::optional<int> axis = {}, ReduceOptions options = {},
             Loc loc = Loc::here());

/// Bitwise exclusive or / or of integers, in their dtype.
Value xor_sum(Arg x, std::optional<int> axis = {}, ReduceOptions options = {},
              Loc loc = Loc::here());
Value reduce_or(Arg x, std::optional<int> axis = {}, ReduceOptions options = {},
                Loc loc = Loc::here());
/// Whether any / all elements are true (not zero): i1.
Value any_of(Arg x, std::optional<int> axis = {}, ReduceOptions options = {},
             Loc loc = Loc::here());
Value all_of(Arg x, std::optional<int> axis = {}, ReduceOptions options = {},
             Loc loc = Loc::here());

/// Any combination: `combine(left, right)` of scalars must be associative and commutative, and use
/// nothing staged but its operands. Errors: another dtype returned, memory accessed, a Value from
/// outside used.
Value reduce(Arg x, std::optional<int> axis, detail::FunctionRef<Value(Value, Value)> combine,
             ReduceOptions options = {}, Loc loc = Loc::here());
/// Several tiles of one shape combined together: `combine(left..., right...)` takes and returns one
/// scalar a tile.
std::vector<Value> reduce(
    const std::vector<Value> &tiles, std::optional<int> axis,
    detail::FunctionRef<std::vector<Value>(const std::vector<Value> &, const std::vector<Value> &)>
        combine,
    ReduceOptions options = {}, Loc loc = Loc::here());
/// exp(x - max) / sum(exp(x - max)) along an axis, computed in f32 for 16-bit floats.
Value softmax(Arg x, int axis, Loc loc = Loc::here());

// --- Scans ---------------------------------------------------------------------------------------
// Inclusive: element i of the result combines elements 0 to i along the axis, in reverse those from
// the last one down to i.

struct ScanOptions {
  bool reverse = false;
  /// The operand is cast to this dtype first, and the result has it.
  DType dtype = any;
};

/// Running sum and product; dtypes as in `sum`.
Value cumsum(Arg x, int axis = 0, ScanOptions options = {}, Loc loc = Loc::here());
Value cumprod(Arg x, int axis = 0, ScanOptions options = {}, Loc loc = Loc::here());
/// Any running combination: `combine(earlier, later)` of scalars must be associative, but need not
/// be commutative; "earlier" is nearer to where the scan begins. Errors as for `reduce`.
Value scan(Arg x, int axis, detail::FunctionRef<Value(Value, Value)> combine, bool reverse = false,
           Loc loc = Loc::here());
/// Several tiles of one shape scanned together: `combine(earlier..., later...)` takes and returns
/// one scalar a tile.
std::vector<Value>
scan(const std::vector<Value> &tiles, int axis,
     detail::FunctionRef<std::vector<Value>(const std::vector<Value> &, const std::vector<Value> &)>
         combine,
     bool reverse = false, Loc loc = Loc::here());

// --- Sorting -------------------------------------------------------------------------------------
// Along the last dimension, whose extent must be a power of two. Not stable; NaN comes last in
// either direction. Errors: another extent, more than 6 dimensions, i1.

/// The elements of each row from the smallest to the largest, or descending.
Value sort(Arg x, bool descending = false, Loc loc = Loc::here());
/// The k largest elements of each row, the largest first, or the k smallest, the smallest first.
/// Error: k is no power of two up to the extent.
Value topk(Arg x, int k, bool largest = true, Loc loc = Loc::here());

} // namespace tile
