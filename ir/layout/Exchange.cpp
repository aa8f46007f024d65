// Solves for the place bits that flip, and changes a basis where warps would.
#include "ir/layout/Exchange.h"

#include <bit>

namespace tile::layout {

static Coords maskVector(const Layout &source, int axis, int32_t mask) {
  Coords vector(source.shape().size(), 0);
  vector[static_cast<size_t>(axis)] = mask;
  return vector;
}

/// The bits of register, lane and warp numbers (in this order, packed) whose vectors add up to the
/// mask.
static std::optional<uint64_t> placesOf(const Layout &source, const Coords &mask, int numIns) {
  Subspace span;
  int bit = 0;
  for (int in = 0; in < numIns; ++in)
    for (uint64_t column : source.flatMap(static_cast<In>(in)).columns())
      span.insert(column, uint64_t(1) << bit++);
  return span.solve(source.flatten(mask));
}

std::optional<ExchangePlan> planExchange(const Layout &source, int axis, int32_t mask) {
  std::optional<uint64_t> places = placesOf(source, maskVector(source, axis, mask), 2);
  if (!places)
    return std::nullopt;
  uint64_t registers = *places & ((uint64_t(1) << source.registerBits()) - 1);
  return ExchangePlan{static_cast<int32_t>(registers),
                      static_cast<int32_t>(*places >> source.registerBits())};
}

/// The vector of the highest register or else lane bit that moves; null if none does.
static Coords *movingVector(Bases &bases) {
  for (In in : {In::Register, In::Lane}) {
    std::vector<Coords> &vectors = bases[static_cast<size_t>(in)];
    for (size_t bit = vectors.size(); bit-- > 0;)
      for (int32_t coordinate : vectors[bit])
        if (coordinate != 0)
          return &vectors[bit];
  }
  return nullptr;
}

Layout exchangeable(const Layout &source, int axis, int32_t mask) {
  if (planExchange(source, axis, mask))
    return source;
  Coords vector = maskVector(source, axis, mask);
  std::optional<uint64_t> places = placesOf(source, vector, 3);
  Bases bases = source.bases();
  Coords *moving = movingVector(bases);
  if (!places || !moving) { // warps hold it all, or not all of it is held: one more register does
    bases[static_cast<size_t>(In::Register)].push_back(vector);
    return Layout::create(source.shape(), std::move(bases)).value_or(source);
  }
  // A warp takes over what the bit did, the bit becomes the mask: together they span what they
  // spanned before.
  uint64_t warps = *places >> (source.registerBits() + source.laneBits());
  auto warp = static_cast<size_t>(std::countr_zero(warps));
  bases[static_cast<size_t>(In::Warp)][warp] = *moving;
  *moving = vector;
  return Layout::create(source.shape(), std::move(bases)).value_or(source);
}

} // namespace tile::layout
