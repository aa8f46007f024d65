// The layouts the compiler starts from: blocked, coalesced, replicated. Each hands out the bits of
// every dimension, lowest first, to registers, lanes and warps in turn.
#include "ir/layout/Layout.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tile::layout {

static int log2Floor(int64_t value) {
  return value < 1 ? 0 : std::bit_width(static_cast<uint64_t>(value)) - 1;
}

namespace {

/// Deals the bits of a tile's dimensions.
class Dealer {
public:
  explicit Dealer(const Shape &shape) : shape_(shape), used_(shape.size(), 0) {}

  [[nodiscard]] int left(int dim) const {
    auto d = static_cast<size_t>(dim);
    return splitSize(shape_[d]).bits - used_[d];
  }

  /// Gives up to `count` bits of the dimension to `in`; returns how many there were.
  int deal(In in, int dim, int count) {
    auto d = static_cast<size_t>(dim);
    int given = std::min(count, left(dim));
    for (int i = 0; i < given; ++i) {
      Coords vector(shape_.size(), 0);
      vector[d] = int32_t(1) << used_[d]++;
      bases_[static_cast<size_t>(in)].push_back(std::move(vector));
    }
    return given;
  }

  /// Adds bits that only replicate.
  void replicate(In in, int count) {
    for (int i = 0; i < count; ++i)
      bases_[static_cast<size_t>(in)].emplace_back(shape_.size(), 0);
  }

  Layout finish() {
    std::optional<Layout> layout = Layout::create(shape_, std::move(bases_));
    assert(layout && "builders are called with shapes that tiles can have");
    return layout ? *std::move(layout) : Layout();
  }

private:
  const Shape &shape_;
  std::vector<int> used_;
  Bases bases_;
};

} // namespace

Layout Layout::blocked(const Shape &shape, const BlockedSpec &spec) {
  Dealer dealer(shape);
  auto at = [](const std::vector<int64_t> &values, int32_t dim) {
    return log2Floor(values[static_cast<size_t>(dim)]);
  };
  int lanesDealt = 0;
  for (int32_t dim : spec.order)
    dealer.deal(In::Register, dim, at(spec.sizePerThread, dim));
  for (int32_t dim : spec.order) {
    int wanted = std::min(at(spec.lanes, dim), kLaneBits - lanesDealt);
    dealer.replicate(In::Lane, wanted - dealer.deal(In::Lane, dim, wanted));
    lanesDealt += wanted;
  }
  dealer.replicate(In::Lane, kLaneBits - lanesDealt);
  for (int32_t dim : spec.order) {
    int wanted = at(spec.warps, dim);
    dealer.replicate(In::Warp, wanted - dealer.deal(In::Warp, dim, wanted));
  }
  for (int32_t dim : spec.order)
    dealer.deal(In::Register, dim, dealer.left(dim));
  return dealer.finish();
}

Layout Layout::coalesced(const Shape &shape, const std::vector<int32_t> &order,
                         int64_t elementsPerVector, int64_t numWarps) {
  int totalBits = 0;
  for (int64_t size : shape)
    totalBits += splitSize(size).bits;
  int warpBits = log2Floor(numWarps);
  int bitsPerThread = std::max(0, totalBits - kLaneBits - warpBits);
  int vectorBits = std::min(log2Floor(elementsPerVector), bitsPerThread);

  Dealer dealer(shape);
  auto dealAll = [&](In in, int wanted) {
    for (int32_t dim : order)
      wanted -= dealer.deal(in, dim, wanted);
    dealer.replicate(in, wanted);
  };
  if (!order.empty())
    dealer.deal(In::Register, order.front(), vectorBits);
  dealAll(In::Lane, kLaneBits);
  dealAll(In::Warp, warpBits);
  for (int32_t dim : order)
    dealer.deal(In::Register, dim, dealer.left(dim));
  return dealer.finish();
}

Layout Layout::replicated(const Shape &shape, int64_t numWarps) {
  Dealer dealer(shape);
  for (int dim = static_cast<int>(shape.size()); dim-- > 0;)
    dealer.deal(In::Register, dim, dealer.left(dim));
  dealer.replicate(In::Lane, kLaneBits);
  dealer.replicate(In::Warp, log2Floor(numWarps));
  return dealer.finish();
}

} // namespace tile::layout
