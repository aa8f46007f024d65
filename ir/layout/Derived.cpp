// Closed operations on layouts. Each edits basis vectors; flat words make reshape the identity on
// bits.
#include "ir/layout/Derived.h"

#include <algorithm>
#include <cassert>

namespace tile::layout {

/// For results that are layouts by construction.
static Layout build(Shape shape, Bases bases) {
  std::optional<Layout> layout = Layout::create(std::move(shape), std::move(bases));
  assert(layout && "derived layout is well formed");
  return layout ? *std::move(layout) : Layout();
}

template <typename Edit> static Bases mapBases(const Layout &source, Edit edit) {
  Bases result;
  for (size_t in = 0; in < kNumIns; ++in)
    for (const Coords &vector : source.bases()[in])
      result[in].push_back(edit(vector));
  return result;
}

Layout permute(const Layout &source, const std::vector<int32_t> &order) {
  assert(order.size() == source.shape().size() && "one entry per dimension");
  Shape shape;
  for (int32_t dim : order)
    shape.push_back(source.shape()[static_cast<size_t>(dim)]);
  return build(std::move(shape), mapBases(source, [&](const Coords &vector) {
                 Coords moved;
                 for (int32_t dim : order)
                   moved.push_back(vector[static_cast<size_t>(dim)]);
                 return moved;
               }));
}

Layout expandDims(const Layout &source, int axis) {
  assert(axis >= 0 && axis <= source.rank() && "axis lies between the dimensions");
  Shape shape = source.shape();
  shape.insert(shape.begin() + axis, 1);
  return build(std::move(shape), mapBases(source, [&](Coords vector) {
                 vector.insert(vector.begin() + axis, 0);
                 return vector;
               }));
}

Layout broadcast(const Layout &source, int axis, int64_t size) {
  assert(source.shape()[static_cast<size_t>(axis)] == 1 && "only a dimension of size 1 repeats");
  Shape shape = source.shape();
  shape[static_cast<size_t>(axis)] = size;
  Bases bases = source.bases();
  for (int bit = 0; bit < splitSize(size).bits; ++bit) {
    Coords vector(shape.size(), 0);
    vector[static_cast<size_t>(axis)] = int32_t(1) << bit;
    bases[0].push_back(std::move(vector));
  }
  return build(std::move(shape), std::move(bases));
}

/// Removes register bits that repeat what lower register bits reach.
static void dropRedundantRegisters(const Shape &shape, Bases &bases) {
  uint64_t redundant = build(shape, bases).flatMap(In::Register).redundantInputs();
  std::vector<Coords> kept;
  for (size_t bit = 0; bit < bases[0].size(); ++bit)
    if (!(redundant >> bit & 1))
      kept.push_back(bases[0][bit]);
  bases[0] = std::move(kept);
}

Layout collapse(const Layout &source, int axis) {
  return expandDims(reduceAxis(source, axis), axis);
}

Layout reduceAxis(const Layout &source, int axis) {
  assert(axis >= 0 && axis < source.rank() && "axis names a dimension");
  Shape shape = source.shape();
  shape.erase(shape.begin() + axis);
  Bases bases = mapBases(source, [&](Coords vector) {
    vector.erase(vector.begin() + axis);
    return vector;
  });
  dropRedundantRegisters(shape, bases);
  return build(std::move(shape), std::move(bases));
}

namespace {
/// An odd factor and the bits that follow it before the next odd factor.
struct Digit {
  int64_t odd;
  int bits;
  friend bool operator==(const Digit &, const Digit &) = default;
};
} // namespace

/// The row-major index of a tile as a list of digits, outermost first. Two shapes number their
/// elements and their odd digits alike exactly if the lists agree.
static std::vector<Digit> digitsOf(const Shape &shape) {
  std::vector<Digit> digits{{1, 0}};
  for (int64_t size : shape) {
    SizeParts parts = splitSize(size);
    if (parts.odd > 1 && digits.back().bits > 0)
      digits.push_back({1, 0});
    digits.back().odd *= parts.odd;
    digits.back().bits += parts.bits;
  }
  return digits;
}

static std::string shapeText(const Shape &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

std::optional<Layout> reshape(const Layout &source, const Shape &shape, Refusal *why) {
  int64_t before = 1, after = 1;
  for (int64_t size : source.shape())
    before *= size;
  for (int64_t size : shape) {
    if (size < 1)
      return refuse(why, "dimension of size " + std::to_string(size) + " in the new shape");
    after *= size;
  }
  std::string both = shapeText(source.shape()) + " to " + shapeText(shape);
  if (before != after)
    return refuse(why, "reshape of " + both + " changes the number of elements from " +
                           std::to_string(before) + " to " + std::to_string(after));
  if (digitsOf(source.shape()) != digitsOf(shape))
    return refuse(why, "reshape of " + both +
                           " moves an odd factor: each size is 2^k times an odd number, and the "
                           "odd number has to stay the outermost part of its dimension");
  std::optional<Layout> target = Layout::create(shape, {}, why);
  if (!target)
    return std::nullopt;
  Bases bases = mapBases(
      source, [&](const Coords &vector) { return target->unflatten(source.flatten(vector)); });
  return build(shape, std::move(bases));
}

Layout joined(const Layout &source) {
  Shape shape = source.shape();
  shape.push_back(2);
  Bases bases = mapBases(source, [](Coords vector) {
    vector.push_back(0);
    return vector;
  });
  Coords half(shape.size(), 0);
  half.back() = 1;
  bases[0].insert(bases[0].begin(), std::move(half));
  return build(std::move(shape), std::move(bases));
}

Layout compose(const Layout &outer, const LinearMap &inputs,
               const std::array<int, kNumIns> &counts) {
  LinearMap map = outer.flatMap().compose(inputs);
  Bases bases;
  size_t next = 0;
  for (size_t in = 0; in < kNumIns; ++in)
    for (int i = 0; i < counts[in] && next < map.columns().size(); ++i)
      bases[in].push_back(outer.unflatten(map.columns()[next++]));
  return build(outer.shape(), std::move(bases));
}

static Coords scaled(const Coords &vector, const Shape &factors) {
  Coords result = vector;
  for (size_t d = 0; d < result.size(); ++d)
    result[d] = static_cast<int32_t>(result[d] * factors[d]);
  return result;
}

std::optional<Layout> product(const Layout &inner, const Layout &outer) {
  if (inner.rank() != outer.rank() || inner.oddCount() != 1)
    return std::nullopt;
  Shape shape = outer.shape();
  for (size_t d = 0; d < shape.size(); ++d)
    shape[d] *= inner.shape()[d];
  Bases bases = inner.bases();
  for (size_t in = 0; in < kNumIns; ++in)
    for (const Coords &vector : outer.bases()[in])
      bases[in].push_back(scaled(vector, inner.shape()));
  return Layout::create(std::move(shape), std::move(bases));
}

std::optional<Layout> part(const Layout &source, int dim, int64_t size) {
  auto at = static_cast<size_t>(dim);
  if (size < 1 || (size & (size - 1)) || source.pow2Shape()[at] % size)
    return std::nullopt;
  Bases bases = source.bases();
  auto isBeyond = [&](const Coords &vector) { return vector[at] >= size; };
  auto isOfPartsAlone = [&](const Coords &vector) {
    int32_t others = 0;
    for (size_t d = 0; d < vector.size(); ++d)
      others |= d == at ? vector[d] & static_cast<int32_t>(size - 1) : vector[d];
    return others == 0 && (vector[at] & (vector[at] - 1)) == 0;
  };
  for (const std::vector<Coords> &vectors : bases)
    if (!std::ranges::all_of(vectors, [&](const Coords &vector) {
          return !isBeyond(vector) ||
                 (&vectors == &bases[static_cast<size_t>(In::Register)] && isOfPartsAlone(vector));
        }))
      return std::nullopt;
  std::erase_if(bases[static_cast<size_t>(In::Register)], isBeyond);
  Shape shape = source.shape();
  shape[at] = size;
  return Layout::create(std::move(shape), std::move(bases));
}

std::optional<Layout> withVectors(const Layout &source, int dim, int64_t elements) {
  Bases bases = source.bases();
  std::vector<Coords> &registers = bases[static_cast<size_t>(In::Register)],
                      &lanes = bases[static_cast<size_t>(In::Lane)];
  auto step = [&](int64_t distance) {
    Coords vector(source.shape().size(), 0);
    vector[static_cast<size_t>(dim)] = static_cast<int32_t>(distance);
    return vector;
  };
  size_t place = 0;
  for (int64_t distance = 1; distance < elements; distance *= 2, ++place) {
    auto own = std::find(registers.begin(), registers.end(), step(distance));
    if (own == registers.end()) {
      auto lane = std::find(lanes.begin(), lanes.end(), step(distance));
      for (int64_t far = elements; own == registers.end() && far < source.shape()[size_t(dim)];
           far *= 2)
        own = std::find(registers.begin(), registers.end(), step(far));
      if (lane == lanes.end() || own == registers.end())
        return std::nullopt;
      std::swap(*lane, *own);
    }
    std::rotate(registers.begin() + static_cast<std::ptrdiff_t>(place), own, own + 1);
  }
  return Layout::create(source.shape(), std::move(bases));
}

} // namespace tile::layout
