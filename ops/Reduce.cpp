// Reductions: any tensor is a matrix of at most two kept and two reduced dimensions, however its memory lies; one program
// computes the results of some kept indices, from all reduced ones or a share of them.
#include <tile/ops/Reduce.h>

#include "ops/NewTensor.h"

#include <tile/ops/Arithmetic.h>
#include <tile/tile.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace tile::ops {

Axes::Axes(std::initializer_list<int> axes)
    : Axes(std::span<const int>(axes.begin(), axes.size())) {}
Axes::Axes(std::span<const int> axes) : isAll(false), count(static_cast<int>(axes.size())) {
  for (int i = 0; i < std::min(count, kMaxRank); ++i)
    list[i] = axes[static_cast<size_t>(i)];
}

namespace {

// --- The kernels ---------------------------------------------------------------------------------

/// The dtype that a reduction computes in.
DType accumulator(DType x, DType y) {
  if (!isFloat(x))
    return x;
  return x == f64 || y == f64 ? f64 : f32;
}

/// The lowest or highest number of a dtype.
Value extreme(DType dtype, const Shape &shape, bool isHighest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (isFloat(dtype))
    return full(dtype, shape, isHighest ? kInfinity : -kInfinity);
  int bits = static_cast<int>(sizeOf(dtype)) * 8;
  if (isUnsigned(dtype))
    return full(dtype, shape, isHighest ? ~uint64_t{0} >> (64 - bits) : 0);
  int64_t highest = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
  return full(dtype, shape, isHighest ? highest : -highest - 1);
}

struct Sum {
  static constexpr const char *kName = "sum";
  static constexpr bool kZeroChangesNothing = true;
  static Value first(DType dtype, const Shape &shape) { return zeros(dtype, shape); }
  static Value of(Value x) { return x; }
  static Value join(Value a, Value b) { return a + b; }
  static Value over(Value x) { return sum(x, 1, {.keep_dims = true}); }
};
struct SumOfSquares : Sum {
  static constexpr const char *kName = "sumOfSquares";
  static Value of(Value x) { return x * x; }
};
struct Largest {
  static constexpr const char *kName = "reduceMax";
  static constexpr bool kZeroChangesNothing = false;
  static Value first(DType dtype, const Shape &shape) { return extreme(dtype, shape, false); }
  static Value of(Value x) { return x; }
  static Value join(Value a, Value b) { return isFloat(a.dtype()) ? max_nan(a, b) : max(a, b); }
  static Value over(Value x) {
    return reduce(x, 1, [](Value a, Value b) { return join(a, b); }, {.keep_dims = true});
  }
};
struct Smallest {
  static constexpr const char *kName = "reduceMin";
  static constexpr bool kZeroChangesNothing = false;
  static Value first(DType dtype, const Shape &shape) { return extreme(dtype, shape, true); }
  static Value of(Value x) { return x; }
  static Value join(Value a, Value b) { return isFloat(a.dtype()) ? min_nan(a, b) : min(a, b); }
  static Value over(Value x) {
    return reduce(x, 1, [](Value a, Value b) { return join(a, b); }, {.keep_dims = true});
  }
};

/// x is kept0 x kept1 x reduced0 x reduced1, y shares x kept0 x kept1. Each program reduces one share of the steps, of
/// `columns` elements of reduced1, for `rows` of kept1.
template <class R>
void reduceProgram(In<any, 4> x, Out<any, 3> y, Value divisor, int rows, int columns) {
  Value tiles = cdiv(y.dim(2), rows);
  Value program = grid1d(y.dim(0) * y.dim(1) * tiles, 1);
  Value k1 = program % tiles, k0 = program / tiles % y.dim(1), share = program / tiles / y.dim(1);
  Value across = cdiv(x.dim(3), columns), steps = x.dim(2) * across;
  Value each = cdiv(steps, y.dim(0)), begin = share * each;
  bool isDouble = x.dtype() == f64 || y.dtype() == f64;
  DType dtype = !isFloat(x.dtype()) ? x.dtype() : isDouble ? f64 : f32;
  auto total = var(R::first(dtype, {rows, columns}));
  auto parts = x.tile({1, rows, 1, columns});
  for (auto step : range(begin, min(begin + each, steps))) {
    Value r0 = step / across, r1 = step % across;
    Value part = R::of(cast(dtype, parts(k0, k1, r0, r1)));
    if (!R::kZeroChangesNothing)
      part = select(parts.inside(k0, k1, r0, r1), part, R::first(dtype, {1, rows, 1, columns}));
    total = R::join(total, reshape(part, {rows, columns}));
  }
  Value result = R::over(total);
  if (isFloat(dtype)) // by 1 it must change nothing
    result = div_rn(result, cast(dtype, divisor));
  y.tile({1, 1, rows})(share, k0, k1) = cast(y.dtype(), reshape(result, {1, 1, rows}));
}

template <class R> const auto &reduceKernel() {
  static const auto program = kernel(R::kName, [](In<any, 4> x, Out<any, 3> y, Scalar<f64> divisor,
                                                  Const rows, Const columns) {
                                reduceProgram<R>(x, y, divisor, rows, columns);
                              }).named("x", "y", "divisor", "rows", "columns");
  return program;
}

// --- Dimensions ----------------------------------------------------------------------------------

struct Dim {
  int64_t extent = 1, x = 0, y = 0; // strides
};
constexpr int kMostDims = 2;
constexpr int64_t kLargestExtent = std::numeric_limits<int32_t>::max();

/// Kept or reduced dimensions, the largest stride of x first, those merged that walk as one.
class Dims {
public:
  void add(Dim dim) {
    if (dim.extent != 1)
      dims_[count_++] = dim;
  }
  void merge() {
    std::sort(dims_, dims_ + count_, [](const Dim &a, const Dim &b) { return a.x > b.x; });
    int last = 0;
    for (int i = 1; i < count_; ++i) {
      Dim &outer = dims_[last], inner = dims_[i];
      if (outer.x == inner.x * inner.extent && outer.y == inner.y * inner.extent &&
          outer.extent <= kLargestExtent / std::max<int64_t>(inner.extent, 1))
        outer = {outer.extent * inner.extent, inner.x, inner.y};
      else
        dims_[++last] = inner;
    }
    count_ = std::min(count_, last + 1);
  }
  bool isFew() const { return count_ <= kMostDims; }
  /// The last dimension, and the one before: extent 1 where there is none.
  Dim inner() const { return count_ > 0 ? dims_[count_ - 1] : Dim(); }
  Dim outer() const { return count_ > 1 ? dims_[count_ - 2] : Dim(); }

private:
  Dim dims_[kMaxRank];
  int count_ = 0;
};

/// One reduction after its arguments were checked.
struct Reduction {
  Dims kept, reduced;
  int64_t count = 1; // elements of x an element of y
};

/// Which dimensions of x go; refuses axes that do not exist.
uint32_t reducedDims(const Arguments &arguments, const Operand &x, const Axes &axes) {
  arguments.given({"x", x});
  if (axes.isAll)
    return (1u << x.rank()) - 1;
  uint32_t mask = 0;
  for (int i = 0; i < axes.count; ++i) {
    int axis = i < kMaxRank ? axes.list[i] : 0, dim = axis < 0 ? axis + x.rank() : axis;
    if (dim < 0 || dim >= x.rank())
      arguments.fail(ErrorCode::InvalidArgument, "axis " + std::to_string(axis) + " of x, " +
                                                     x.str() + ": it has " +
                                                     std::to_string(x.rank()) + " dimensions");
    if (mask >> dim & 1)
      arguments.fail(ErrorCode::InvalidArgument,
                     "axis " + std::to_string(axis) + " is named twice: each dimension goes once");
    mask |= 1u << dim;
  }
  return mask;
}

/// For each dimension of x that of y it belongs to, or -1. Refuses other extents than the reduction has.
void matchOutput(const Arguments &arguments, const Operand &x, uint32_t mask, const Operand &y,
                 int (&dims)[kMaxRank]) {
  bool keeps = y.rank() == x.rank(), fits = true;
  int next = 0;
  for (int dim = 0; fits && dim < x.rank(); ++dim) {
    bool goes = mask >> dim & 1;
    dims[dim] = goes && !keeps ? -1 : next++;
    int64_t expected = goes ? 1 : x.extent(dim);
    fits = dims[dim] < 0 || (dims[dim] < y.rank() && y.extent(dims[dim]) == expected);
  }
  if (fits && next == y.rank())
    return;
  std::string shape;
  for (int dim = 0; dim < x.rank(); ++dim)
    if (!(mask >> dim & 1))
      shape += (shape.empty() ? "" : "x") + std::to_string(x.extent(dim));
  arguments.fail(ErrorCode::InvalidShape, "x is " + x.str() + ", y is " + y.str() +
                                              ", but the reduction leaves " +
                                              (shape.empty() ? "one element" : shape));
}

Reduction reductionOf(const Arguments &arguments, const Operand &x, uint32_t mask,
                      const Operand &y) {
  int outputDims[kMaxRank];
  matchOutput(arguments, x, mask, y, outputDims);
  Reduction result;
  for (int dim = 0; dim < x.rank(); ++dim) {
    if (mask >> dim & 1) {
      result.count *= x.extent(dim);
      result.reduced.add({x.extent(dim), x.stride(dim), 0});
    } else {
      result.kept.add({x.extent(dim), x.stride(dim), y.stride(outputDims[dim])});
    }
  }
  result.kept.merge(), result.reduced.merge();
  return result;
}

// --- Launching -----------------------------------------------------------------------------------

constexpr int kTileElements = 2048;
/// Programs that keep a large GPU busy.
constexpr int64_t kBusyPrograms = 256;
/// A share of a reduction has at least so many steps.
constexpr int64_t kLeastSteps = 4;

int sideFor(int64_t extent, int64_t largest) {
  int64_t least = std::clamp<int64_t>(extent, 1, largest);
  return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(least)));
}

