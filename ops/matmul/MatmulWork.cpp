#include "ops/matmul/MatmulWork.h"

#include "ops/matmul/MatmulGroupTiles.h"

#include <algorithm>
#include <cmath>

namespace tile::ops::detail {
namespace {

constexpr int kLanes = 32;

bool isByGroups(const MatmulTiles &tiles, const MatmulShape &shape) {
  return shape.gpu.has_wgmma && sizeOf(shape.dtype) <= 2 && tiles.warps % 4 == 0 &&
         tiles.m % 64 == 0;
}

/// A tile and the part of the peak rate that it reaches by groups of four warps. Fitted to times on an H100.
struct Rate {
  int m, n;
  double alone, inTurn;
};
constexpr Rate kRates[] = {{128, 256, 0.985, 0}, {256, 128, 0.98, 0},    {256, 192, 0.99, 0},
                           {128, 192, 0.94, 0},  {128, 128, 0.92, 0.94}, {64, 256, 0.91, 0.92},
                           {64, 128, 0.67, 0},   {128, 64, 0.62, 0},     {64, 64, 0.52, 0}};

// Of other tiles it follows from how often each operand is read from shared memory.
double rateOf(const MatmulTiles &tiles, const MatmulShape &shape) {
  bool byGroups = isByGroups(tiles, shape);
  if (byGroups)
    for (const Rate &rate : kRates)
      if (rate.m == tiles.m && rate.n == tiles.n)
        return tiles.pingPong && rate.inTurn > 0 ? rate.inTurn : rate.alone;
  double read = 1.0 / tiles.m + 1.0 / tiles.n;
  constexpr double kLeastRead = 2.0 / 128; // of a tile that reads its operands in time
  double rate = std::min(1.0, kLeastRead / read);
  // Products of single warps take their operands through registers.
  return rate * (shape.gpu.has_wgmma && !byGroups ? 0.62 : 0.92);
}

bool isSixteenBits(DType dtype) { return sizeOf(dtype) == 2; }

} // namespace

Config configOf(const MatmulTiles &tiles) {
  return {{"BM", tiles.m},
          {"BN", tiles.n},
          {"BK", tiles.k},
          {"persistent", tiles.persistent},
          {"producer", tiles.hasProducer},
          {"pingpong", tiles.pingPong},
          {"cluster", tiles.cluster},
          {"split", tiles.split},
          {"clustered", tiles.clustered},
          {"warps", tiles.warps}};
}

MatmulTiles tilesOf(const Config &config) {
  return {static_cast<int>(config["BM"]),    static_cast<int>(config["BN"]),
          static_cast<int>(config["BK"]),    static_cast<int>(config["warps"]),
          config["persistent"] != 0,         config["producer"] != 0,
          config["pingpong"] != 0,           static_cast<int>(config["cluster"]),
          static_cast<int>(config["split"]), config["clustered"] != 0};
}

const char *contradictionIn(const MatmulTiles &tiles) {
  if (tiles.split < 1 || tiles.cluster < 1)
    return "parts of K and blocks of a cluster are 1 or more";
  if (tiles.split > 1 && (tiles.persistent || tiles.pingPong || tiles.cluster > 1))
    return "a tile whose K is split is a program's only one, and one block's";
  if (tiles.clustered && (tiles.split != 2 || tiles.hasProducer))
    return "two blocks of a cluster share K, and all of their warps load";
  return "";
}

const char *objectionTo(const MatmulTiles &tiles, const MatmulShape &shape) {
  int sums = tiles.m * tiles.n / (tiles.warps * kLanes);
  bool hasEngine = shape.gpu.has_tma && shape.aligned;
  bool hasRoles = tiles.hasProducer || tiles.pingPong || tiles.cluster > 1;
  if (shape.n == 1)
    return "a product by a vector is computed row by row";
  if (sums > 128 * (sizeOf(shape.dtype) > 4 ? 0.5 : 1) || sums < 4)
    return "a thread has 4 to 128 sums";
  if (tiles.m > 2 * std::max<int64_t>(shape.m, 32) || tiles.n > 2 * std::max<int64_t>(shape.n, 32))
    return "tiles are at most twice as large as the product";
  if (hasRoles && !hasEngine)
    return "warps that load for others, and clusters, need TMA";
  if (hasRoles && !isByGroups(tiles, shape))
    return "warps that load for others do so for products of groups of four warps";
  if ((tiles.persistent || tiles.pingPong) && !isSixteenBits(shape.result))
    return "persistent programs store results of 16 bits";
  if (tiles.pingPong && !(tiles.persistent && tiles.hasProducer && tiles.warps == 4))
    return "teams in turn are two of four warps, persistent, for which a warp loads";
  if (tiles.cluster > 1 && !tiles.hasProducer)
    return "blocks of a cluster share what a warp loads";
  if (const char *contradiction = contradictionIn(tiles); *contradiction)
    return contradiction;
  if (tiles.clustered && !(hasEngine && isByGroups(tiles, shape)))
    return "blocks that share K are groups of four warps, for which TMA loads";
  if (tiles.split > 1 && programs(shape, tiles.m, tiles.n) * tiles.split > shape.multiprocessors)
    return "programs that share K all run at once";
  if (tiles.split > 1 && shape.k < kLeastDepthOfPart * tiles.split)
    return "parts of K are long enough to be worth adding up";
  return "";
}

Work workOf(const MatmulTiles &tiles, const MatmulShape &shape) {
  auto m = static_cast<double>(tiles.m), n = static_cast<double>(tiles.n),
       k = static_cast<double>(shape.k) / tiles.split;
  auto bytes = static_cast<double>(sizeOf(shape.dtype)),
       resultBytes = static_cast<double>(sizeOf(shape.result));
  auto rows = static_cast<double>(shape.m), columns = static_cast<double>(shape.n);
  Work work;
  work.programs = static_cast<double>(cdiv(shape.m, tiles.m) * cdiv(shape.n, tiles.n) *
                                      std::max<int64_t>(shape.batches, 1) * tiles.split);
  work.multiplyAdds = m * n * k;
  work.factors = shape.dtype;
  // Clusters read less of the L2 cache, which is not what these products wait for, and wait for each other.
  work.productRate = rateOf(tiles, shape) / (tiles.blocks() > 1 ? 1.02 : 1);
  work.bytesRead = (m + n) * k * bytes;
  work.bytesWritten = m * n * resultBytes / tiles.split;
  constexpr double kSumBytes = 4;
  if (tiles.split > 1 && !tiles.clustered) // written and read, both in the L2 cache
    work.bytesRead += 2 * m * n * kSumBytes;
  int teams = tiles.pingPong ? 2 : 1;
  work.threads = tiles.warps * kLanes * teams + (tiles.hasProducer ? 128 : 0);
  // A ring of the steps along K takes what shared memory there is; two steps at least.
  constexpr double kLeastSteps = 2;
  work.sharedBytes =
      static_cast<int64_t>((m + n) * static_cast<double>(tiles.k) * bytes * kLeastSteps);
  if (shape.gpu.has_tma && shape.aligned)
    work.sharedBytes = std::max<int64_t>(work.sharedBytes, 116 * 1024);
  work.isPersistent = tiles.persistent;
  work.distinctBytes =
      std::max<double>(static_cast<double>(shape.batches), 1) *
      ((rows + columns) * static_cast<double>(shape.k) * bytes + rows * columns * resultBytes);
  return work;
}

} // namespace tile::ops::detail
