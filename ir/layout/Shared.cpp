// Construction and evaluation of shared-memory layouts.
#include "ir/layout/Shared.h"

#include "ir/layout/Log2.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tile::layout {

std::optional<SharedLayout> SharedLayout::create(Shape shape, std::vector<int> panelBits,
                                                 LinearMap linear,
                                                 std::vector<int64_t> digitStrides, Refusal *why) {
  if (panelBits.size() != shape.size() || digitStrides.size() != shape.size())
    return refuse(why, "a shared layout needs panel bits and a digit stride for each dimension");
  int total = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 1 || panelBits[d] < 0 || panelBits[d] > 30 || digitStrides[d] < 0)
      return refuse(why,
                    "a shared layout needs positive sizes, 0 to 30 panel bits and strides >= 0");
    total += panelBits[d];
  }
  if (linear.numInputs() != total)
    return refuse(why, "the linear part of a shared layout needs one column for each panel bit");
  if (!linear.isInjective())
    return refuse(why, "the linear part of a shared layout puts two elements at one offset");
  SharedLayout result;
  result.dims_ = std::move(shape);
  result.panel_ = std::move(panelBits);
  result.map_ = std::move(linear);
  result.strides_ = std::move(digitStrides);
  // A digit that is always 0 has no stride: equal layouts compare equal.
  for (size_t d = 0; d < result.dims_.size(); ++d)
    if (result.dims_[d] <= int64_t(1) << result.panel_[d])
      result.strides_[d] = 0;
  return result;
}

namespace {

/// Collects columns per dimension and bit, then strings them into the flat order.
class Columns {
public:
  explicit Columns(const std::vector<int> &panelBits) : columns_(panelBits.size()) {
    for (size_t d = 0; d < panelBits.size(); ++d)
      columns_[d].resize(static_cast<size_t>(panelBits[d]));
  }
  uint64_t &at(int32_t dim, int bit) {
    return columns_[static_cast<size_t>(dim)][static_cast<size_t>(bit)];
  }
  [[nodiscard]] LinearMap flat() const {
    std::vector<uint64_t> result;
    for (size_t d = columns_.size(); d-- > 0;)
      result.insert(result.end(), columns_[d].begin(), columns_[d].end());
    return LinearMap(std::move(result));
  }

private:
  std::vector<std::vector<uint64_t>> columns_;
};

/// XORs the 16-byte chunk number within a row (of at most 128 bytes) with the number of the
/// 128-byte line.
struct Swizzle {
  int chunkBits = 0;    // how many chunk bits take part
  int phaseShift = 0;   // rows per 128-byte line, log2
  int elementShift = 0; // elements per chunk, log2
  int rotation = 0;     // the chunk bit that the lowest bit of the line's number goes to

  static Swizzle forRow(int64_t rowBytes, int elementBytes, int rotation) {
    int chunks = log2Of(rowBytes / 16);
    if (rowBytes < 32)
      return {};
    return {std::min(chunks, 3), std::max(0, 3 - chunks), log2Of(16 / elementBytes), rotation};
  }
  [[nodiscard]] uint64_t toggles(int rowBit) const {
    int chunkBit = rowBit - phaseShift;
    bool takesPart = chunkBit >= 0 && chunkBit < chunkBits;
    return takesPart ? uint64_t(1) << (elementShift + (chunkBit + rotation) % chunkBits) : 0;
  }
};

} // namespace

/// Row-major with the given panels and swizzle, digits outermost.
static SharedLayout buildRowMajor(const Shape &shape, const std::vector<int32_t> &order,
                                  std::vector<int> panelBits, Swizzle swizzle) {
  Columns columns(panelBits);
  int addressBit = 0;
  int rowBits = order.empty() ? 0 : panelBits[static_cast<size_t>(order.front())];
  for (int32_t dim : order) {
    for (int bit = 0; bit < panelBits[static_cast<size_t>(dim)]; ++bit, ++addressBit) {
      bool isRow = dim != order.front();
      uint64_t toggles = isRow ? swizzle.toggles(addressBit - rowBits) : 0;
      columns.at(dim, bit) = uint64_t(1) << addressBit | toggles;
    }
  }
  std::vector<int64_t> strides(shape.size(), 0);
  int64_t stride = int64_t(1) << addressBit;
  for (int32_t dim : order) {
    auto d = static_cast<size_t>(dim);
    int64_t panelSize = int64_t(1) << panelBits[d];
    strides[d] = stride;
    stride *= (shape[d] + panelSize - 1) / panelSize;
  }
  std::optional<SharedLayout> result =
      SharedLayout::create(shape, std::move(panelBits), columns.flat(), std::move(strides));
  assert(result && "row-major shared layouts are well formed");
  return result ? *std::move(result) : SharedLayout();
}