struct Tiles {
  int rows, columns;
};
/// The side along which x is contiguous is the long one.
Tiles tilesFor(const Reduction &reduction) {
  Dim kept = reduction.kept.inner(), reduced = reduction.reduced.inner();
  if (reduced.extent > 1 && (reduced.x == 1 || kept.x != 1)) {
    int columns = sideFor(reduced.extent, kTileElements);
    return {sideFor(kept.extent, kTileElements / columns), columns};
  }
  int rows = sideFor(kept.extent, kTileElements / 8);
  return {rows, sideFor(reduced.extent, kTileElements / rows)};
}

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The number of programs that share the reduction of one result.
int64_t sharesFor(const Reduction &reduction, Tiles tiles) {
  int64_t programs =
      reduction.kept.outer().extent * ceilDivide(reduction.kept.inner().extent, tiles.rows);
  int64_t steps = reduction.reduced.outer().extent *
                  ceilDivide(reduction.reduced.inner().extent, tiles.columns);
  if (programs >= kBusyPrograms / 2)
    return 1;
  return std::clamp<int64_t>(steps / kLeastSteps, 1, kBusyPrograms / programs);
}

/// x as the kernel takes it.
Operand foldedInput(const Operand &x, const Reduction &reduction) {
  Dim k0 = reduction.kept.outer(), k1 = reduction.kept.inner(), r0 = reduction.reduced.outer(),
      r1 = reduction.reduced.inner();
  int64_t extents[] = {k0.extent, k1.extent, r0.extent, r1.extent};
  int64_t strides[] = {k0.x, k1.x, r0.x, r1.x};
  return x.strided(extents, strides);
}
Operand foldedOutput(const Operand &y, const Reduction &reduction) {
  Dim k0 = reduction.kept.outer(), k1 = reduction.kept.inner();
  int64_t extents[] = {1, k0.extent, k1.extent};
  int64_t strides[] = {0, k0.y, k1.y};
  return y.strided(extents, strides);
}

