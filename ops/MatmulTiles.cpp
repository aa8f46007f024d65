#include "ops/MatmulTiles.h"

#include <algorithm>

namespace tile::ops::detail {

namespace {

/// Programs that keep a large GPU busy; with fewer, smaller tiles finish earlier.
constexpr int64_t kBusyPrograms = 128;

int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t programs(const MatmulShape &shape, int m, int n) {
  return shape.batches * cdiv(shape.m, m) * cdiv(shape.n, n);
}

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

bool isHalf(DType dtype) { return dtype == f16 || dtype == bf16; }

// --- Groups of four warps ----------------------------------------------------------------------------

/// A tile that groups of warps compute by wgmma, and the part of a multiprocessor's peak rate that it
/// reaches with long K: of what each step reads, larger tiles make more products. Measured on an H100.
struct GroupTile {
  int m, n, warps;
  double rate;
};
constexpr GroupTile kGroupTiles[] = {{128, 256, 8, 1.0}, {256, 128, 8, 1.0}, {128, 128, 8, 0.86},
                                     {64, 128, 4, 0.62}, {128, 64, 4, 0.62}, {64, 64, 4, 0.4}};

// Rows and columns that are too few for the smallest of them.
constexpr int64_t kFewestForGroups = 33;

/// Are sums of 8-bit floats added up in f32 step by step? Each then waits for its products, and has no time to load.
bool hasPromotedSums(const MatmulShape &shape) {
  return isFloat8(shape.dtype) && !shape.how.fast_accumulation;
}

// Two tiles of sums beside those that they are added to take a thread's registers.
bool fits(const GroupTile &tile, const MatmulShape &shape) {
  constexpr int kThreads = 32, kMostPromoted = 64;
  return !hasPromotedSums(shape) || tile.m * tile.n / (tile.warps * kThreads) <= kMostPromoted;
}

// Of a large result with few steps a tile two teams store and multiply in turn: on an H100 8 % faster at K = 1024 than cuBLAS, where
// one that does either at a time is 3 to 6 % faster. With few columns (65536 x 1024) it reads too much: 12 % slower.
bool paysTakingTurns(const MatmulShape &shape) {
  constexpr int64_t kMostSteps = 1024, kFewestRows = 4096;
  return isHalf(shape.dtype) && sizeOf(shape.result) == 2 && shape.aligned && shape.alignedResult &&
         shape.k <= kMostSteps && shape.m >= kFewestRows && shape.n >= kFewestRows;
}

// The time of a program is that of its products; as many run at once as there are multiprocessors, and the last round
// takes as long as a full one.
MatmulTiles tilesOfGroups(const MatmulShape &shape) {
  if (paysTakingTurns(shape))
    return {128, 128, 64, 4, /*persistent=*/true, /*hasProducer=*/true, /*pingPong=*/true};
  const GroupTile *best = nullptr;
  double bestTime = 0;
  for (const GroupTile &tile : kGroupTiles) {
    if (!fits(tile, shape))
      continue;
    auto rounds = static_cast<double>(cdiv(programs(shape, tile.m, tile.n), shape.multiprocessors));
    double time = rounds * tile.m * tile.n / tile.rate;
    if (!best || time < bestTime)
      best = &tile, bestTime = time;
  }
  // A tile of 16 bits is stored part after part: shared memory is left to the steps of the next.
  bool hasSeveral = programs(shape, best->m, best->n) > shape.multiprocessors;
  // Rows of the widest swizzle; of two in a row the sums of one are added up while the next are computed.
  bool isPromoted = hasPromotedSums(shape);
  int depth = (isPromoted ? 256 : 128) / static_cast<int>(sizeOf(shape.dtype));
  bool isPersistent = hasSeveral && sizeOf(shape.result) == 2;
  return {best->m, best->n, depth, best->warps, isPersistent, isPromoted};
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

MatmulTiles tilesOfSharedDepth() {
  MatmulTiles tiles{64, 16, 64, 4};
  tiles.split = 2;
  return tiles;
}

// Few rows a program, so that all multiprocessors read, in one round; and 128 of K a step, whose copies and waits are half as
// many. By hand on an H100 more programs on a multiprocessor are no faster.
MatmulTiles tilesOfSkinny(const MatmulShape &shape) {
  if (const MatmulTiles *tiles = sharedTiles(shape))
    return *tiles;
  if (paysSharingDepth(shape))
    return tilesOfSharedDepth();
  bool sharesColumns = shape.m < kRowsThatFill && shape.n > 16;
  int columns = sideFor(sharesColumns ? (shape.n + 1) / 2 : shape.n, kMostSkinny);
  int rows = 64;
  while (rows < 256 && programs(shape, rows, columns) > shape.multiprocessors)
    rows *= 2;
  constexpr int kLongStep = 128, kFewestStages = 3;
  constexpr int64_t kMostRingBytes = 216 * 1024; // beside barriers
  bool isDeep = int64_t{rows + columns} * kLongStep * 2 * kFewestStages <= kMostRingBytes;
  bool hasSeveral = programs(shape, rows, columns) > shape.multiprocessors;
  return {rows, columns, isDeep ? kLongStep : 64, rows > 64 ? 8 : 4,
          hasSeveral && sizeOf(shape.result) == 2};
}

bool hasGroups(const MatmulShape &shape) {
  return shape.target == "sm_90a" &&
         (isHalf(shape.dtype) || (isFloat8(shape.dtype) && shape.lieAlongK));
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
  return hasGroups(shape) && isLarge ? tilesOfGroups(shape) : tilesOfWarps(shape);
}

// The copy engine runs as far ahead as there is memory for; threads that copy gain little beyond two steps.
Range matmulSteps(Range steps, const MatmulTiles &tiles, DType dtype) {
  constexpr int kByThreads = 3, kMostByEngine = 8;
  if (target().sm < 90 || sizeOf(dtype) > 2)
    return steps.stages(kByThreads);
  auto stepBytes = int64_t{tiles.m + tiles.n} * tiles.k * static_cast<int64_t>(sizeOf(dtype));
  auto stages =
      static_cast<int>(std::clamp<int64_t>(kRingBytes / stepBytes, kByThreads, kMostByEngine));
  return tiles.hasProducer ? steps.stages(stages).warp_specialize() : steps.stages(stages);
}

} // namespace tile::ops::detail