static std::vector<int> naturalPanels(const Shape &shape) {
  std::vector<int> bits;
  for (int64_t size : shape)
    bits.push_back(splitSize(size).bits);
  return bits;
}

SharedLayout SharedLayout::rowMajor(const Shape &shape, const std::vector<int32_t> &order) {
  return buildRowMajor(shape, order, naturalPanels(shape), {});
}

SharedLayout SharedLayout::swizzled(const Shape &shape, const std::vector<int32_t> &order,
                                    int elementBytes, int64_t minRowBytes, int rotation) {
  std::vector<int> panelBits = naturalPanels(shape);
  if (order.empty())
    return buildRowMajor(shape, order, std::move(panelBits), {});
  auto inner = static_cast<size_t>(order.front());
  bool hasOddPart = splitSize(shape[inner]).odd > 1;
  if (hasOddPart)
    panelBits[inner] = std::max(panelBits[inner], log2Of(minRowBytes / elementBytes));
  int64_t rowBytes = int64_t(elementBytes) << panelBits[inner];
  return buildRowMajor(shape, order, std::move(panelBits),
                       Swizzle::forRow(rowBytes, elementBytes, rotation));
}

namespace {

/// Lays out the rows of a TMA box one after the other: linear bits until the first odd factor,
/// digits from there.
struct TmaRows {
  std::vector<int> panelBits;
  std::vector<int64_t> strides;
  int64_t elements; // of the rows so far

  TmaRows(size_t rank, int64_t boxColumns)
      : panelBits(rank, 0), strides(rank, 0), elements(boxColumns) {}

  void append(size_t dim, int64_t size) {
    bool isPowerOfTwo = (elements & (elements - 1)) == 0;
    panelBits[dim] = isPowerOfTwo ? splitSize(size).bits : 0;
    strides[dim] = elements << panelBits[dim];
    elements *= size;
  }
};

} // namespace

/// Why TMA does not write such a layout.
static Refusal refuseTma(const Shape &shape, const std::vector<int32_t> &order, int elementBytes,
                         int swizzleBytes, int64_t boxColumns, const TmaRows &rows) {
  int64_t patternBytes = 8 * int64_t(swizzleBytes);
  auto inner = static_cast<size_t>(order.front());
  if (swizzleBytes == 0)
    return {};
  for (size_t i = 1; i < order.size(); ++i) {
    auto d = static_cast<size_t>(order[i]);
    bool hasDigit = shape[d] >> rows.panelBits[d] > 1;
    if (hasDigit && rows.strides[d] * elementBytes % patternBytes != 0)
      return "dimension of size " + std::to_string(shape[d]) +
             " repeats within one swizzle pattern of " + std::to_string(patternBytes) + " bytes";
  }
  if (shape[inner] > boxColumns && rows.elements * elementBytes % patternBytes != 0)
    return "a box of " + std::to_string(rows.elements * elementBytes) +
           " bytes is not a whole number of swizzle patterns of " + std::to_string(patternBytes) +
           " bytes";
  return {};
}