/// One result of each share, reduced once more.
template <class R>
void launch(CallSite site, const Operand &x, const Operand &y, const Reduction &reduction,
            double divisor) {
  using Partial = std::conditional_t<std::is_same_v<R, SumOfSquares>, Sum, R>;
  Tiles tiles = tilesFor(reduction);
  int64_t shares = sharesFor(reduction, tiles);
  Operand in = foldedInput(x, reduction), out = foldedOutput(y, reduction);
  auto program = reduceKernel<R>().consts(tiles.rows, tiles.columns);
  if (shares == 1)
    return program(site, in, out, divisor);
  int64_t k0 = out.extent(1), k1 = out.extent(2);
  int64_t extents[] = {shares, k0, k1};
  Tensor partial = site.stream.tensor(accumulator(x.dtype(), y.dtype()), extents);
  program(site, in, partial, 1.0);
  Operand all(partial);
  int64_t partExtents[] = {k0, k1, 1, shares}, partStrides[] = {k1, 1, 0, k0 * k1};
  int rows = sideFor(k1, 128);
  reduceKernel<Partial>().consts(rows, sideFor(shares, kTileElements / rows))(
      site, all.strided(partExtents, partStrides), out, divisor);
}

/// A copy of x in which the kept dimensions come first.
Tensor keptFirst(const Stream &stream, const Operand &x, uint32_t mask, Loc loc) {
  int64_t extents[kMaxRank], strides[kMaxRank];
  size_t next = 0;
  for (uint32_t goes : {0u, 1u})
    for (int dim = 0; dim < x.rank(); ++dim)
      if ((mask >> dim & 1) == goes)
        extents[next] = x.extent(dim), strides[next++] = x.stride(dim);
  return copy(stream, x.strided({extents, next}, {strides, next}), any, loc);
}

