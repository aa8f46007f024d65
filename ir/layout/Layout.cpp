// Queries of a layout, all by way of its flat GF(2) map.
#include "ir/layout/Layout.h"

#include <bit>
#include <cassert>

namespace tile::layout {

static constexpr int64_t kMaxElements = int64_t(1) << 30;
static constexpr size_t kMaxBitsOfAKind = 24;

SizeParts splitSize(int64_t size) {
  assert(size >= 1 && "tile dimensions are positive");
  int bits = std::countr_zero(static_cast<uint64_t>(size));
  return {bits, size >> bits};
}

static Refusal whyNoShape(const Shape &shape) {
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (size < 1 || size > kMaxElements)
      return "dimension of size " + std::to_string(size) + " is not in 1..2^30";
    elements *= size;
    if (elements > kMaxElements)
      return "tile has more than 2^30 elements";
  }
  return {};
}

static Refusal whyNoBasis(const Shape &shape, const Coords &vector) {
  if (vector.size() != shape.size())
    return "basis vector has " + std::to_string(vector.size()) +
           " coordinates for a tile of rank " + std::to_string(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t linearSize = int64_t(1) << splitSize(shape[d]).bits;
    if (vector[d] < 0 || vector[d] >= linearSize)
      return "basis coordinate " + std::to_string(vector[d]) + " of dimension " +
             std::to_string(d) + " is not below " + std::to_string(linearSize) +
             ", the power-of-two part of " + std::to_string(shape[d]);
  }
  return {};
}

std::optional<Layout> Layout::create(Shape shape, Bases bases, Refusal *why) {
  if (Refusal noShape = whyNoShape(shape))
    return refuse(why, std::move(noShape));
  for (const std::vector<Coords> &vectors : bases) {
    if (vectors.size() > kMaxBitsOfAKind)
      return refuse(why, "more than 24 basis vectors of one kind");
    for (const Coords &vector : vectors)
      if (Refusal noBasis = whyNoBasis(shape, vector))
        return refuse(why, std::move(noBasis));
  }
  Layout result;
  result.dims_ = std::move(shape);
  result.basis_ = std::move(bases);
  for (int64_t size : result.dims_)
    result.parts_.push_back(splitSize(size));
  for (size_t in = 0; in < kNumIns; ++in) {
    std::vector<uint64_t> columns;
    for (const Coords &vector : result.basis_[in])
      columns.push_back(result.flatten(vector));
    result.flat_[in] = LinearMap(std::move(columns));
  }
  return result;
}

std::vector<int> Layout::linearBits() const {
  std::vector<int> result;
  for (const SizeParts &size : parts_)
    result.push_back(size.bits);
  return result;
}

Shape Layout::pow2Shape() const {
  Shape result;
  for (const SizeParts &size : parts_)
    result.push_back(int64_t(1) << size.bits);
  return result;
}

Shape Layout::oddShape() const {
  Shape result;
  for (const SizeParts &size : parts_)
    result.push_back(size.odd);
  return result;
}

int32_t Layout::oddCount() const {
  int64_t product = 1;
  for (const SizeParts &size : parts_)
    product *= size.odd;
  return static_cast<int32_t>(product);
}

Coords Layout::applyLinear(In in, int32_t value) const {
  return unflatten(flatMap(in).apply(static_cast<uint32_t>(value)));
}

Coords Layout::oddOffset(int32_t reg) const {
  Coords result(dims_.size(), 0);
  int64_t index = reg >> registerBits();
  for (size_t d = dims_.size(); d-- > 0 && index != 0;) {
    result[d] = static_cast<int32_t>(index % parts_[d].odd << parts_[d].bits);
    index /= parts_[d].odd;
  }
  return result;
}

uint64_t Layout::threadPart(int32_t lane, int32_t warp, int32_t block) const {
  return flatMap(In::Lane).apply(static_cast<uint32_t>(lane)) ^
         flatMap(In::Warp).apply(static_cast<uint32_t>(warp)) ^
         flatMap(In::Block).apply(static_cast<uint32_t>(block));
}

Coords Layout::apply(int32_t reg, int32_t lane, int32_t warp, int32_t block) const {
  Coords result = oddOffset(reg);
  uint64_t word =
      flatMap(In::Register).apply(static_cast<uint32_t>(reg)) ^ threadPart(lane, warp, block);
  for (size_t d = dims_.size(); d-- > 0;) {
    result[d] += static_cast<int32_t>(word & ((uint64_t(1) << parts_[d].bits) - 1));
    word >>= parts_[d].bits;
  }
  return result;
}

int Layout::flatBits() const {
  int total = 0;
  for (const SizeParts &size : parts_)
    total += size.bits;
  return total;
}

uint64_t Layout::flatten(const Coords &linearCoords) const {
  uint64_t word = 0;
  for (size_t d = 0; d < dims_.size(); ++d)
    word = word << parts_[d].bits | static_cast<uint64_t>(linearCoords[d]);
  return word;
}