std::optional<SharedLayout> SharedLayout::tma(const Shape &shape, const std::vector<int32_t> &order,
                                              int elementBytes, int swizzleBytes, Refusal *why) {
  bool knownMode = std::ranges::count(kTmaSwizzles, swizzleBytes) != 0;
  if (!knownMode || order.size() != shape.size() || order.empty())
    return refuse(why, "TMA swizzles are 0, 32, 64 or 128 bytes on tiles of rank 1 and more");
  auto inner = static_cast<size_t>(order.front());
  int64_t boxColumns = swizzleBytes ? swizzleBytes / elementBytes : shape[inner];
  if (shape[inner] % boxColumns != 0)
    return refuse(why, "the fastest dimension, " + std::to_string(shape[inner]) +
                           ", is not a multiple of the box's " + std::to_string(boxColumns) +
                           " elements");
  TmaRows rows(shape.size(), boxColumns);
  for (size_t i = 1; i < order.size(); ++i)
    rows.append(static_cast<size_t>(order[i]), shape[static_cast<size_t>(order[i])]);
  if (Refusal noTma = refuseTma(shape, order, elementBytes, swizzleBytes, boxColumns, rows))
    return refuse(why, std::move(noTma));

  // A box of odd width is one box: its odd digit continues the row. Otherwise boxes follow boxes.
  int columnBits = splitSize(boxColumns).bits;
  bool isOddBox = splitSize(boxColumns).odd > 1;
  rows.panelBits[inner] = columnBits;
  rows.strides[inner] = isOddBox ? int64_t(1) << columnBits : rows.elements;
  Swizzle swizzle = Swizzle::forRow(swizzleBytes, elementBytes, 0);
  Columns columns(rows.panelBits);
  for (int bit = 0; bit < columnBits; ++bit)
    columns.at(order.front(), bit) = uint64_t(1) << bit;
  int rowBit = 0;
  for (size_t i = 1; i < order.size(); ++i) {
    auto d = static_cast<size_t>(order[i]);
    int firstAddressBit = log2Of(rows.strides[d]) - rows.panelBits[d];
    for (int bit = 0; bit < rows.panelBits[d]; ++bit, ++rowBit)
      columns.at(order[i], bit) = uint64_t(1) << (firstAddressBit + bit) | swizzle.toggles(rowBit);
  }
  return create(shape, std::move(rows.panelBits), columns.flat(), std::move(rows.strides), why);
}

SharedLayout::Parts SharedLayout::offsetParts(const Coords &coords) const {
  uint64_t flat = 0;
  int64_t addend = 0;
  for (size_t d = 0; d < dims_.size(); ++d) {
    uint64_t low = static_cast<uint64_t>(coords[d]) & ((uint64_t(1) << panel_[d]) - 1);
    flat = flat << panel_[d] | low;
    addend += (coords[d] >> panel_[d]) * strides_[d];
  }
  return {static_cast<int64_t>(map_.apply(flat)), addend};
}

int64_t SharedLayout::offset(const Coords &coords) const {
  Parts parts = offsetParts(coords);
  return parts.toggle + parts.addend;
}

int64_t SharedLayout::numElements() const {
  uint64_t used = 0;
  for (uint64_t column : map_.columns())
    used |= column;
  int64_t last = (int64_t(1) << std::bit_width(used)) - 1;
  for (size_t d = 0; d < dims_.size(); ++d)
    last += ((dims_[d] - 1) >> panel_[d]) * strides_[d];
  return last + 1;
}

bool SharedLayout::isLinear() const {
  for (size_t d = 0; d < dims_.size(); ++d)
    if (splitSize(dims_[d]).bits > panel_[d])
      return false;
  return true;
}

SharedLayout SharedLayout::permuted(const std::vector<int32_t> &order) const {
  assert(order.size() == dims_.size() && "one entry per dimension");
  Columns own(panel_);
  size_t next = 0;
  for (size_t d = dims_.size(); d-- > 0;)
    for (int bit = 0; bit < panel_[d]; ++bit)
      own.at(static_cast<int32_t>(d), bit) = map_.columns()[next++];
  SharedLayout result;
  for (int32_t dim : order) {
    auto d = static_cast<size_t>(dim);
    result.dims_.push_back(dims_[d]);
    result.panel_.push_back(panel_[d]);
    result.strides_.push_back(strides_[d]);
  }
  Columns moved(result.panel_);
  for (size_t i = 0; i < order.size(); ++i)
    for (int bit = 0; bit < result.panel_[i]; ++bit)
      moved.at(static_cast<int32_t>(i), bit) = own.at(order[i], bit);
  result.map_ = moved.flat();
  return result;
}

SharedLayout SharedLayout::leadingPart(const Shape &part) const {
  std::optional<SharedLayout> result = create(part, panel_, map_, strides_);
  assert(result && "a part of a well formed layout is one");
  return result ? *std::move(result) : SharedLayout();
}

std::string SharedLayout::toString() const {
  std::string text;
  auto list = [&](const char *name, const auto &values) {
    text += std::string(" ") + name + "[";
    for (size_t i = 0; i < values.size(); ++i)
      text += (i ? " " : "") + std::to_string(values[i]);
    text += "]";
  };
  for (size_t d = 0; d < dims_.size(); ++d)
    text += (d ? "x" : "") + std::to_string(dims_[d]);
  list("panel", panel_);
  list("linear", map_.columns());
  list("digits", strides_);
  return text;
}

} // namespace tile::layout
