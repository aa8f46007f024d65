// Tiles on the host: what the evaluator computes with. Integers are kept sign- or zero-extended,
// floats as double; programs are generated so that every float is exact in its dtype, which makes
// results independent of order and of fused multiply-adds.
#pragma once

#include <tile/Shape.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

namespace tile::fuzz {

/// What a generated program must not compute: a float that its dtype does not hold, or an operation
/// whose result the language leaves open. The generator drops the statement.
class NotComparable : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

struct Type {
  DType dtype = i32;
  Shape shape;
  bool operator==(const Type &) const = default;
};

/// An element: `i` of integers (64-bit ones of u64 by their bits), `f` of floats.
union Number {
  int64_t i;
  double f;
};

struct Tile {
  Type type;
  std::vector<Number> elements; ///< row-major

  explicit Tile(Type type)
      : type(type), elements(static_cast<size_t>(type.shape.elements()), Number{.i = 0}) {}
};

constexpr int bitsOf(DType dtype) { return dtype == i1 ? 1 : static_cast<int>(sizeOf(dtype)) * 8; }
/// The low bits of an integer, extended as its dtype says.
int64_t wrapped(DType dtype, int64_t value);
/// Bits of significand that a float dtype keeps, the leading one included, and the powers of two its
/// numbers lie between (fewer than the dtype has where those suffice).
struct Format {
  int significand, lowest, highest;
};
Format formatOf(DType dtype);
/// `value`, if the dtype holds it; throws NotComparable.
double exactly(DType dtype, double value);
/// Throws unless every partial sum of these terms, in any order, is exact in the dtype.
void requireExactSum(DType dtype, const std::vector<double> &terms);
/// The dtype in which floats of `dtype` are accumulated.
constexpr DType accumulator(DType dtype) { return dtype == f64 ? f64 : f32; }

/// A place in a tile.
using Index = std::vector<int64_t>;
int64_t flatten(const Shape &shape, const Index &index);
/// Calls `visit(index, position)` for each element in row-major order.
void forEach(const Shape &shape, const std::function<void(const Index &, size_t)> &visit);
/// result[index] = x[map(index)].
Tile rearranged(const Tile &x, const Shape &shape, const std::function<Index(const Index &)> &map);
/// The element of a tile that broadcasts to a shape with this index.
Number broadcastAt(const Tile &x, const Index &index);

/// The shape two shapes broadcast to; rank -1 marks none.
bool broadcasts(const Shape &a, const Shape &b, Shape &result);
/// Shapes from shapes.
Shape without(const Shape &shape, int axis);
Shape with(const Shape &shape, int axis, int64_t extent);

} // namespace tile::fuzz
