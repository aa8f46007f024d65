// Rotary embeddings: a map makes the tables, another turns pairs, which are two strided views of x, or words of one where
// the elements of a pair are neighbours.
#include <tile/ops/Rotary.h>

#include "ops/NewTensor.h"

#include <tile/ops/Arithmetic.h>
#include <tile/ops/Map.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace tile::ops {

namespace {

// --- Functions of tiles --------------------------------------------------------------------------

using Pair = std::array<Value, 2>;

/// Cosine and sine of position * exp2(pair * step): all in f64, within one turn.
Pair angleOf(Value position, Value pair, Value step) {
  Value turns = cast(f64, position) * exp2(cast(f64, pair) * step) * (0.5 / std::numbers::pi);
  Value angle = (turns - floor(turns + 0.5)) * (2 * std::numbers::pi);
  return {cos(angle), sin(angle)};
}

struct TableOfPositions {
  Pair operator()(Value position, Value at, Value pairs, Value step) const {
    return angleOf(position, at % pairs, bitcast(f64, step));
  }
};
struct TableFromOffset {
  Pair operator()(Value offset, Value at, Value pairs, Value step) const {
    return angleOf(offset + at / pairs, at % pairs, bitcast(f64, step));
  }
};
struct Turn {
  Pair operator()(Value a, Value b, Value cosine, Value sine) const {
    return {a * cosine - b * sine, b * cosine + a * sine};
  }
};
struct TurnBack {
  Pair operator()(Value a, Value b, Value cosine, Value sine) const {
    return {a * cosine + b * sine, b * cosine - a * sine};
  }
};

/// Turns words that hold the two elements of a pair, of dtype X; the sign is 1, or -1 for back.
template <DType X> struct TurnWords {
  Value operator()(Value pair, Value cosine, Value sine, Value sign) const {
    constexpr DType kBits = sizeOf(X) == 2 ? u16 : u32;
    constexpr int kWidth = 8 * static_cast<int>(sizeOf(X));
    auto element = [](Value bits) { return cast(f32, bitcast(X, cast(kBits, bits))); };
    auto bits = [&](Value element) { return cast(pair.dtype(), bitcast(kBits, cast(X, element))); };
    auto [a, b] = Turn()(element(pair), element(pair >> kWidth), cosine, sine * sign);
    return bits(a) | bits(b) << kWidth;
  }
};

// --- Arguments -----------------------------------------------------------------------------------

/// The logarithm to base 2 of the ratio of neighbouring pairs' angles. As bits: a number that is a double reaches a
/// map of f32 outputs as f32.
int64_t stepBits(const Arguments &arguments, int64_t pairs, double base) {
  if (!(base > 0) || std::isinf(base))
    arguments.fail(ErrorCode::InvalidArgument,
                   "base is " + std::to_string(base) + "; it must be a positive number");
  return std::bit_cast<int64_t>(-std::log2(base) / static_cast<double>(pairs));
}

void checkTables(const Arguments &arguments, const Operand &cosines, const Operand &sines) {
  checkFloats(arguments, {{"cosines", cosines}, {"sines", sines}});
  arguments.sameExtents({"sines", sines}, {"cosines", cosines});
  if (cosines.rank() < 1)
    arguments.fail(ErrorCode::InvalidShape, "cosines is " + cosines.str() +
                                                "; its last dimension must be that of the pairs");
}

/// An operand with a last dimension of extent 1 more.
Operand withLast(const Operand &operand) {
  int64_t extents[kMaxRank], strides[kMaxRank];
  int rank = operand.rank();
  for (int dim = 0; dim < rank; ++dim)
    extents[dim] = operand.extent(dim), strides[dim] = operand.stride(dim);
  extents[rank] = strides[rank] = 1;
  auto count = static_cast<size_t>(rank) + 1;
  return operand.strided({extents, count}, {strides, count});
}

/// The first elements along the last dimension.
Operand firstsOfLast(const Operand &x) {
  int64_t extents[kMaxRank], strides[kMaxRank];
  auto rank = static_cast<size_t>(x.rank()) - 1;
  for (size_t dim = 0; dim < rank; ++dim)
    extents[dim] = x.extent(static_cast<int>(dim)), strides[dim] = x.stride(static_cast<int>(dim));
  return x.strided({extents, rank}, {strides, rank});
}

/// The number of elements of the last dimension that are turned.
int64_t turnedDims(const Arguments &arguments, Named x, const RotaryOptions &options) {
  if (x.operand.rank() < 1)
    arguments.fail(ErrorCode::InvalidShape, std::string(x.name) + " is " + x.operand.str() +
                                                "; it needs at least one dimension");
  int64_t width = x.operand.extent(x.operand.rank() - 1);
  int64_t dims = options.dims == 0 ? width : options.dims;
  if (dims < 0 || dims > width || dims % 2 != 0)
    arguments.fail(ErrorCode::InvalidShape, "dims is " + std::to_string(dims) + ", but " + x.name +
                                                " is " + x.operand.str() +
                                                ": an even number up to its last extent is needed");
  return dims;
}

/// The first or second elements of all pairs.
Operand pairElements(const Operand &x, int64_t dims, bool interleaved, bool second) {
  int last = x.rank() - 1;
  int64_t half = dims / 2;
  if (!interleaved)
    return x.slice(last, second ? half : 0, half);
  Operand from = x.slice(last, second ? 1 : 0, half);
  int64_t extents[kMaxRank], strides[kMaxRank];
  for (int dim = 0; dim <= last; ++dim)
    extents[dim] = from.extent(dim), strides[dim] = from.stride(dim);
  strides[last] *= 2;
  auto rank = static_cast<size_t>(last) + 1;
  return from.strided({extents, rank}, {strides, rank});
}

/// The pairs of neighbours of the first `dims` elements as words, where memory has them at multiples of their size: one
/// access moves both, and no byte of a sector is left out.
std::optional<Operand> pairWords(const Operand &x, int64_t dims) {
  int last = x.rank() - 1;
  size_t size = sizeOf(x.dtype());
  if (size > 4 || x.stride(last) != 1 || reinterpret_cast<uintptr_t>(x.data()) % (2 * size) != 0)
    return {};
  int64_t extents[kMaxRank], strides[kMaxRank];
  for (int dim = 0; dim < last; ++dim) {
    extents[dim] = x.extent(dim), strides[dim] = x.stride(dim) / 2;
    if (x.stride(dim) % 2 != 0 && x.extent(dim) > 1)
      return {};
  }
  extents[last] = dims / 2, strides[last] = 1;
  auto rank = static_cast<size_t>(last) + 1;
  return x.strided({extents, rank}, {strides, rank}).as(size == 2 ? u32 : u64);
}

/// The names by which an op and its gradient call their tensors in messages.
struct Direction {
  const char *op, *x, *y, *vectors;
};
constexpr const char *kVectorsOfX = "x without its last dimension",
                     *kVectorsOfDy = "dy without its last dimension";
constexpr Direction kRotate = {"rotate", "x", "y", kVectorsOfX},
                    kRotateBackward = {"rotateBackward", "dy", "dx", kVectorsOfDy},
                    kRotary = {"rotary", "x", "y", kVectorsOfX},
                    kRotaryBackward = {"rotaryBackward", "dy", "dx", kVectorsOfDy};

/// Turns x by words that hold a pair each, and returns true; false, and nothing done, if x or y cannot be read so.
template <class F>
bool turnWords(const Direction &names, CallSite site, const Operand &x, const Operand &cosines,
               const Operand &sines, const Operand &y, int64_t dims) {
  std::optional<Operand> from = pairWords(x, dims), to = pairWords(y, dims);
  if (!from || !to || x.dtype() != y.dtype())
    return false;
  constexpr float kSign = std::is_same_v<F, Turn> ? 1 : -1;
  auto run = [&](auto f) {
    detail::mapNamed({names.op, {names.y, names.x, "cosines", "sines", "sign"}}, site, f,
                     std::array{*to}, *from, cosines, sines, kSign);
  };
  x.dtype() == f16    ? run(TurnWords<f16>())
  : x.dtype() == bf16 ? run(TurnWords<bf16>())
                      : run(TurnWords<f32>());
  return true;
}

template <class F>
void turn(const Direction &names, const Stream &stream, const Operand &x, const Operand &cosines,
          const Operand &sines, const Operand &y, const RotaryOptions &options, Loc loc) {
  Arguments arguments(names.op, {stream, loc});
  checkFloats(arguments, {{names.x, x}, {names.y, y}});
  checkTables(arguments, cosines, sines);
  arguments.sameExtents({names.y, y}, {names.x, x});
  int64_t dims = turnedDims(arguments, {names.x, x}, options);
  int64_t pairs = cosines.extent(cosines.rank() - 1);
  if (pairs != dims / 2)
    arguments.fail(ErrorCode::InvalidShape, "cosines is " + cosines.str() + ", but " +
                                                std::to_string(dims / 2) +
                                                " pairs are turned: its last extent must be that");
  auto part = [&](const Operand &of, bool second) {
    return pairElements(of, dims, options.interleaved, second);
  };
  std::string pairsOfX = std::string("a half of ") + names.x; // and of y
  arguments.broadcastsTo({"cosines", cosines}, {pairsOfX.c_str(), part(x, false)});
  // What is not turned is copied after the rest: all of y is checked before.
  arguments.accessible({{names.x, x}, {names.y, y}, {"cosines", cosines}, {"sines", sines}});
  arguments.elementsDistinct({names.y, y});
  arguments.disjointOrSame({names.y, y}, {names.x, x});
  CallSite site(stream, loc);
  if (!options.interleaved || !turnWords<F>(names, site, x, cosines, sines, y, dims))
    detail::mapNamed({names.op, {names.y, names.y, names.x, names.x, "cosines", "sines"}}, site,
                     F(), std::array{part(y, false), part(y, true)}, part(x, false), part(x, true),
                     cosines, sines);
  int last = x.rank() - 1;
  int64_t rest = x.extent(last) - dims;
  if (rest > 0 && y.data() != x.data())
    copy(stream, x.slice(last, dims, rest), y.slice(last, dims, rest), loc);
}

/// Tables for one call, of these extents and then the pairs.
struct Tables {
  Tensor cosines, sines;
};
Tables newTables(const Stream &stream, DType x, std::span<const int64_t> extents, int64_t pairs) {
  int64_t all[kMaxRank];
  std::copy(extents.begin(), extents.end(), all);
  all[extents.size()] = pairs;
  std::span<const int64_t> shape(all, extents.size() + 1);
  DType dtype = x == f64 ? f64 : f32;
  return {stream.tensor(dtype, shape), stream.tensor(dtype, shape)};
}

template <class F>
void rotaryAt(const Direction &names, const Stream &stream, const Operand &x,
              const Operand &positions, const Operand &y, const RotaryOptions &options, Loc loc) {
  Arguments arguments(names.op, {stream, loc});
  checkFloats(arguments, {{names.x, x}, {names.y, y}});
  arguments.dtypeIn({"positions", positions}, {i32});
  int64_t dims = turnedDims(arguments, {names.x, x}, options);
  arguments.sameExtents({names.y, y}, {names.x, x});
  arguments.broadcastsTo({"positions", positions}, {names.vectors, firstsOfLast(x)});
  arguments.accessible({{"positions", positions}, {names.x, x}, {names.y, y}});
  arguments.disjoint({names.y, y}, {"positions", positions});
  int64_t extents[kMaxRank];
  for (int dim = 0; dim < positions.rank(); ++dim)
    extents[dim] = positions.extent(dim);
  auto [cosines, sines] =
      newTables(stream, x.dtype(), {extents, static_cast<size_t>(positions.rank())}, dims / 2);
  rotaryTables(stream, positions, cosines, sines, options.base, loc);
  turn<F>(names, stream, x, cosines, sines, y, options, loc);
}

template <class F>
void rotaryFrom(const Direction &names, const Stream &stream, const Operand &x, int64_t offset,
                const Operand &y, const RotaryOptions &options, Loc loc) {
  Arguments arguments(names.op, {stream, loc});
  checkFloats(arguments, {{names.x, x}, {names.y, y}});
  int64_t dims = turnedDims(arguments, {names.x, x}, options);
  arguments.accessible({{names.x, x}, {names.y, y}});
  int64_t count = x.rank() > 1 ? x.extent(x.rank() - 2) : 1;
  auto [cosines, sines] = newTables(stream, x.dtype(), {&count, 1}, dims / 2);
  rotaryTables(stream, offset, cosines, sines, options.base, loc);
  Operand cosine = cosines, sine = sines;
  if (x.rank() == 1)
    cosine = cosine.at(0), sine = sine.at(0);
  turn<F>(names, stream, x, cosine, sine, y, options, loc);
}

} // namespace

