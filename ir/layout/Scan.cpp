// Reads and reorders the bits along an axis.
#include "ir/layout/Scan.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tile::layout {

namespace {
/// A place bit that moves along the axis.
struct AxisBit {
  In in;
  int bit;
  int32_t step;
};
} // namespace

/// The place bits along the axis, lowest step first; nothing if they are not the coordinate's bits
/// one to one.
static std::optional<std::vector<AxisBit>> axisBits(const Layout &source, int axis) {
  std::vector<AxisBit> bits;
  for (In in : {In::Register, In::Lane, In::Warp})
    for (int bit = 0; bit < source.bits(in); ++bit) {
      const Coords &vector = source.bases(in)[size_t(bit)];
      int32_t step = vector[size_t(axis)];
      if (step == 0)
        continue;
      if (std::count(vector.begin(), vector.end(), 0) + 1 != source.rank() ||
          !std::has_single_bit(uint32_t(step)))
        return std::nullopt;
      bits.push_back({in, bit, step});
    }
  std::sort(bits.begin(), bits.end(),
            [](const AxisBit &a, const AxisBit &b) { return a.step < b.step; });
  if (static_cast<int>(bits.size()) != source.linearBits()[size_t(axis)])
    return std::nullopt;
  for (size_t i = 0; i < bits.size(); ++i)
    if (bits[i].step != int32_t(1) << i)
      return std::nullopt;
  return bits;
}

std::optional<ScanPieces> scanPieces(const Layout &source, int axis) {
  std::optional<std::vector<AxisBit>> bits = axisBits(source, axis);
  if (!bits)
    return std::nullopt;
  ScanPieces pieces;
  size_t next = 0;
  auto isNext = [&](In in) { return next < bits->size() && (*bits)[next].in == in; };
  for (; isNext(In::Register); ++next)
    pieces.run *= 2;
  for (; isNext(In::Lane); ++next)
    pieces.laneBits.push_back((*bits)[next].bit);
  pieces.piece = pieces.run << pieces.laneBits.size();
  for (; isNext(In::Warp); ++next)
    pieces.warps *= 2;
  if (pieces.warps == 1)
    while (isNext(In::Register))
      ++next;
  if (next != bits->size())
    return std::nullopt;
  return pieces;
}

/// The same bits along the axis, registers lowest, then lanes, then warps.
static std::optional<Layout> reordered(const Layout &source, int axis) {
  std::optional<std::vector<AxisBit>> bits = axisBits(source, axis);
  if (!bits)
    return std::nullopt;
  std::ranges::sort(*bits, {}, [](const AxisBit &bit) { return std::pair(bit.in, bit.step); });
  Bases bases = source.bases();
  int32_t step = 1;
  for (const AxisBit &bit : *bits) {
    bases[static_cast<size_t>(bit.in)][size_t(bit.bit)][size_t(axis)] = step;
    step *= 2;
  }
  return Layout::create(source.shape(), std::move(bases));
}

Layout scannable(const Layout &source, int axis) {
  if (scanPieces(source, axis))
    return source;
  if (std::optional<Layout> layout = reordered(source, axis))
    return *layout;
  std::vector<int32_t> order{
      static_cast<int32_t>(axis)}; // the axis in one thread as far as the others fill the warps
  for (int32_t dim = 0; dim < source.rank(); ++dim)
    if (dim != axis)
      order.insert(order.begin(), dim);
  Layout fresh = Layout::coalesced(source.shape(), order, 1, source.numWarps());
  return scanPieces(fresh, axis) ? fresh : reordered(fresh, axis).value_or(fresh);
}

Layout pieceTotals(const Layout &source, int axis) {
  ScanPieces pieces = scanPieces(source, axis).value_or(ScanPieces());
  Shape shape = source.shape();
  shape[size_t(axis)] = source.oddShape()[size_t(axis)] * pieces.warps;
  Bases bases = source.bases();
  std::erase_if(bases[0], [&](const Coords &vector) { return vector[size_t(axis)] != 0; });
  for (In in : {In::Lane, In::Warp})
    for (Coords &vector : bases[static_cast<size_t>(in)])
      vector[size_t(axis)] /= pieces.piece; // a lane's step is below a piece
  return Layout::create(std::move(shape), std::move(bases)).value_or(Layout());
}

} // namespace tile::layout
