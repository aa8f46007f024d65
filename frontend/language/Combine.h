// What reductions and scans share: operations with a combine region, and the dtypes of sums.
#pragma once

#include "frontend/trace/Trace.h"

#include <string>
#include <vector>

namespace tile::frontend {

/// A combine function of the user, on the scalars of two tuples.
using Combine =
    detail::FunctionRef<std::vector<Value>(const std::vector<Value> &, const std::vector<Value> &)>;

/// An operation with a combine region: its name in the IR and in messages, and its attributes.
struct CombineOp {
  const char *name, *userName;
  std::vector<Attribute> attributes;
};

/// The types of tiles that are combined together: numbers of one shape.
std::vector<TileType> tileTypes(Trace &trace, const char *op, const std::vector<Value> &tiles,
                                Loc loc);

/// Records the operation; one value a result.
std::vector<Value> combineTiles(Trace &trace, const CombineOp &op, const std::vector<Value> &tiles,
                                const std::vector<TileType> &types,
                                const std::vector<TileType> &results, Combine combine, Loc loc);

/// A tile of numbers; scalars are refused.
Value tileOperand(Trace &trace, const char *op, const Arg &x, Loc loc);

/// Widens `x` to the dtype of accumulation, collects its elements, and narrows the result. `asked`
/// is the dtype the user wants, or `any`: then narrow integers widen. 16-bit floats are always
/// accumulated in f32.
Value accumulated(Trace &trace, const char *op, const Arg &x, DType asked, Loc loc,
                  detail::FunctionRef<Value(const Value &)> collect);

/// A combine function of one tile's scalars as one of tuples.
template <class Function> auto onTuples(Function &combine) {
  return [&combine](const std::vector<Value> &left, const std::vector<Value> &right) {
    return std::vector<Value>{combine(left[0], right[0])};
  };
}

/// Sum and product of two scalars, of i1 too (modulo 2).
Value added(const Value &a, const Value &b, Loc loc);
Value multiplied(const Value &a, const Value &b, Loc loc);

} // namespace tile::frontend
