// Queries of a layout, all by way of its flat GF(2) map.
#include "ir/layout/Layout.h"

#include <bit>
#include <cassert>

namespace tile::layout {

static constexpr int kMaxFlatBits = 62;

SizeParts splitSize(int64_t size) {
  assert(size >= 1 && "tile dimensions are positive");
  int bits = std::countr_zero(static_cast<uint64_t>(size));
  return {bits, size >> bits};
}

static bool refuse(std::string *why, std::string reason) {
  if (why)
    *why = std::move(reason);
  return false;
}

static bool checkShape(const Shape &shape, std::string *why) {
  int total = 0;
  for (int64_t size : shape) {
    if (size < 1 || size > (int64_t(1) << 30))
      return refuse(why, "dimension of size " + std::to_string(size) + " is not in 1..2^30");
    total += splitSize(size).bits;
  }
  if (total > kMaxFlatBits)
    return refuse(why, "tile has more than 2^62 elements");
  return true;
}

static bool checkBasis(const Shape &shape, const Coords &vector, std::string *why) {
  if (vector.size() != shape.size())
    return refuse(why, "basis vector has " + std::to_string(vector.size()) +
                           " coordinates for a tile of rank " + std::to_string(shape.size()));
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t linearSize = int64_t(1) << splitSize(shape[d]).bits;
    if (vector[d] < 0 || vector[d] >= linearSize)
      return refuse(why, "basis coordinate " + std::to_string(vector[d]) + " of dimension " +
                             std::to_string(d) + " is not below " + std::to_string(linearSize) +
                             ", the power-of-two part of " + std::to_string(shape[d]));
  }
  return true;
}

std::optional<Layout> Layout::create(Shape shape, Bases bases, std::string *why) {
  if (!checkShape(shape, why))
    return std::nullopt;
  for (const std::vector<Coords> &vectors : bases) {
    if (vectors.size() > 24) {
      refuse(why, "more than 24 basis vectors of one kind");
      return std::nullopt;
    }
    for (const Coords &vector : vectors)
      if (!checkBasis(shape, vector, why))
        return std::nullopt;
  }
  Layout result;
  result.dims = std::move(shape);
  result.basis = std::move(bases);
  return result;
}

std::vector<int> Layout::linearBits() const {
  std::vector<int> result;
  for (int64_t size : dims)
    result.push_back(splitSize(size).bits);
  return result;
}

Shape Layout::pow2Shape() const {
  Shape result;
  for (int64_t size : dims)
    result.push_back(int64_t(1) << splitSize(size).bits);
  return result;
}

Shape Layout::oddShape() const {
  Shape result;
  for (int64_t size : dims)
    result.push_back(splitSize(size).odd);
  return result;
}

int32_t Layout::oddCount() const {
  int64_t product = 1;
  for (int64_t size : dims)
    product *= splitSize(size).odd;
  return static_cast<int32_t>(product);
}

Coords Layout::applyLinear(In in, int32_t value) const {
  Coords result(dims.size(), 0);
  const std::vector<Coords> &vectors = bases(in);
  for (size_t bit = 0; bit < vectors.size(); ++bit)
    if (value >> bit & 1)
      for (size_t d = 0; d < dims.size(); ++d)
        result[d] ^= vectors[bit][d];
  return result;
}

Coords Layout::oddOffset(int32_t reg) const {
  Coords result(dims.size(), 0);
  int64_t index = reg >> registerBits();
  for (size_t d = dims.size(); d-- > 0;) {
    SizeParts size = splitSize(dims[d]);
    result[d] = static_cast<int32_t>(index % size.odd << size.bits);
    index /= size.odd;
  }
  return result;
}

Coords Layout::apply(int32_t reg, int32_t lane, int32_t warp, int32_t block) const {
  Coords result = oddOffset(reg);
  const int32_t values[kNumIns] = {reg, lane, warp, block};
  Coords linear(dims.size(), 0);
  for (int in = 0; in < kNumIns; ++in) {
    const std::vector<Coords> &vectors = basis[static_cast<size_t>(in)];
    for (size_t bit = 0; bit < vectors.size(); ++bit)
      if (values[in] >> bit & 1)
        for (size_t d = 0; d < dims.size(); ++d)
          linear[d] ^= vectors[bit][d];
  }
  for (size_t d = 0; d < dims.size(); ++d)
    result[d] += linear[d];
  return result;
}

int Layout::flatBits() const {
  int total = 0;
  for (int64_t size : dims)
    total += splitSize(size).bits;
  return total;
}

uint64_t Layout::flatten(const Coords &linearCoords) const {
  uint64_t flat = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    flat = flat << splitSize(dims[d]).bits | static_cast<uint64_t>(linearCoords[d]);
  return flat;
}

