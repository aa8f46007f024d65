#include "ops/matmul/MatmulTiles.h"

#include "ops/matmul/MatmulGroupTiles.h"
#include "ops/matmul/MatmulWork.h"

#include <algorithm>
#include <optional>

namespace tile::ops::detail {

namespace {

/// Programs that keep a large GPU busy; with fewer, smaller tiles finish earlier.
constexpr int64_t kBusyPrograms = 128;

/// The power of two that covers `extent`, from 16 to `largest`.
int sideFor(int64_t extent, int largest) {
  int side = 16;
  while (side < extent && side < largest)
    side *= 2;
  return side;
}

// --- Warps by themselves ---------------------------------------------------------------------------

// Each halving of tiles that are too few to keep the GPU busy doubles the programs.
MatmulTiles tilesOfWarps(const MatmulShape &shape) {
  // Fused multiply-adds hold both operands in registers, so their tiles are smaller.
  if (shape.dtype == f64)
    return {sideFor(shape.m, 32), sideFor(shape.n, 32), 16, 4};
  bool isFloat = shape.dtype == f32,
       onTensorCores = !isFloat || shape.how.precision != Precision::ieee;
  int largest = onTensorCores && !(isFloat && shape.how.precision == Precision::tf32x3) ? 128 : 64;
  // 128 bytes of K a step, whole lines of the caches: a step has work for all of a pipeline's waits. 8-bit floats have as
  // many as their widened copies.
  MatmulTiles tiles = {sideFor(shape.m, largest), sideFor(shape.n, largest), isFloat ? 32 : 64, 4};
  while (programs(shape, tiles.m, tiles.n) < kBusyPrograms && std::max(tiles.m, tiles.n) > 32)
    (tiles.m >= tiles.n ? tiles.m : tiles.n) /= 2;
  if (tiles.m * tiles.n >= 128 * 128)
    tiles.warps = 8;
  return tiles;
}

// Tiles and parts of K by the tuner's model, for GPUs on which no product has been timed: single warps multiply by tensor cores
// there. Parts are unmeasured even where the rest is not, so they must promise more than they may err by. Nothing without a model.
std::optional<MatmulTiles> tilesByModel(const MatmulShape &shape) {
  constexpr double kLeastGainOfParts = 1.25;
  constexpr int kLargest = 128;
  std::optional<MatmulTiles> best;
  double least = 0;
  for (int m = sideFor(shape.m, kLargest); m >= 16; m /= 2)
    for (int n = sideFor(shape.n, kLargest); n >= 16; n /= 2)
      for (int parts : {1, 2, 4, 8}) {
        MatmulTiles tiles{m, n, 64, m * n >= kLargest * kLargest ? 8 : 4};
        tiles.split = parts;
        std::optional<double> seconds =
            *objectionTo(tiles, shape)
                ? std::nullopt
                : predictedSeconds(workOf(tiles, shape), shape.target, shape.multiprocessors);
        double compared = seconds.value_or(0) * (parts > 1 ? kLeastGainOfParts : 1);
        if (seconds && (!best || compared < least))
          best = tiles, least = compared;
      }
  return best;
}

// --- A vector -----------------------------------------------------------------------------------------

// Rows of the matrix are read once, which takes all the time there is: each thread has eight loads of 16 bytes under way. On an H100
// that is 8 % faster than tensor cores, whose columns would be empty but for one.
bool isByVector(const MatmulShape &shape) {
  bool isNarrow = isHalf(shape.dtype) || shape.dtype == f32;
  return shape.n == 1 && shape.lieAlongK && isNarrow;
}

// The results of a program fill a sector of memory.
MatmulTiles tilesByVector(const MatmulShape &shape) {
  constexpr int kSectorBytes = 32, kWarps = 8, kBytesOfThread = 8 * 16, kLanes = 32;
  int rows = std::max(kSectorBytes / static_cast<int>(sizeOf(shape.result)), kWarps);
  int depth = kWarps * kLanes * kBytesOfThread / static_cast<int>(sizeOf(shape.dtype)) / rows;
  return {rows, 1, std::min(depth, std::max(sideFor(shape.k, depth), kLanes)), kWarps};
}

// A few vectors are the columns of the narrowest instruction. Each lane has eight loads of 16 bytes of the matrix under way, and
// eight more; of kernels by hand on an H100 that is 2 % faster than groups of warps, whose operands go through shared memory.
bool isByVectors(const MatmulShape &shape) {
  constexpr int64_t kFewestRows = 64, kBytes = 16;
  return isHalf(shape.dtype) && shape.lieAlongK && shape.n > 1 && shape.n <= kColumnsOfVectors &&
         shape.m >= kFewestRows &&
         shape.k * static_cast<int64_t>(sizeOf(shape.dtype)) % kBytes == 0;
}

constexpr int kRowsByVectors = 16, kLeastDepthByVectors = 32; // of a warp's part of K

MatmulTiles tilesByVectors(const MatmulShape &shape) {
  constexpr int kMostDepth = 128;
  int depth = kLeastDepthByVectors;
  while (depth < kMostDepth && depth * kPartsByVectors < shape.k)
    depth *= 2;
  return {kRowsByVectors, kColumnsOfVectors, depth * kPartsByVectors, kPartsByVectors};
}

// --- Few columns, whose product is bound by reading the rows' operand ---------------------------------

/// Columns of a product up to which reading the other operand takes longer than multiplying, and rows from which on groups of
/// warps have enough of them.
constexpr int64_t kMostSkinny = 128, kFewestRowsOfSkinny = 64;
/// Of fewer rows not every multiprocessor has a tile that reads them, so that columns are shared as well.
constexpr int64_t kRowsThatFill = 6400;
constexpr int64_t kRingBytes = 192 * 1024;

/// More columns are shared by programs, so that all multiprocessors have work, up to so many; tiles from the one that reads least.
constexpr int64_t kMostShared = 256;
constexpr MatmulTiles kSharedTiles[] = {{128, 64, 128, 8}, {64, 128, 128, 4}, {64, 64, 128, 4}};

// Tiles for one round of programs; null if there is none. By hand on an H100, of matrices along K the tile with more rows of them is
// faster, of others that with fewer.
const MatmulTiles *sharedTiles(const MatmulShape &shape) {
  if (shape.n <= kMostSkinny || shape.n > kMostShared)
    return nullptr;
  const MatmulTiles *most = nullptr;
  for (const MatmulTiles &tiles : kSharedTiles) {
    bool isOriented = tiles.m == tiles.n || (tiles.m > tiles.n) == shape.lieAlongK;
    if (isOriented && programs(shape, tiles.m, tiles.n) <= shape.multiprocessors)
      most = &tiles;
  }
  return most;
}

// Of few rows of a matrix with a deep K two blocks share a tile. By hand on an H100 that is 4 % faster for up to 16 columns of
// 4096 x 14336 (2 % if it does not lie along K), and no faster with more columns, with fewer, or with K = 4096.
bool paysSharingDepth(const MatmulShape &shape) {
  constexpr int64_t kLeastDepth = 8192, kFewestColumns = 9, kMostColumns = 16;
  return shape.k >= kLeastDepth && shape.n >= kFewestColumns && shape.n <= kMostColumns &&
         2 * programs(shape, 64, kMostColumns) <= shape.multiprocessors;
}

// More columns are as few tiles, whose parts go through global memory: so large a tile is added up faster there. By hand on an H100
// that is 11 % faster for 256 columns of 4096 x 14336 than smaller tiles, and than a cluster 14 %.
bool paysSharingDepthInMemory(const MatmulShape &shape) {
  constexpr int64_t kLeastDepth = 8192;
  return shape.k >= kLeastDepth && shape.n > kMostSkinny && shape.n <= kMostShared &&
         2 * programs(shape, 128, 128) <= shape.multiprocessors;
}

MatmulTiles tilesOfDepthInMemory() {
  MatmulTiles tiles{128, 128, 64, 8};
  tiles.split = 2;
  return tiles;
}

MatmulTiles tilesOfSharedDepth() {
  MatmulTiles tiles{64, 16, 64, 4};
  tiles.split = 2, tiles.clustered = true;
  return tiles;
}

// Few rows a program, so that all multiprocessors read, in one round; and 128 of K a step where four of these have room, since
// their copies and waits are half as many. By hand on an H100 more programs on a multiprocessor are no faster.
MatmulTiles tilesOfSkinny(const MatmulShape &shape) {
  if (paysSharingDepthInMemory(shape))
    return tilesOfDepthInMemory();
  if (const MatmulTiles *tiles = sharedTiles(shape))
    return *tiles;
  if (paysSharingDepth(shape))
    return tilesOfSharedDepth();
  bool sharesColumns = shape.m < kRowsThatFill && shape.n > 16;
  int columns = sideFor(sharesColumns ? (shape.n + 1) / 2 : shape.n, kMostSkinny);
  int rows = 64;
  while (rows < 256 && programs(shape, rows, columns) > shape.multiprocessors)
    rows *= 2;
  constexpr int kLongStep = 128, kFewestStages = 4;
  constexpr int64_t kMostRingBytes = 216 * 1024; // beside barriers
  bool isDeep = int64_t{rows + columns} * kLongStep * 2 * kFewestStages <= kMostRingBytes;
  bool hasSeveral = programs(shape, rows, columns) > shape.multiprocessors;
  return {rows, columns, isDeep ? kLongStep : 64, rows > 64 ? 8 : 4,
          hasSeveral && sizeOf(shape.result) == 2};
}

bool hasGroups(const MatmulShape &shape) {
  return shape.gpu.has_wgmma && (isHalf(shape.dtype) || (isFloat8(shape.dtype) && shape.lieAlongK));
}

// What threads would load into registers is left to smaller steps.
bool hasFewColumns(const MatmulShape &shape) {
  bool areFew = shape.n <= kMostSkinny || sharedTiles(shape);
  return hasGroups(shape) && isHalf(shape.dtype) && shape.aligned && areFew && shape.m > shape.n &&
         shape.m >= kFewestRowsOfSkinny;
}

} // namespace

bool isComputedTransposed(const MatmulShape &shape) {
  MatmulShape transposed = shape;
  std::swap(transposed.m, transposed.n);
  if (isByVector(shape) || isByVectors(shape))
    return false;
  return isByVector(transposed) || isByVectors(transposed) || hasFewColumns(transposed);
}

bool areByVectors(const MatmulTiles &tiles, DType dtype) {
  return isHalf(dtype) && tiles.m == kRowsByVectors && tiles.n == kColumnsOfVectors &&
         tiles.k % (kPartsByVectors * kLeastDepthByVectors) == 0;
}

MatmulTiles chooseTiles(const MatmulShape &shape) {
  if (isByVector(shape))
    return tilesByVector(shape);
  if (isByVectors(shape))
    return tilesByVectors(shape);
  if (hasFewColumns(shape))
    return tilesOfSkinny(shape);
  bool isLarge = shape.m >= kFewestForGroups && shape.n >= kFewestForGroups;
  if (hasGroups(shape) && isLarge)
    return tilesOfGroups(shape);
  if (!shape.gpu.has_wgmma && sizeOf(shape.dtype) <= 2)
    return tilesByModel(shape).value_or(tilesOfWarps(shape));
  return tilesOfWarps(shape);
}

// The copy engine runs as far ahead as there is memory for; threads that copy gain little beyond two steps.
Range matmulSteps(Range steps, const MatmulTiles &tiles, DType dtype) {
  constexpr int kByThreads = 3, kMostByEngine = 8;
  if (!target().has_tma || sizeOf(dtype) > 2)
    return steps.stages(kByThreads);
  auto stepBytes = int64_t{tiles.m + tiles.n} * tiles.k * static_cast<int64_t>(sizeOf(dtype));
  auto stages =
      static_cast<int>(std::clamp<int64_t>(kRingBytes / stepBytes, kByThreads, kMostByEngine));
  return tiles.hasProducer ? steps.stages(stages).warp_specialize() : steps.stages(stages);
}

} // namespace tile::ops::detail
