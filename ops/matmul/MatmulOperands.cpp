#include "ops/matmul/MatmulOperands.h"

#include "ops/DotTarget.h"

#include <limits>
#include <optional>

namespace tile::ops::detail {
namespace {

/// Without its matrices.
Operand batchesOf(const Operand &x) {
  const int64_t strides[kMaxRank] = {};
  Extents extents(x);
  auto rank = static_cast<size_t>(x.rank() - 2);
  return x.strided(extents.span().first(rank), std::span(strides).first(rank));
}

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

/// The dtypes that dots of a's dtype may accumulate in.
void checkAccumulator(const Arguments &arguments, Named a, DType asked) {
  DType dtype = a.operand.dtype(), usual = dtype == f64 ? f64 : f32;
  bool mayBeHalf = dtype == f16 || isFloat8(dtype);
  if (asked != any && asked != usual && !(asked == f16 && mayBeHalf))
    arguments.fail(ErrorCode::InvalidArgument, std::string("options.accumulator is ") +
                                                   nameOf(asked) + ", but products of " +
                                                   nameOf(dtype) + " are summed in " +
                                                   nameOf(usual) + (mayBeHalf ? " or f16" : ""));
}

} // namespace

DType resultOf(DType operands) { return isFloat8(operands) ? f32 : operands; }

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

void checkOperands(const Arguments &arguments, Named a, Named b) {
  for (Named operand : {a, b})
    arguments.dtypeIn(operand, {f16, bf16, f32, f64, e4m3, e5m2});
  if (!isFloat8(a.operand.dtype()) || !isFloat8(b.operand.dtype()))
    arguments.sameDtype(a, b);
}

void checkProduct(const Arguments &arguments, std::span<const Operand> operands, DotOptions how) {
  Named c = named(operands, 0), a = named(operands, 1), b = named(operands, 2);
  for (Named arg : {a, b, c})
    arguments.rankAtLeast(arg, 2);
  checkOperands(arguments, a, b);
  arguments.dtypeIn(c, {f16, bf16, f32, f64});
  arguments.equalExtent(a, -1, b, -2);
  arguments.equalExtent(a, -2, c, -2);
  arguments.equalExtent(b, -1, c, -1);
  checkBatch(arguments, a, c), checkBatch(arguments, b, c);
  checkAccumulator(arguments, a, how.accumulator);
}

namespace {

void checkMatmul(const Arguments &arguments, std::span<const Operand> operands, DotOptions how) {
  checkProduct(arguments, operands, how);
  Named c = named(operands, 0), a = named(operands, 1), b = named(operands, 2);
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

/// True if the one batch dimension and the rows are one tall matrix in every tensor but b, which
/// all batches share.
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

/// Is a matrix contiguous along `dim`, with all else at multiples of the 16 bytes that TMA takes?
bool isContiguousAlong(int dim, const Operand &operand) {
  constexpr int64_t kBytes = 16;
  bool isAligned = reinterpret_cast<uintptr_t>(operand.data()) % kBytes == 0;
  for (int other = 0; other < operand.rank(); ++other)
    if (other != dim && operand.extent(other) > 1)
      isAligned &=
          operand.stride(other) * static_cast<int64_t>(sizeOf(operand.dtype())) % kBytes == 0;
  return isAligned && operand.stride(dim) == 1;
}

bool isAligned(const Operand &operand) {
  return isContiguousAlong(operand.rank() - 1, operand) ||
         isContiguousAlong(operand.rank() - 2, operand);
}

} // namespace

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
          isContiguousAlong(a.rank() - 1, a) && isContiguousAlong(b.rank() - 2, b),
          dotTarget(target, how.accumulator == f16),
          multiprocessors,
          isAligned(a) && isAligned(b),
          isContiguousAlong(c.rank() - 1, c),
          std::string(target)};
}

void transpose(std::span<Operand> operands) {
  std::swap(operands[1], operands[2]);
  for (Operand &operand : operands)
    operand = operand.T();
}

bool foldForMatmul(std::span<Operand> operands, DotOptions how, const CallSite &site) {
  Arguments arguments("matmul", site);
  if (operands.size() > kMostTensors)
    arguments.fail(ErrorCode::Unsupported,
                   "an epilogue takes at most " + std::to_string(kMostTensors - 3) + " tensors");
  checkMatmul(arguments, operands, how);
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

} // namespace tile::ops::detail