Coords Layout::unflatten(uint64_t flat) const {
  Coords result(dims.size(), 0);
  for (size_t d = dims.size(); d-- > 0;) {
    int bits = splitSize(dims[d]).bits;
    result[d] = static_cast<int32_t>(flat & ((uint64_t(1) << bits) - 1));
    flat >>= bits;
  }
  return result;
}

LinearMap Layout::flatMap(In in) const {
  std::vector<uint64_t> columns;
  for (const Coords &vector : bases(in))
    columns.push_back(flatten(vector));
  return LinearMap(std::move(columns));
}

LinearMap Layout::flatMap() const {
  std::vector<uint64_t> columns;
  for (const std::vector<Coords> &vectors : basis)
    for (const Coords &vector : vectors)
      columns.push_back(flatten(vector));
  return LinearMap(std::move(columns));
}

/// Splits coordinates into the odd index and the flat linear word; nothing if they lie outside.
static std::optional<std::pair<int32_t, uint64_t>> splitCoords(const Shape &shape,
                                                               const Coords &coords) {
  if (coords.size() != shape.size())
    return std::nullopt;
  int64_t oddIndex = 0;
  uint64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (coords[d] < 0 || coords[d] >= shape[d])
      return std::nullopt;
    SizeParts size = splitSize(shape[d]);
    oddIndex = oddIndex * size.odd + (coords[d] >> size.bits);
    uint64_t low = static_cast<uint64_t>(coords[d]) & ((uint64_t(1) << size.bits) - 1);
    flat = flat << size.bits | low;
  }
  return std::pair(static_cast<int32_t>(oddIndex), flat);
}

std::optional<Place> Layout::locate(const Coords &coords) const {
  auto parts = splitCoords(dims, coords);
  if (!parts)
    return std::nullopt;
  std::optional<uint64_t> inputs = flatMap().solve(parts->second);
  if (!inputs)
    return std::nullopt;
  auto take = [&](int count) {
    auto value = static_cast<int32_t>(*inputs & ((uint64_t(1) << count) - 1));
    *inputs >>= count;
    return value;
  };
  Place place;
  place.reg = take(registerBits()) | parts->first << registerBits();
  place.lane = take(laneBits());
  place.warp = take(warpBits());
  place.block = take(blockBits());
  return place;
}

std::optional<int32_t> Layout::registerAt(const Coords &coords, int32_t lane, int32_t warp,
                                          int32_t block) const {
  auto parts = splitCoords(dims, coords);
  if (!parts)
    return std::nullopt;
  uint64_t threadPart = flatMap(In::Lane).apply(static_cast<uint32_t>(lane)) ^
                        flatMap(In::Warp).apply(static_cast<uint32_t>(warp)) ^
                        flatMap(In::Block).apply(static_cast<uint32_t>(block));
  std::optional<uint64_t> reg = flatMap(In::Register).solve(parts->second ^ threadPart);
  if (!reg)
    return std::nullopt;
  return static_cast<int32_t>(*reg) | parts->first << registerBits();
}

bool Layout::isSurjective() const { return flatMap().isSurjective(flatBits()); }
bool Layout::isInjective() const { return flatMap().isInjective(); }

uint32_t Layout::freeMask(In in) const {
  uint64_t redundant = flatMap().redundantInputs();
  for (int before = 0; before < static_cast<int>(in); ++before)
    redundant >>= basis[static_cast<size_t>(before)].size();
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
    Coords unit(dims.size(), 0);
    unit[d] = int32_t(1) << run;
    if (vector != unit)
      break;
    ++run;
  }
  // Another bit that flips a coordinate inside the run would turn the order around in some threads.
  uint32_t others = 0;
  for (int in = 0; in < kNumIns; ++in)
    for (size_t bit = in == 0 ? static_cast<size_t>(run) : 0; bit < basis[static_cast<size_t>(in)].size(); ++bit)
      others |= static_cast<uint32_t>(basis[static_cast<size_t>(in)][bit][d]);
  if (others != 0)
    run = std::min(run, std::countr_zero(others));
  return int32_t(1) << run;
}

std::string Layout::toString() const {
  std::string text;
  for (size_t d = 0; d < dims.size(); ++d)
    text += (d ? "x" : "") + std::to_string(dims[d]);
  static constexpr const char *names[kNumIns] = {"register", "lane", "warp", "block"};
  for (size_t in = 0; in < kNumIns; ++in) {
    if (in == static_cast<size_t>(In::Block) && basis[in].empty())
      continue;
    text += std::string(text.empty() ? "" : " ") + names[in] + "[";
    for (size_t bit = 0; bit < basis[in].size(); ++bit) {
      text += bit ? " (" : "(";
      for (size_t d = 0; d < dims.size(); ++d)
        text += (d ? "," : "") + std::to_string(basis[in][bit][d]);
      text += ")";
    }
    text += "]";
  }
  return text;
}

} // namespace tile::layout