void rotaryTables(const Stream &stream, const Operand &positions, const Operand &cosines,
                  const Operand &sines, double base, Loc loc) {
  Arguments arguments("rotaryTables", {stream, loc});
  arguments.dtypeIn({"positions", positions}, {i32});
  checkTables(arguments, cosines, sines);
  arguments.oneDimensionMore({"cosines", cosines}, {"positions", positions});
  int64_t pairs = cosines.extent(cosines.rank() - 1), step = stepBits(arguments, pairs, base);
  detail::mapNamed({"rotaryTables", {"cosines", "sines", "positions", "at", "pairs", "step"}},
                   CallSite(stream, loc), TableOfPositions(), std::array{cosines, sines},
                   withLast(positions), Position(), pairs, step);
}
void rotaryTables(const Stream &stream, int64_t offset, const Operand &cosines,
                  const Operand &sines, double base, Loc loc) {
  Arguments arguments("rotaryTables", {stream, loc});
  checkTables(arguments, cosines, sines);
  arguments.rankIs({"cosines", cosines}, 2);
  int64_t pairs = cosines.extent(1), step = stepBits(arguments, pairs, base);
  detail::mapNamed({"rotaryTables", {"cosines", "sines", "offset", "at", "pairs", "step"}},
                   CallSite(stream, loc), TableFromOffset(), std::array{cosines, sines}, offset,
                   Position(), pairs, step);
}

