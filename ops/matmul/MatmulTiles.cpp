#include "ops/matmul/MatmulTiles.h"

#include "ops/matmul/MatmulWarpgroupTiles.h"
#include "ops/matmul/MatmulWork.h"

#include <algorithm>
#include <optional>

namespace tile::ops::detail {

namespace {

/// The power of two that covers `extent`, from 16 to `largest`.
int sideFor(int64_t extent, int largest) {
  int side = 16;
  while (side < extent && side < largest)
    side *= 2;
  return side;
}

// --- Warps by themselves -------------------------------------------------------------------------

// Each halving of tiles that are too few to keep the GPU busy doubles the programs.
MatmulTiles warpTiles(const MatmulShape &shape) {
  // Fused multiply-adds hold both operands in registers, so their tiles are smaller.
  if (shape.dtype == f64)
    return {sideFor(shape.m, 32), sideFor(shape.n, 32), 16, 4};
  bool isFloat = shape.dtype == f32,
       onTensorCores = !isFloat || shape.how.precision != Precision::ieee;
  int largest = onTensorCores && !(isFloat && shape.how.precision == Precision::tf32x3) ? 128 : 64;
  // 128 bytes of K per step, whole cache lines: enough work for all of a pipeline's waits. 8-bit
  // floats have as many elements as their widened copies.
  MatmulTiles tiles = {sideFor(shape.m, largest), sideFor(shape.n, largest), isFloat ? 32 : 64, 4};
  while (programs(shape, tiles.m, tiles.n) < kBusyPrograms && std::max(tiles.m, tiles.n) > 32)
    (tiles.m >= tiles.n ? tiles.m : tiles.n) /= 2;
  if (tiles.m * tiles.n >= 128 * 128)
    tiles.warps = 8;
  return tiles;
}

// Tiles and split-K by the tuner's model, for GPUs on which no matmul has been timed: single warps
// multiply by tensor cores there. Nothing without a model.
std::optional<MatmulTiles> tilesByModel(const MatmulShape &shape) {
  constexpr int kLargest = 128;
  std::optional<MatmulTiles> best;
  double least = 0;
  for (int m = sideFor(shape.m, kLargest); m >= 16; m /= 2)
    for (int n = sideFor(shape.n, kLargest); n >= 16; n /= 2)
      for (int parts : {1, 2, 4, 8}) {
        MatmulTiles tiles{m, n, 64, m * n >= kLargest * kLargest ? 8 : 4,
                          splitKSchedule(parts, /*hasProducer=*/false)};
        std::optional<double> seconds =
            *objectionTo(tiles, shape)
                ? std::nullopt
                : predictedSeconds(workOf(tiles, shape), shape.target, shape.multiprocessors);
        double compared = seconds.value_or(0) * (parts > 1 ? kLeastGainOfSplitK : 1.0);
        if (seconds && (!best || compared < least))
          best = tiles, least = compared;
      }
  return best;
}

// --- One column: GEMV ----------------------------------------------------------------------------

// Reading the matrix once takes all the time there is.
bool usesGemvKernel(const MatmulShape &shape) {
  bool isNarrow = isHalf(shape.dtype) || shape.dtype == f32;
  return shape.n == 1 && shape.isKMajor && isNarrow;
}

// The results of a program fill a sector of memory.
MatmulTiles gemvTiles(const MatmulShape &shape) {
  constexpr int kSectorBytes = 32, kWarps = 8, kLanes = 32, kBytesOfThread = kGemvLoads * 16;
  int rows = std::max(kSectorBytes / static_cast<int>(sizeOf(shape.result)), kWarps);
  int depth = kWarps * kLanes * kBytesOfThread / static_cast<int>(sizeOf(shape.dtype)) / rows;
  return {rows, 1, std::min(depth, std::max(sideFor(shape.k, depth), kLanes)), kWarps};
}

// --- A few columns: small N ----------------------------------------------------------------------

// Each lane has eight 16-byte loads of the matrix in flight, and eight more for the next step.
bool usesSmallNKernel(const MatmulShape &shape) {
  constexpr int64_t kBytes = 16;
  return isHalf(shape.dtype) && shape.isKMajor && shape.n > 1 && shape.n <= kSmallNColumns &&
         shape.m >= kSmallNRows &&
         shape.k * static_cast<int64_t>(sizeOf(shape.dtype)) % kBytes == 0;
}

constexpr int kSmallNRowsOfTile = 16, kSmallNLeastDepth = 32; // of a warp's part of K

MatmulTiles smallNTiles(const MatmulShape &shape) {
  constexpr int kMostDepth = 128;
  int depth = kSmallNLeastDepth;
  while (depth < kMostDepth && depth * kSmallNParts < shape.k)
    depth *= 2;
  return {kSmallNRowsOfTile, kSmallNColumns, depth * kSmallNParts, kSmallNParts};
}

// --- Skinny: bound by reading the operand with the rows ------------------------------------------

constexpr int64_t kRingBytes = 192 * 1024; // of a ring, beside what a tile is stored through

/// Tiles of which several side by side have the columns; from the one that reads least.
constexpr MatmulTiles kOneWaveTiles[] = {{128, 64, 128, 8}, {64, 128, 128, 4}, {64, 64, 128, 4}};

// Null unless some of them fit one wave of programs.
const MatmulTiles *oneWaveTiles(const MatmulShape &shape) {
  if (shape.n <= kSkinnyColumns || shape.n > kOneWaveColumns)
    return nullptr;
  const MatmulTiles *most = nullptr;
  for (const MatmulTiles &tiles : kOneWaveTiles) {
    bool isOriented = tiles.m == tiles.n || (tiles.m > tiles.n) == shape.isKMajor;
    if (isOriented && programs(shape, tiles.m, tiles.n) <= shape.multiprocessors)
      most = &tiles;
  }
  return most;
}

bool clusterSplitKPays(const MatmulShape &shape) {
  return shape.k >= kClusterSplitKDepth && shape.n >= kClusterSplitKFewest &&
         shape.n <= kClusterSplitKMost &&
         2 * programs(shape, 64, kClusterSplitKMost) <= shape.multiprocessors;
}

bool memorySplitKPays(const MatmulShape &shape) {
  return shape.k >= kMemorySplitKDepth && shape.n > kSkinnyColumns && shape.n <= kOneWaveColumns &&
         2 * programs(shape, 128, 128) <= shape.multiprocessors;
}

// Few rows per program, so that all multiprocessors read, in one wave.
MatmulTiles skinnyTiles(const MatmulShape &shape) {
  if (memorySplitKPays(shape))
    return {128, 128, 64, 8, MatmulSchedule::SplitK2};
  if (const MatmulTiles *tiles = oneWaveTiles(shape))
    return *tiles;
  if (clusterSplitKPays(shape))
    return {64, 16, 64, 4, MatmulSchedule::ClusterSplitK2};
  bool splitsColumns = shape.m < kRowsForFullWidth && shape.n > 16;
  int columns = sideFor(splitsColumns ? (shape.n + 1) / 2 : shape.n, kSkinnyColumns);
  int rows = 64;
  while (rows < 256 && programs(shape, rows, columns) > shape.multiprocessors)
    rows *= 2;
  constexpr int64_t kMostRingBytes = 216 * 1024; // beside barriers
  bool isDeep = int64_t{rows + columns} * kSkinnyLongStep * 2 * kSkinnyStages <= kMostRingBytes;
  bool hasSeveral = programs(shape, rows, columns) > shape.multiprocessors;
  bool isPersistent = hasSeveral && sizeOf(shape.result) == 2;
  return {rows, columns, isDeep ? kSkinnyLongStep : 64, rows > 64 ? 8 : 4,
          isPersistent ? MatmulSchedule::Persistent : MatmulSchedule::OneTile};
}

bool usesWarpgroups(const MatmulShape &shape) {
  return shape.gpu.has_wgmma && (isHalf(shape.dtype) || (isFloat8(shape.dtype) && shape.isKMajor));
}

// Unaligned operands, which threads would load into registers, have smaller steps elsewhere.
bool isSkinny(const MatmulShape &shape) {
  bool hasFewColumns = shape.n <= kSkinnyColumns || oneWaveTiles(shape);
  return usesWarpgroups(shape) && isHalf(shape.dtype) && shape.aligned && hasFewColumns &&
         shape.m > shape.n && shape.m >= kSkinnyRows;
}

} // namespace

bool isComputedTransposed(const MatmulShape &shape) {
  MatmulShape transposed = shape;
  std::swap(transposed.m, transposed.n);
  if (usesGemvKernel(shape) || usesSmallNKernel(shape))
    return false;
  return usesGemvKernel(transposed) || usesSmallNKernel(transposed) || isSkinny(transposed);
}

bool usesSmallNKernel(const MatmulTiles &tiles, DType dtype) {
  return isHalf(dtype) && tiles.m == kSmallNRowsOfTile && tiles.n == kSmallNColumns &&
         tiles.k % (kSmallNParts * kSmallNLeastDepth) == 0;
}

MatmulTiles chooseTiles(const MatmulShape &shape) {
  if (usesGemvKernel(shape))
    return gemvTiles(shape);
  if (usesSmallNKernel(shape))
    return smallNTiles(shape);
  if (isSkinny(shape))
    return skinnyTiles(shape);
  bool isLarge = shape.m >= kWarpgroupExtent && shape.n >= kWarpgroupExtent;
  if (usesWarpgroups(shape) && isLarge)
    return warpgroupTiles(shape);
  if (!shape.gpu.has_wgmma && sizeOf(shape.dtype) <= 2)
    return tilesByModel(shape).value_or(warpTiles(shape));
  return warpTiles(shape);
}

// TMA runs as far ahead as there is memory for; threads that copy gain little beyond two steps.
Range matmulSteps(Range steps, const MatmulTiles &tiles, DType dtype) {
  constexpr int kStagesByThreads = 3, kMostStagesByTma = 8;
  if (!target().has_tma || sizeOf(dtype) > 2)
    return steps.stages(kStagesByThreads);
  auto stepBytes = int64_t{tiles.m + tiles.n} * tiles.k * static_cast<int64_t>(sizeOf(dtype));
  auto stages = static_cast<int>(
      std::clamp<int64_t>(kRingBytes / stepBytes, kStagesByThreads, kMostStagesByTma));
  return tiles.row().hasProducer ? steps.stages(stages).warp_specialize() : steps.stages(stages);
}

} // namespace tile::ops::detail