void checkReduction(const Arguments &arguments, const Operand &x, const Operand &y) {
  for (Named arg : {Named{"x", x}, Named{"y", y}})
    arguments.dtypeIn(arg, {f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64});
  if (!isFloat(x.dtype()) || !isFloat(y.dtype()))
    arguments.sameDtype({"x", x}, {"y", y});
  arguments.accessible({{"x", x}, {"y", y}});
  arguments.elementsDistinct({"y", y});
  arguments.disjoint({"y", y}, {"x", x});
}

template <class R>
void reduceMasked(const Arguments &arguments, CallSite site, const Operand &x, uint32_t mask,
                  const Operand &y, bool divides) {
  checkReduction(arguments, x, y);
  Reduction reduction = reductionOf(arguments, x, mask, y);
  if (y.numel() == 0)
    return;
  double divisor = divides ? static_cast<double>(reduction.count) : 1;
  if (reduction.kept.isFew() && reduction.reduced.isFew())
    return launch<R>(site, x, y, reduction, divisor);
  Tensor x2 = keptFirst(site.stream, x, mask, site.where);
  Tensor y2 = temporaryLike(site.stream, y, y.dtype());
  uint32_t last = 0;
  int keptDims = x.rank() - std::popcount(mask);
  for (int dim = keptDims; dim < x.rank(); ++dim)
    last |= 1u << dim;
  int64_t extents[kMaxRank];
  for (int dim = 0; dim < keptDims; ++dim)
    extents[dim] = x2.extent(dim);
  Operand flat = Operand(y2).reshaped({extents, static_cast<size_t>(keptDims)});
  launch<R>(site, x2, flat, reductionOf(arguments, x2, last, flat), divisor);
  copy(site.stream, y2, y, site.where);
}

template <class R>
void reduce(const char *op, const Stream &stream, const Operand &x, const Axes &axes,
            const Operand &y, Loc loc, bool divides = false) {
  Arguments arguments(op, {stream, loc});
  reduceMasked<R>(arguments, CallSite(stream, loc), x, reducedDims(arguments, x, axes), y, divides);
}

