#include "ir/layout/Reduce.h"

#include <algorithm>

namespace tile::layout {

static bool movesAlongOthers(const Coords &vector, int axis) {
  for (int dim = 0; dim < static_cast<int>(vector.size()); ++dim)
    if (dim != axis && vector[size_t(dim)] != 0)
      return true;
  return false;
}

bool isReducible(const Layout &source, int axis) {
  for (In in : {In::Register, In::Lane, In::Warp, In::Block}) {
    const std::vector<Coords> &vectors = source.bases(in);
    uint32_t along = source.bitsAlong(in, axis);
    // A register that repeats others is left out where registers are folded.
    if (in != In::Register && (along & source.freeMask(in)))
      return false;
    for (size_t bit = 0; bit < vectors.size(); ++bit)
      if ((along >> bit & 1) && movesAlongOthers(vectors[bit], axis))
        return false;
  }
  return true;
}

/// Places that repeat what others hold, along the axis, repeat what their lowest bits hold.
static Layout withoutRepetitions(const Layout &source, int axis) {
  Bases bases = source.bases();
  for (In in : {In::Lane, In::Warp, In::Block}) {
    uint32_t repeats = source.freeMask(in) & source.bitsAlong(in, axis);
    std::vector<Coords> &vectors = bases[static_cast<size_t>(in)];
    for (size_t bit = 0; bit < vectors.size(); ++bit)
      if (repeats >> bit & 1)
        std::ranges::fill(vectors[bit], 0);
  }
  return Layout::create(source.shape(), std::move(bases)).value_or(source);
}

Layout reducible(const Layout &source, int axis) {
  if (isReducible(source, axis))
    return source;
  Layout single = withoutRepetitions(source, axis);
  if (isReducible(single, axis))
    return single;
  std::vector<int32_t> order;
  for (int32_t dim = source.rank(); dim-- > 0;)
    order.push_back(dim);
  return Layout::coalesced(source.shape(), order, 1, source.numWarps());
}

} // namespace tile::layout
