// Sorting by a bitonic network along the last dimension. An exchange with the element i ^ d is a
// mirror along a dimension of extent 2 between the two it is reshaped into; the first exchange of
// each merge mirrors whole blocks, so that all comparisons point the same way. Layouts decide
// whether a mirror renames registers, shuffles, or crosses warps.
#include "frontend/language/Combine.h"
#include "frontend/language/Promotion.h"

using namespace tile;
using namespace tile::frontend;

namespace {

/// Sorts the rows of a tile, which lie along its last dimension, by a sorting network.
struct Network {
  Trace &trace;
  bool descending;
  Loc loc;

  /// True where `a` must come before `b`; false for equal values. NaN comes last.
  Value isBefore(const Value &a, const Value &b) const {
    Arg lhs(a, loc), rhs(b, loc);
    Value before = descending ? lhs > rhs : lhs < rhs;
    if (!isFloat(a.dtype()))
      return before;
    Arg isLast(Arg(rhs != rhs, loc) & Arg(lhs == lhs, loc), loc);
    return Arg(before, loc) | isLast;
  }

  /// Each pair of an element and its partner in order; `isFirst` holds for the one that comes
  /// first.
  Value ordered(const Value &tile, const Value &partner, const Value &isFirst) const {
    Arg own(tile, loc), other(partner, loc), first(isFirst, loc);
    // The partner comes first among operands, so that all is computed where it lies.
    Value early = select(Arg(~first, loc), other, own, loc), late = select(first, other, own, loc);
    return select(Arg(isBefore(late, early), loc), other, own, loc);
  }

  /// Orders element i with element block - 1 - i of each block.
  Value mirrorBlocks(const Value &tile, int64_t block) const {
    Shape shape = tile.shape(), blocks = splitLast(shape, {shape[shape.rank() - 1] / block, block});
    Value view = reshape(Arg(tile, loc), blocks, loc);
    Arg place(index(-1, blocks, loc), loc);
    Value sorted = ordered(view, flip(Arg(view, loc), -1, loc), place < Arg(block / 2, loc));
    return reshape(Arg(sorted, loc), shape, loc);
  }

  /// Orders element i with element i ^ distance.
  Value exchange(const Value &tile, int64_t distance) const {
    Shape shape = tile.shape();
    Shape pairs = splitLast(shape, {shape[shape.rank() - 1] / (2 * distance), 2, distance});
    Value view = reshape(Arg(tile, loc), pairs, loc);
    Arg half(index(-2, pairs, loc), loc);
    Value sorted = ordered(view, flip(Arg(view, loc), -2, loc), half == Arg(0, loc));
    return reshape(Arg(sorted, loc), shape, loc);
  }

  static Shape splitLast(const Shape &shape, std::initializer_list<int64_t> parts) {
    Shape result;
    for (int dim = 0; dim < shape.rank() - 1; ++dim)
      result.append(shape[dim]);
    for (int64_t part : parts)
      result.append(part);
    return result;
  }
};

Value sortable(Trace &trace, const char *op, const Arg &x, Loc loc) {
  constexpr int kMostDimensions = kMaxRank - 2;
  Value tile = tileOperand(trace, op, x, loc);
  TileType type = trace.type(tile, loc);
  int64_t extent = type.shape[type.shape.rank() - 1];
  if (type.dtype == i1)
    trace.fail(loc, std::string(op) + ": needs numbers, got i1: cast it first",
               {madeNote(trace, "operand", tile)});
  if ((extent & (extent - 1)) != 0 || type.shape.rank() > kMostDimensions)
    trace.fail(loc,
               std::string(op) + ": needs at most " + std::to_string(kMostDimensions) +
                   " dimensions, the last of which is a power of two, got " + type.str(),
               {madeNote(trace, "operand", tile)}, ErrorCode::InvalidShape);
  return tile;
}

/// 8-bit floats are widened once, not for each comparison; f16 holds them exactly.
Value comparable(Trace &trace, const Value &tile, Loc loc) {
  return castValue(trace, isFloat8(tile.dtype()) ? f16 : tile.dtype(), tile, loc);
}

Value sorted(Trace &trace, Value tile, bool descending, Loc loc) {
  Network network{trace, descending, loc};
  Shape shape = tile.shape();
  for (int64_t block = 2; block <= shape[shape.rank() - 1]; block *= 2) {
    tile = network.mirrorBlocks(tile, block);
    for (int64_t distance = block / 4; distance >= 1; distance /= 2)
      tile = network.exchange(tile, distance);
  }
  return tile;
}

} // namespace

Value tile::sort(Arg x, bool descending, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value tile = sortable(trace, "sort", x, loc);
  DType type = tile.dtype();
  return castValue(trace, type, sorted(trace, comparable(trace, tile, loc), descending, loc), loc);
}

Value tile::topk(Arg x, int k, bool largest, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value tile = sortable(trace, "topk", x, loc);
  Shape shape = tile.shape();
  int64_t extent = shape[shape.rank() - 1];
  if (k < 1 || k > extent || (k & (k - 1)) != 0)
    trace.fail(loc,
               "topk: k must be a power of two from 1 to the last extent " +
                   std::to_string(extent) + ", got " + std::to_string(k),
               {madeNote(trace, "operand", tile)}, ErrorCode::InvalidShape);
  Value best = sorted(trace, comparable(trace, tile, loc), largest, loc);
  for (; extent > k; extent /= 2) { // the first half of each row
    Value halves = reshape(Arg(best, loc), Network::splitLast(best.shape(), {2, extent / 2}), loc);
    best = split(Arg(trans(Arg(halves, loc), loc), loc), loc).first;
  }
  return castValue(trace, tile.dtype(), best, loc);
}