Tensor newReduced(const char *op, const Stream &stream, const Operand &x, const Axes &axes,
                  const tile::ReduceOptions &options, Loc loc) {
  Arguments arguments(op, {stream, loc});
  uint32_t mask = reducedDims(arguments, x, axes);
  int64_t extents[kMaxRank];
  size_t rank = 0;
  for (int dim = 0; dim < x.rank(); ++dim)
    if (!(mask >> dim & 1))
      extents[rank++] = x.extent(dim);
    else if (options.keep_dims)
      extents[rank++] = 1;
  return newTensor(arguments, x.dtype(), {extents, rank});
}

} // namespace

void sum(const Stream &stream, const Operand &x, const Axes &axes, const Operand &y, Loc loc) {
  reduce<Sum>("sum", stream, x, axes, y, loc);
}
void mean(const Stream &stream, const Operand &x, const Axes &axes, const Operand &y, Loc loc) {
  Arguments arguments("mean", {stream, loc});
  for (Named arg : {Named{"x", x}, Named{"y", y}})
    arguments.dtypeIn(arg, {f16, bf16, f32, f64});
  reduce<Sum>("mean", stream, x, axes, y, loc, true);
}
void reduceMax(const Stream &stream, const Operand &x, const Axes &axes, const Operand &y,
               Loc loc) {
  reduce<Largest>("reduceMax", stream, x, axes, y, loc);
}
void reduceMin(const Stream &stream, const Operand &x, const Axes &axes, const Operand &y,
               Loc loc) {
  reduce<Smallest>("reduceMin", stream, x, axes, y, loc);
}
void sumOfSquares(const Stream &stream, const Operand &x, const Axes &axes, const Operand &y,
                  Loc loc) {
  reduce<SumOfSquares>("sumOfSquares", stream, x, axes, y, loc);
}

Tensor sum(const Stream &stream, const Operand &x, const Axes &axes,
           const tile::ReduceOptions &options, Loc loc) {
  Tensor y = newReduced("sum", stream, x, axes, options, loc);
  sum(stream, x, axes, y, loc);
  return y;
}
Tensor mean(const Stream &stream, const Operand &x, const Axes &axes,
            const tile::ReduceOptions &options, Loc loc) {
  Tensor y = newReduced("mean", stream, x, axes, options, loc);
  mean(stream, x, axes, y, loc);
  return y;
}
Tensor reduceMax(const Stream &stream, const Operand &x, const Axes &axes,
                 const tile::ReduceOptions &options, Loc loc) {
  Tensor y = newReduced("reduceMax", stream, x, axes, options, loc);
  reduceMax(stream, x, axes, y, loc);
  return y;
}
Tensor reduceMin(const Stream &stream, const Operand &x, const Axes &axes,
                 const tile::ReduceOptions &options, Loc loc) {
  Tensor y = newReduced("reduceMin", stream, x, axes, options, loc);
  reduceMin(stream, x, axes, y, loc);
  return y;
}
Tensor sumOfSquares(const Stream &stream, const Operand &x, const Axes &axes,
                    const tile::ReduceOptions &options, Loc loc) {
  Tensor y = newReduced("sumOfSquares", stream, x, axes, options, loc);
  sumOfSquares(stream, x, axes, y, loc);
  return y;
}

void sumTo(const Stream &stream, const Operand &x, const Operand &y, Loc loc) {
  Arguments arguments("sumTo", {stream, loc});
  checkReduction(arguments, x, y);
  arguments.broadcastsTo({"y", y}, {"x", x});
  uint32_t mask = 0;
  int64_t extents[kMaxRank], strides[kMaxRank];
  for (int dim = 0; dim < x.rank(); ++dim) {
    int own = dim - (x.rank() - y.rank());
    bool wasRepeated = own < 0 || (y.extent(own) == 1 && x.extent(dim) != 1);
    mask |= uint32_t{wasRepeated} << dim;
    extents[dim] = own < 0 ? 1 : y.extent(own), strides[dim] = own < 0 ? 0 : y.stride(own);
  }
  auto rank = static_cast<size_t>(x.rank());
  reduceMasked<Sum>(arguments, CallSite(stream, loc), x, mask,
                    y.strided({extents, rank}, {strides, rank}), false);
}

} // namespace tile::ops