Coords Layout::unflatten(uint64_t word) const {
  Coords result(dims_.size(), 0);
  for (size_t d = dims_.size(); d-- > 0;) {
    result[d] = static_cast<int32_t>(word & ((uint64_t(1) << parts_[d].bits) - 1));
    word >>= parts_[d].bits;
  }
  return result;
}

LinearMap Layout::flatMap() const {
  std::vector<uint64_t> columns;
  for (const LinearMap &map : flat_)
    columns.insert(columns.end(), map.columns().begin(), map.columns().end());
  return LinearMap(std::move(columns));
}

std::optional<Layout::CoordParts> Layout::splitCoords(const Coords &coords) const {
  if (coords.size() != dims_.size())
    return std::nullopt;
  CoordParts result{0, 0};
  for (size_t d = 0; d < dims_.size(); ++d) {
    if (coords[d] < 0 || coords[d] >= dims_[d])
      return std::nullopt;
    result.oddIndex =
        static_cast<int32_t>(result.oddIndex * parts_[d].odd + (coords[d] >> parts_[d].bits));
    uint64_t low = static_cast<uint64_t>(coords[d]) & ((uint64_t(1) << parts_[d].bits) - 1);
    result.linear = result.linear << parts_[d].bits | low;
  }
  return result;
}

std::optional<Place> Layout::locate(const Coords &coords) const {
  std::optional<CoordParts> element = splitCoords(coords);
  if (!element)
    return std::nullopt;
  std::optional<uint64_t> inputs = flatMap().solve(element->linear);
  if (!inputs)
    return std::nullopt;
  auto take = [&](int count) {
    auto value = static_cast<int32_t>(*inputs & ((uint64_t(1) << count) - 1));
    *inputs >>= count;
    return value;
  };
  Place place;
  place.reg = take(registerBits()) | element->oddIndex << registerBits();
  place.lane = take(laneBits());
  place.warp = take(warpBits());
  place.block = take(blockBits());
  return place;
}

std::optional<int32_t> Layout::registerAt(const Coords &coords, int32_t lane, int32_t warp,
                                          int32_t block) const {
  std::optional<CoordParts> element = splitCoords(coords);
  if (!element)
    return std::nullopt;
  std::optional<uint64_t> reg =
      flatMap(In::Register).solve(element->linear ^ threadPart(lane, warp, block));
  if (!reg)
    return std::nullopt;
  return static_cast<int32_t>(*reg) | element->oddIndex << registerBits();
}

bool Layout::isSurjective() const { return flatMap().isSurjective(flatBits()); }
bool Layout::isInjective() const { return flatMap().isInjective(); }

uint32_t Layout::freeMask(In in) const {
  uint64_t redundant = flatMap().redundantInputs();
  for (int before = 0; before < static_cast<int>(in); ++before)
    redundant >>= basis_[static_cast<size_t>(before)].size();
  return static_cast<uint32_t>(redundant & ((uint64_t(1) << bits(in)) - 1));
}

uint32_t Layout::bitsAlong(In in, int dim) const {
  uint32_t mask = 0;
  for (size_t bit = 0; bit < bases(in).size(); ++bit)
    if (bases(in)[bit][static_cast<size_t>(dim)] != 0)
      mask |= uint32_t(1) << bit;
  return mask;
}

int32_t Layout::consecutiveElements(int dim) const {
  auto d = static_cast<size_t>(dim);
  int run = 0;
  for (const Coords &vector : bases(In::Register)) {
    Coords unit(dims_.size(), 0);
    unit[d] = int32_t(1) << run;
    if (vector != unit)
      break;
    ++run;
  }
  // Another bit that flips a coordinate inside the run would turn the order around in some threads.
  uint32_t others = 0;
  for (int in = 0; in < kNumIns; ++in)
    for (size_t bit = in == 0 ? static_cast<size_t>(run) : 0;
         bit < basis_[static_cast<size_t>(in)].size(); ++bit)
      others |= static_cast<uint32_t>(basis_[static_cast<size_t>(in)][bit][d]);
  if (others != 0)
    run = std::min(run, std::countr_zero(others));
  return int32_t(1) << run;
}

std::string Layout::toString() const {
  std::string text;
  for (size_t d = 0; d < dims_.size(); ++d)
    text += (d ? "x" : "") + std::to_string(dims_[d]);
  static constexpr const char *names[kNumIns] = {"register", "lane", "warp", "block"};
  for (size_t in = 0; in < kNumIns; ++in) {
    if (in == static_cast<size_t>(In::Block) && basis_[in].empty())
      continue;
    text += std::string(text.empty() ? "" : " ") + names[in] + "[";
    for (size_t bit = 0; bit < basis_[in].size(); ++bit) {
      text += bit ? " (" : "(";
      for (size_t d = 0; d < dims_.size(); ++d)
        text += (d ? "," : "") + std::to_string(basis_[in][bit][d]);
      text += ")";
    }
    text += "]";
  }
  return text;
}

} // namespace tile::layout
