// Matrix product: one program computes one tile of C.
#include <tile/ops/Matmul.h>

#include "ops/MatmulTiles.h"
#include "ops/MatmulWork.h"
#include "ops/NewTensor.h"
#include "ops/byname/Entry.h"
#include "ops/byname/ProductSettings.h"

#include <limits>
#include <optional>

namespace tile::ops {
namespace detail {

namespace {

/// Columns of tiles are walked in groups of this many rows, which share operands in the L2 cache.
constexpr int kSwizzleRows = 8;

/// A matrix with its dimensions exchanged.
HostArg transposed(HostArg matrix) {
  std::swap(matrix.extents[0], matrix.extents[1]);
  std::swap(matrix.strides[0], matrix.strides[1]);
  return matrix;
}

DotOptions howOf(const OpSettings &settings) {
  return dotOptions(productOptionsOf(settings.forExample(productSettings())));
}

const auto registeredProgram =
    tunedMatmul(kernel("matmul", MatmulProgram<2, NoEpilogue>()).named(matmulParameters(0)));

/// Groups of warps multiply by wgmma, which is taken for sums of f32 alone.
TargetInfo gpuFor(DotOptions how, std::string_view target) {
  TargetInfo gpu = target_info(target);
  gpu.has_wgmma = gpu.has_wgmma && how.accumulator != f16;
  return gpu;
}

/// Matrices of 8-bit floats are multiplied as the tensor core takes them fastest: b by columns.
HostArg exampleOfB(DType dtype, int64_t k, int64_t n, bool byColumns) {
  return byColumns ? transposed(exampleView(dtype, {n, k})) : exampleView(dtype, {k, n});
}

/// The dtype of a result that nothing else decides.
DType resultOf(DType factors) { return isFloat8(factors) ? f32 : factors; }

/// Without its matrices.
Operand batchesOf(const Operand &x) {
  const int64_t strides[kMaxRank] = {};
  Extents extents(x);
  auto rank = static_cast<size_t>(x.rank() - 2);
  return x.strided(extents.span().first(rank), std::span(strides).first(rank));
}

/// The extents of a b, where batch dimensions broadcast.
Extents extentsOfProduct(const Arguments &arguments, const Operand &a, const Operand &b) {
  arguments.rankAtLeast({"a", a}, 2), arguments.rankAtLeast({"b", b}, 2);
  Operand batchA = batchesOf(a), batchB = batchesOf(b);
  std::optional<Extents> batches = commonExtents({batchA, batchB});
  if (!batches)
    arguments.fail(
        ErrorCode::InvalidShape,
        "a is " + a.str() + ", but b is " + b.str() +
            ": batch dimensions, counted from the last, must be equal, or one of them 1");
  batches->append(a.extent(a.rank() - 2)), batches->append(b.extent(b.rank() - 1));
  return *batches;
}

const bool registered = registerOp({
    .name = "matmul",
    .summary = "c = a b, the matrix product",
    .inputs = 2,
    .settings = {precisionSetting(), OpSetting::flag("fast", false), accumulatorSetting(),
                 floatDtype()},
    .kernel =
        [](const OpSettings &settings) {
          DType dtype = settings.dtype("dtype", f16),
                result = settings.dtype("result", resultOf(dtype));
          int64_t m = settings.extent("M", 4096), n = settings.extent("N", 4096),
                  k = settings.extent("K", 4096);
          DotOptions how = howOf(settings);
          bool byColumns = settings.flag("columns", isFloat8(dtype));
          TargetInfo gpu = gpuFor(how, settings.target());
          bool isAligned = k * sizeOf(dtype) % 16 == 0 && n * sizeOf(dtype) % 16 == 0;
          MatmulShape shape{
              m, n, k, 1, dtype, result, how, byColumns, gpu, gpu.multiprocessors, isAligned};
          HostArg a = exampleView(dtype, {m, k}), b = exampleOfB(dtype, k, n, byColumns),
                  c = exampleView(result, {m, n});
          if (isComputedTransposed(shape)) {
            std::swap(shape.m, shape.n), std::swap(a, b);
            a = transposed(a), b = transposed(b), c = transposed(c);
          }
          MatmulTiles tiles = chooseTiles(shape);
          return KernelRequest(
              registeredProgram
                  .consts(settings.integer("BM", tiles.m), settings.integer("BN", tiles.n),
                          settings.integer("BK", tiles.k), how.precision, how.fast_accumulation,
                          how.accumulator == f16, settings.flag("persistent", tiles.persistent),
                          settings.flag("producer", tiles.hasProducer),
                          settings.flag("pingpong", tiles.pingPong),
                          settings.smallInteger("cluster", tiles.cluster),
                          settings.smallInteger("split", tiles.split),
                          settings.flag("clustered", tiles.clustered))
                  .warps(settings.smallInteger("warps", tiles.warps)),
              {a, b, c});
        },
    .outputs =
        [](std::span<const Tensor> in, const OpSettings &settings) {
          Extents extents = extentsOfProduct(rulesOf("matmul"), in[0], in[1]);
          auto list = extents.span();
          return Specs{
              {settings.dtype("dtype", resultOf(in[0].dtype())), {list.begin(), list.end()}}};
        },
    .run =
        [](const Stream &stream, std::span<const Tensor> in, std::span<const Tensor> out,
           const OpSettings &settings) {
          matmul(stream, in[0], in[1], out[0], productOptionsOf(settings));
        },
});

// --- Arguments -----------------------------------------------------------------------------------

constexpr size_t kMostTensors = 16;

/// The names of the tensors in messages: `c`, `a`, `b`, then the epilogue's `x0`, `x1`, ...
Named named(std::span<const Operand> operands, size_t i) {
  static const char *const kNames[] = {"c",  "a",  "b",  "x0", "x1", "x2",  "x3",  "x4",
                                       "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12"};
  return {kNames[i], operands[i]};
}

/// `input` has a matrix in its last two dimensions; those before broadcast to c's.
void checkBatch(const Arguments &arguments, Named input, Named c) {
  int own = input.operand.rank() - 2, all = c.operand.rank() - 2;
  bool fits = own <= all;
  for (int dim = 0; fits && dim < own; ++dim) {
    int64_t extent = input.operand.extent(dim);
    fits = extent == 1 || extent == c.operand.extent(dim + all - own);
  }
  if (!fits)
    arguments.fail(ErrorCode::InvalidShape,
                   std::string(input.name) + " is " + input.operand.str() + ", but " + c.name +
                       " is " + c.operand.str() +
                       ": batch dimensions, counted from the last, must be 1 or equal");
}

/// There are products of two dtypes among those of 8-bit floats alone.
void checkFactors(const Arguments &arguments, Named a, Named b) {
  for (Named factor : {a, b})
    arguments.dtypeIn(factor, {f16, bf16, f32, f64, e4m3, e5m2});
  if (!isFloat8(a.operand.dtype()) || !isFloat8(b.operand.dtype()))
    arguments.sameDtype(a, b);
}

/// The dtypes that the products of `factors` may be summed in.
void checkAccumulator(const Arguments &arguments, Named a, DType asked) {
  DType factors = a.operand.dtype(), usual = factors == f64 ? f64 : f32;
  bool mayBeHalf = factors == f16 || isFloat8(factors);
  if (asked != any && asked != usual && !(asked == f16 && mayBeHalf))
    arguments.fail(ErrorCode::InvalidArgument, std::string("options.accumulator is ") +
                                                   nameOf(asked) + ", but products of " +
                                                   nameOf(factors) + " are summed in " +
                                                   nameOf(usual) + (mayBeHalf ? " or f16" : ""));
}

void checkMatmul(const Arguments &arguments, std::span<const Operand> operands) {
  Named c = named(operands, 0), a = named(operands, 1), b = named(operands, 2);
  for (Named arg : {a, b, c})
    arguments.rankAtLeast(arg, 2);
  checkFactors(arguments, a, b);
  arguments.dtypeIn(c, {f16, bf16, f32, f64});
  arguments.equalExtent(a, -1, b, -2);
  arguments.equalExtent(a, -2, c, -2);
  arguments.equalExtent(b, -1, c, -1);
  checkBatch(arguments, a, c), checkBatch(arguments, b, c);
  arguments.accessible({a, b, c});
  arguments.elementsDistinct(c);
  arguments.disjoint(c, a), arguments.disjoint(c, b);
  for (size_t i = 3; i < operands.size(); ++i) {
    arguments.broadcastsTo(named(operands, i), c);
    arguments.accessible({named(operands, i)});
  }
}

// --- Batches -------------------------------------------------------------------------------------

/// The batch dimensions, the largest stride of c first, with a stride for each operand.
struct Batch {
  int rank = 0;
  int64_t extents[kMaxRank];
  int64_t strides[kMostTensors][kMaxRank];
};

/// The stride of an operand along dimension `dim` of c; 0 where it is broadcast.
int64_t strideAlong(const Operand &operand, const Operand &c, int dim) {
  int own = dim - (c.rank() - operand.rank());
  return own < 0 || operand.extent(own) == 1 ? 0 : operand.stride(own);
}

Batch batchOf(std::span<const Operand> operands) {
  Batch batch;
  const Operand &c = operands[0];
  for (int dim = 0; dim < c.rank() - 2; ++dim) {
    if (c.extent(dim) == 1)
      continue;
    bool merges = batch.rank > 0;
    int64_t strides[kMostTensors];
    for (size_t i = 0; i < operands.size(); ++i) {
      strides[i] = strideAlong(operands[i], c, dim);
      merges = merges && batch.strides[i][batch.rank - 1] == strides[i] * c.extent(dim);
    }
    if (!merges)
      batch.extents[batch.rank++] = 1;
    batch.extents[batch.rank - 1] *= c.extent(dim);
    for (size_t i = 0; i < operands.size(); ++i)
      batch.strides[i][batch.rank - 1] = strides[i];
  }
  return batch;
}

/// The strides of the last two dimensions; an epilogue's tensor may be broadcast along them.
struct MatrixView {
  int64_t extents[2], strides[2];
};
MatrixView matrixOf(std::span<const Operand> operands, size_t i) {
  const Operand &operand = operands[i], &c = operands[0];
  MatrixView view;
  for (int side : {0, 1}) {
    bool isEpilogues = i >= 3;
    int dim = (isEpilogues ? c : operand).rank() - 2 + side;
    view.extents[side] = (isEpilogues ? c : operand).extent(dim);
    view.strides[side] = isEpilogues ? strideAlong(operand, c, dim) : operand.stride(dim);
  }
  return view;
}

/// True if the one batch dimension and the rows are one tall matrix in every tensor but b, which all batches share.
bool isTall(const Batch &batch, std::span<const Operand> operands) {
  constexpr int64_t kLargestExtent = std::numeric_limits<int32_t>::max();
  if (batch.rank != 1 || batch.strides[2][0] != 0)
    return false;
  for (size_t i = 0; i < operands.size(); ++i) {
    MatrixView view = matrixOf(operands, i);
    if (i != 2 && batch.strides[i][0] != view.strides[0] * view.extents[0])
      return false;
  }
  return operands[0].extent(operands[0].rank() - 2) <= kLargestExtent / batch.extents[0];
}

void foldBatch(std::span<Operand> operands) {
  Batch batch = batchOf(operands);
  bool tall = isTall(batch, operands);
  std::array<Operand, kMostTensors> folded;
  for (size_t i = 0; i < operands.size(); ++i) {
    MatrixView view = matrixOf(operands, i);
    int64_t extents[kMaxRank], strides[kMaxRank];
    size_t rank = 0;
    for (int dim = 0; dim < (tall ? 0 : batch.rank); ++dim)
      extents[rank] = batch.extents[dim], strides[rank++] = batch.strides[i][dim];
    for (int side : {0, 1})
      extents[rank] = view.extents[side], strides[rank++] = view.strides[side];
    if (tall && i != 2)
      extents[0] *= batch.extents[0];
    folded[i] = operands[i].strided({extents, rank}, {strides, rank});
  }
  std::copy_n(folded.begin(), operands.size(), operands.begin());
}

/// Does a matrix lie along `dim`, with all else at multiples of the 16 bytes that the copy engine takes?
bool liesAlong(int dim, const Operand &factor) {
  constexpr int64_t kBytes = 16;
  bool isAligned = reinterpret_cast<uintptr_t>(factor.data()) % kBytes == 0;
  for (int other = 0; other < factor.rank(); ++other)
    if (other != dim && factor.extent(other) > 1)
      isAligned &=
          factor.stride(other) * static_cast<int64_t>(sizeOf(factor.dtype())) % kBytes == 0;
  return isAligned && factor.stride(dim) == 1;
}

bool isAligned(const Operand &factor) {
  return liesAlong(factor.rank() - 1, factor) || liesAlong(factor.rank() - 2, factor);
}

/// The product on a GPU of this name.
MatmulShape shapeOf(std::span<const Operand> operands, DotOptions how, std::string_view target,
                    int multiprocessors) {
  const Operand &c = operands[0], &a = operands[1], &b = operands[2];
  int64_t batches = 1;
  for (int dim = 0; dim < c.rank() - 2; ++dim)
    batches *= c.extent(dim);
  return {c.extent(c.rank() - 2),
          c.extent(c.rank() - 1),
          a.extent(a.rank() - 1),
          batches,
          a.dtype(),
          c.dtype(),
          how,
          liesAlong(a.rank() - 1, a) && liesAlong(b.rank() - 2, b),
          gpuFor(how, target),
          multiprocessors,
          isAligned(a) && isAligned(b),
          liesAlong(c.rank() - 1, c)};
}

/// c^T = b^T a^T, and the epilogue's tensors likewise.
void transpose(std::span<Operand> operands) {
  std::swap(operands[1], operands[2]);
  for (Operand &operand : operands)
    operand = operand.T();
}

} // namespace

DotOptions dotOptions(const MatmulOptions &options) {
  return {.precision = options.precision,
          .fast_accumulation = options.fastAccumulation,
          .accumulator = options.accumulator};
}

bool foldForMatmul(std::span<Operand> operands, DotOptions how, const CallSite &site) {
  Arguments arguments("matmul", site);
  if (operands.size() > kMostTensors)
    arguments.fail(ErrorCode::Unsupported,
                   "an epilogue takes at most " + std::to_string(kMostTensors - 3) + " tensors");
  checkMatmul(arguments, operands);
  checkAccumulator(arguments, named(operands, 1), how.accumulator);
  if (operands[0].numel() == 0)
    return false;
  foldBatch(operands);
  for (size_t i = 3; i < operands.size(); ++i)
    arguments.disjointOrSame(named(operands, 0), named(operands, i));
  const Device device = site.stream.device();
  if (isComputedTransposed(shapeOf(operands, how, device.target(), device.multiprocessors())))
    transpose(operands);
  return true;
}

// --- What is tuned -------------------------------------------------------------------------------

namespace {

/// An argument of the kernel as an operand.
struct Argument {
  HostArg arg;
  friend HostArg toHostArg(const Argument &argument) { return argument.arg; }
};

MatmulShape shapeOf(const Problem &problem) {
  Operand a = Argument{problem.argument(0)}, b = Argument{problem.argument(1)},
          c = Argument{problem.argument(2)};
  DotOptions how{.precision = static_cast<Precision>(problem.constant("precision")),
                 .fast_accumulation = problem.constant("fast") != 0,
                 .accumulator = problem.constant("f16sums") != 0 ? f16 : any};
  return shapeOf(std::array{c, a, b}, how, problem.target(), problem.multiprocessors());
}

} // namespace

std::string matmulObjection(const Config &config, const Problem &problem) {
  return objectionTo(tilesOf(config), shapeOf(problem));
}
Config matmulConfig(const Problem &problem) { return configOf(chooseTiles(shapeOf(problem))); }
Work matmulWork(const Config &config, const Problem &problem) {
  return workOf(tilesOf(config), shapeOf(problem));
}

std::vector<std::string> matmulParameters(size_t arguments) {
  std::vector<std::string> names = {"a", "b", "c"};
  for (size_t i = 0; i < arguments; ++i)
    names.push_back("x" + std::to_string(i));
  names.insert(names.end(), {"BM", "BN", "BK", "precision", "fast", "f16sums", "persistent",
                             "producer", "pingpong", "cluster", "split", "clustered"});
  return names;
}

MatmulPlace matmulPlace(Out<any, 2> c, MatmulTiles tiles) {
  auto [m, n] = grid2d(c, {tiles.m, tiles.n}).swizzled(kSwizzleRows);
  return {.batch = Value(), .m = m, .n = n, .part = Value()};
}
MatmulPlace matmulPlace(Out<any, 3> c, MatmulTiles tiles) {
  return matmulPlace(c, tiles, grid1d(matmulTileCount(c, tiles), 1));
}

template <class C> static MatmulPlace partOf(C c, MatmulTiles tiles) {
  Value program = grid1d(matmulTileCount(c, tiles) * tiles.split, 1);
  MatmulPlace place = matmulPlace(c, tiles, program / tiles.split);
  place.part = program % tiles.split;
  return place;
}
MatmulPlace matmulPart(Out<any, 2> c, MatmulTiles tiles) { return partOf(c, tiles); }
MatmulPlace matmulPart(Out<any, 3> c, MatmulTiles tiles) { return partOf(c, tiles); }

Value matmulTileCount(Out<any, 2> c, MatmulTiles tiles) {
  return cdiv(c.dim(0), tiles.m) * cdiv(c.dim(1), tiles.n);
}
Value matmulTileCount(Out<any, 3> c, MatmulTiles tiles) {
  return c.dim(0) * cdiv(c.dim(1), tiles.m) * cdiv(c.dim(2), tiles.n);
}
MatmulPlace matmulPlace(Out<any, 2> c, MatmulTiles tiles, Value number) {
  auto [m, n] =
      swizzle(number, cdiv(c.dim(0), tiles.m), cdiv(c.dim(1), tiles.n), {.group = kSwizzleRows});
  return {.batch = Value(), .m = m, .n = n, .part = Value()};
}
MatmulPlace matmulPlace(Out<any, 3> c, MatmulTiles tiles, Value number) {
  Value rows = cdiv(c.dim(1), tiles.m), columns = cdiv(c.dim(2), tiles.n);
  auto [m, n] = swizzle(number % (rows * columns), rows, columns, {.group = kSwizzleRows});
  return {.batch = number / (rows * columns), .m = m, .n = n, .part = Value()};
}

Range matmulTilesInTurn(Value count, MatmulTiles tiles) {
  Range all = persistent(count).flatten();
  return tiles.pingPong ? all.ping_pong() : all;
}

} // namespace detail

void matmul(const Stream &stream, const Operand &a, const Operand &b, const Operand &c,
            const MatmulOptions &options, Loc loc) {
  detail::matmulWith<detail::NoEpilogue>({stream, loc}, a, b, c, std::tuple(), options);
}

Tensor matmul(const Stream &stream, const Operand &a, const Operand &b,
              const MatmulOptions &options, Loc loc) {
  Arguments arguments("matmul", {stream, loc});
  Extents extents = detail::extentsOfProduct(arguments, a, b);
  Tensor c = newTensor(arguments, detail::resultOf(a.dtype()), extents.span());
  matmul(stream, a, b, c, options, loc);
  return c;
}

void linear(const Stream &stream, const Operand &x, const Operand &weight, const Operand &bias,
            const Operand &y, const MatmulOptions &options, Loc loc) {
  Arguments arguments("linear", {stream, loc});
  detail::checkFactors(arguments, {"x", x}, {"weight", weight});
  arguments.dtypeIn({"y", y}, {f16, bf16, f32, f64});
  arguments.rankAtLeast({"x", x}, 1), arguments.rankIs({"weight", weight}, 2);
  arguments.sameRows({"y", y}, {"x", x});
  arguments.equalExtent({"x", x}, -1, {"weight", weight}, 1);
  arguments.equalExtent({"y", y}, -1, {"weight", weight}, 0);
  if (bias) {
    arguments.dtypeIn({"bias", bias}, {f16, bf16, f32, f64}), arguments.rankIs({"bias", bias}, 1);
    arguments.equalExtent({"bias", bias}, 0, {"weight", weight}, 0);
  }
  arguments.accessible({{"x", x}, {"weight", weight}, {"bias", bias}, {"y", y}});
  arguments.outputsApart({{"y", y}}, {{"x", x}, {"weight", weight}, {"bias", bias}});
  Operand rows = x.rank() == 1 ? x.asRow() : x, results = y.rank() == 1 ? y.asRow() : y;
  if (!bias)
    return matmul(stream, rows, weight.T(), results, options, loc);
  matmul(stream, rows, weight.T(), results,
         epilogue([](Value sums, Value bias) { return sums + bias; }, bias), options, loc);
}

Tensor linear(const Stream &stream, const Operand &x, const Operand &weight, const Operand &bias,
              const MatmulOptions &options, Loc loc) {
  Arguments arguments("linear", {stream, loc});
  arguments.rankAtLeast({"x", x}, 1), arguments.rankIs({"weight", weight}, 2);
  Extents extents(x);
  extents[x.rank() - 1] = weight.extent(0);
  Tensor y = newTensor(arguments, detail::resultOf(x.dtype()), extents.span());
  linear(stream, x, weight, bias, y, options, loc);
  return y;
}

} // namespace tile::ops