void rotate(const Stream &stream, const Operand &x, const Operand &cosines, const Operand &sines,
            const Operand &y, const RotaryOptions &options, Loc loc) {
  turn<Turn>(kRotate, stream, x, cosines, sines, y, options, loc);
}
void rotateBackward(const Stream &stream, const Operand &dy, const Operand &cosines,
                    const Operand &sines, const Operand &dx, const RotaryOptions &options,
                    Loc loc) {
  turn<TurnBack>(kRotateBackward, stream, dy, cosines, sines, dx, options, loc);
}

void rotary(const Stream &stream, const Operand &x, const Operand &positions, const Operand &y,
            const RotaryOptions &options, Loc loc) {
  rotaryAt<Turn>(kRotary, stream, x, positions, y, options, loc);
}
void rotaryBackward(const Stream &stream, const Operand &dy, const Operand &positions,
                    const Operand &dx, const RotaryOptions &options, Loc loc) {
  rotaryAt<TurnBack>(kRotaryBackward, stream, dy, positions, dx, options, loc);
}
void rotary(const Stream &stream, const Operand &x, int64_t offset, const Operand &y,
            const RotaryOptions &options, Loc loc) {
  rotaryFrom<Turn>(kRotary, stream, x, offset, y, options, loc);
}
void rotaryBackward(const Stream &stream, const Operand &dy, int64_t offset, const Operand &dx,
                    const RotaryOptions &options, Loc loc) {
  rotaryFrom<TurnBack>(kRotaryBackward, stream, dy, offset, dx, options, loc);
}

} // namespace tile::ops
