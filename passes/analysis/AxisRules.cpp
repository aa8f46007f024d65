#include "passes/analysis/AxisRules.h"

#include "ir/tile/TileDialect.h"

using namespace mlir;

namespace tile::passes {

// The least integer has no opposite, and its divisor no sign.
int64_t powerOfTwoDivisor(int64_t value) {
  constexpr auto kMost = static_cast<uint64_t>(axis::kMostDivisible);
  auto bits = static_cast<uint64_t>(value);
  return static_cast<int64_t>(bits == 0 ? kMost : std::min(bits & -bits, kMost));
}

namespace axis {

static ArrayRef<int64_t> shapeOrOne(Type type) {
  static const int64_t one[] = {1};
  auto shape = ir::shapeOf(type);
  return isa<RankedTensorType>(type) ? shape : ArrayRef<int64_t>(one);
}

AxisInfo unknown(Type type) {
  AxisInfo info;
  info.dims.resize(shapeOrOne(type).size());
  return info;
}

// All elements equal: constant along every dimension.
AxisInfo uniform(Type type, int64_t divisibility) {
  AxisInfo info;
  for (int64_t extent : shapeOrOne(type))
    info.dims.push_back({1, powerOfTwoDivisor(extent), divisibility});
  return info;
}

// The same values seen in runs of at most this length. Runs that start inside longer ones are
// divisible by less.
static AxisFacts cutRuns(AxisFacts facts, int64_t length) {
  if (facts.contiguity > length)
    facts = {length, facts.constancy, std::min(facts.divisibility, length)};
  return facts;
}

// What holds of both: for values that may be either.
AxisInfo meet(const AxisInfo &a, const AxisInfo &b) {
  AxisInfo info = a;
  for (auto [x, y] : llvm::zip_equal(info.dims, b.dims)) {
    AxisFacts other = cutRuns(y, x.contiguity);
    x = cutRuns(x, other.contiguity);
    x.constancy = std::min(x.constancy, other.constancy);
    x.divisibility = std::min(x.divisibility, other.divisibility);
  }
  return info;
}

// Each element comes from one of two tiles: runs end where the condition may change.
AxisInfo select(const AxisInfo &a, const AxisInfo &b, const AxisInfo *condition) {
  AxisInfo info = meet(a, b);
  for (size_t dim = 0; condition && dim < info.dims.size(); ++dim) {
    int64_t run = (*condition)[dim].constancy;
    info[dim] = cutRuns(info[dim], run);
    info[dim].constancy = std::min(info[dim].constancy, run);
  }
  return info;
}

// Another width of integer. A value can wrap around where runs of a length that divides their start
// begin, nowhere else.
AxisInfo resized(AxisInfo info, Type from, Type to, bool isSigned) {
  unsigned narrow = std::min(from.getIntOrFloatBitWidth(), to.getIntOrFloatBitWidth());
  bool keepsValues = isSigned && to.getIntOrFloatBitWidth() >= from.getIntOrFloatBitWidth();
  for (AxisFacts &facts : info.dims) {
    if (to.isInteger(1)) // x != 0
      facts = {1, facts.constancy, 1};
    else if (!keepsValues)
      facts = cutRuns(facts, std::min(facts.divisibility, int64_t(1) << std::min(narrow - 1, 30u)));
  }
  return info;
}

AxisInfo arange(int32_t start, int32_t end, AxisInfo info) {
  int64_t length = int64_t(end) - start, run = powerOfTwoDivisor(length);
  int64_t divisor = powerOfTwoDivisor(start);
  info[0] = {run, 1, run == length ? divisor : std::min(divisor, run)};
  return info;
}

// `offsets < bound`: within a run of consecutive offsets the answer can change only at a multiple
// of what divides both the run's start and the bound.
AxisInfo comparison(const AxisInfo &lhs, const AxisInfo &rhs, arith::CmpIPredicate predicate,
                    Type type) {
  using P = arith::CmpIPredicate;
  AxisInfo info = unknown(type);
  bool changesAtBound =
      predicate == P::slt || predicate == P::ult || predicate == P::sge || predicate == P::uge;
  for (size_t dim = 0; dim < info.dims.size(); ++dim) {
    const AxisFacts &a = lhs[dim], &b = rhs[dim];
    info[dim].constancy = std::min(a.constancy, b.constancy);
    if (changesAtBound && a.contiguity > 1)
      info[dim].constancy = std::min(
          {std::max(a.contiguity, int64_t(1)), a.divisibility, b.constancy, b.divisibility});
  }
  return info;
}

// What divides every element, as far as one dimension tells.
static int64_t divisorOfAll(const AxisInfo &info, ArrayRef<int64_t> shape) {
  int64_t divisor = 1;
  for (auto [facts, extent] : llvm::zip_equal(info.dims, shape))
    if (facts.contiguity == 1 || extent == 1)
      divisor = std::max(divisor, facts.divisibility);
  return divisor;
}

// Dimensions in row-major order as one: the runs of the innermost, and constant runs through as
// many dimensions as are constant throughout.
static AxisFacts flattened(const AxisInfo &info, ArrayRef<int64_t> shape, ArrayRef<size_t> dims) {
  if (dims.size() == 1)
    return info[dims[0]];
  AxisFacts flat = cutRuns(info[dims.back()], powerOfTwoDivisor(shape[dims.back()]));
  flat.constancy = 1;
  for (size_t dim : llvm::reverse(dims)) {
    int64_t run = std::min(info[dim].constancy, powerOfTwoDivisor(shape[dim]));
    flat.constancy *= run;
    if (run != shape[dim])
      break;
  }
  return flat;
}

// One dimension as several in row-major order: runs stay in the innermost; a step of another one
// passes over all elements of those behind it.
static void unflatten(AxisFacts flat, AxisInfo &info, ArrayRef<int64_t> shape,
                      ArrayRef<size_t> dims) {
  if (dims.size() == 1) {
    info[dims[0]] = flat;
    return;
  }
  info[dims.back()] = cutRuns(flat, powerOfTwoDivisor(shape[dims.back()]));
  for (size_t dim : llvm::reverse(dims)) {
    info[dim].constancy = std::min(flat.constancy, powerOfTwoDivisor(shape[dim]));
    flat.constancy = flat.constancy % shape[dim] == 0 ? flat.constancy / shape[dim] : 1;
  }
}

static SmallVector<size_t> dimsOfSeveral(ArrayRef<int64_t> shape) {
  SmallVector<size_t> dims;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent != 1)
      dims.push_back(dim);
  return dims;
}

// The same elements in row-major order under other extents. Dimensions are matched in the smallest
// groups that have the same number of elements on both sides; extents of one belong to none.
AxisInfo reshaped(const AxisInfo &from, ArrayRef<int64_t> fromShape, ArrayRef<int64_t> toShape) {
  AxisInfo info;
  info.dims.resize(toShape.size());
  SmallVector<size_t> sources = dimsOfSeveral(fromShape), targets = dimsOfSeveral(toShape);
  for (size_t s = 0, t = 0; s < sources.size();) {
    size_t sEnd = s, tEnd = t;
    int64_t sElements = fromShape[sources[sEnd++]], tElements = toShape[targets[tEnd++]];
    while (sElements != tElements)
      if (sElements < tElements)
        sElements *= fromShape[sources[sEnd++]];
      else
        tElements *= toShape[targets[tEnd++]];
    unflatten(flattened(from, fromShape, ArrayRef(sources).slice(s, sEnd - s)), info, toShape,
              ArrayRef(targets).slice(t, tEnd - t));
    s = sEnd, t = tEnd;
  }
  int64_t divisor = divisorOfAll(from, fromShape);
  for (AxisFacts &facts : info.dims)
    facts.divisibility = std::max(facts.divisibility, divisor);
  return info;
}

} // namespace axis

} // namespace tile::passes
