#include "ops/Overlap.h"

#include <algorithm>

namespace tile::ops {
namespace {

/// Elements in bytes: where the first begins, and steps, the longest first.
class Lattice {
public:
  explicit Lattice(const Operand &x)
      : begin_(reinterpret_cast<intptr_t>(x.data())),
        size_(static_cast<int64_t>(sizeOf(x.dtype()))) {
    for (int dim = 0; dim < x.rank(); ++dim)
      if (x.extent(dim) > 1 && x.stride(dim) != 0)
        add(x.stride(dim) * size_, x.extent(dim));
    std::sort(steps_, steps_ + count_,
              [](const Step &a, const Step &b) { return a.bytes > b.bytes; });
  }

  Bytes bytes() const {
    int64_t reach = size_;
    for (int i = 0; i < count_; ++i)
      reach += (steps_[i].extent - 1) * steps_[i].bytes;
    return {begin_, begin_ + reach};
  }
  bool isOne() const { return count_ == 0; }
  /// Both halves along the longest step.
  std::pair<Lattice, Lattice> halves() const {
    std::pair<Lattice, Lattice> result = {*this, *this};
    int64_t half = steps_[0].extent / 2;
    result.first.cut(half);
    result.second.begin_ += half * steps_[0].bytes;
    result.second.cut(steps_[0].extent - half);
    return result;
  }

  /// Modulo `period` all elements lie in one interval, whose beginning and size this returns; size 0 if they do not.
  std::pair<int64_t, int64_t> within(int64_t period) const {
    int64_t reach = size_;
    for (int i = 0; i < count_ && reach <= period; ++i)
      if (steps_[i].bytes % period != 0)
        reach += (steps_[i].extent - 1) * steps_[i].bytes;
    int64_t begin = begin_ % period;
    return {begin < 0 ? begin + period : begin, reach <= period ? reach : 0};
  }
  std::span<const int64_t> periods() const { return {periods_, static_cast<size_t>(count_)}; }

private:
  struct Step {
    int64_t bytes, extent;
  };
  /// A negative step runs the other way from the last.
  void add(int64_t bytes, int64_t extent) {
    if (bytes < 0)
      begin_ += (extent - 1) * bytes, bytes = -bytes;
    periods_[count_] = bytes;
    steps_[count_++] = {bytes, extent};
  }
  void cut(int64_t extent) {
    steps_[0].extent = extent;
    if (extent > 1)
      return;
    std::copy(steps_ + 1, steps_ + count_, steps_);
    --count_;
  }

  intptr_t begin_;
  int64_t size_, periods_[kMaxRank] = {};
  Step steps_[kMaxRank];
  int count_ = 0;
};

/// Whether both keep to intervals of their own modulo some step, as columns of one matrix do, or what lies in slots of one
/// arena.
bool arePeriodicallyApart(const Lattice &a, const Lattice &b) {
  for (const Lattice *of : {&a, &b})
    for (int64_t period : of->periods()) {
      auto [beginA, sizeA] = a.within(period);
      auto [beginB, sizeB] = b.within(period);
      int64_t distance = beginB < beginA ? beginB - beginA + period : beginB - beginA;
      if (sizeA > 0 && sizeB > 0 && distance >= sizeA && distance + sizeB <= period)
        return true;
    }
  return false;
}

/// Whether some elements meet, by halving what spans more until ranges of bytes are apart. `budget` counts comparisons; when
/// it is spent they are said to meet.
bool elementsMeet(const Lattice &a, const Lattice &b, int &budget) {
  Bytes ofA = a.bytes(), ofB = b.bytes();
  if (!meet(ofA, ofB))
    return false;
  if (--budget < 0 || (a.isOne() && b.isOne()))
    return true;
  bool splitsA = !a.isOne() && (b.isOne() || ofA.last - ofA.first >= ofB.last - ofB.first);
  auto [first, second] = (splitsA ? a : b).halves();
  const Lattice &other = splitsA ? b : a;
  return elementsMeet(first, other, budget) || elementsMeet(second, other, budget);
}

constexpr int kMostComparisons = 4096;

} // namespace

Bytes bytesOf(const Operand &operand) { return Lattice(operand).bytes(); }

bool overlap(const Operand &first, const Operand &second) {
  if (first.numel() == 0 || second.numel() == 0)
    return false;
  Lattice a(first), b(second);
  int budget = kMostComparisons;
  return meet(a.bytes(), b.bytes()) && !arePeriodicallyApart(a, b) && elementsMeet(a, b, budget);
}

} // namespace tile::ops
