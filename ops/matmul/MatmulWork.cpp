#include "ops/matmul/MatmulWork.h"

#include <algorithm>
#include <cmath>

namespace tile::ops::detail {
namespace {

constexpr int kLanes = 32;

bool usesWarpgroups(const MatmulTiles &tiles, const MatmulShape &shape) {
  return shape.gpu.has_wgmma && sizeOf(shape.dtype) <= 2 && tiles.warps % 4 == 0 &&
         tiles.m % 64 == 0;
}

/// A tile of warpgroups and the part of the peak rate that it reaches, also with ping-pong if that
/// was timed. Fitted to times on an H100 (bench/recordings/matmul-bf16-h100.jsonl), 2026-11-26.
struct Rate {
  int m, n;
  double usual, pingPong;
};
constexpr Rate kRates[] = {{128, 256, 0.985, 0}, {256, 128, 0.98, 0},    {256, 192, 0.99, 0},
                           {128, 192, 0.94, 0},  {128, 128, 0.92, 0.94}, {64, 256, 0.91, 0.92},
                           {64, 128, 0.67, 0},   {128, 64, 0.62, 0},     {64, 64, 0.52, 0}};

// For other tiles it follows from how often each operand is read from shared memory.
double rateOf(const MatmulTiles &tiles, const MatmulShape &shape) {
  bool byWarpgroups = usesWarpgroups(tiles, shape);
  if (byWarpgroups)
    for (const Rate &rate : kRates)
      if (rate.m == tiles.m && rate.n == tiles.n)
        return tiles.row().isPingPong && rate.pingPong > 0 ? rate.pingPong : rate.usual;
  double read = 1.0 / tiles.m + 1.0 / tiles.n;
  constexpr double kLeastRead = 2.0 / 128; // of a tile that reads its operands in time
  double rate = std::min(1.0, kLeastRead / read);
  // Single warps take the operands of mma.sync through registers.
  return rate * (shape.gpu.has_wgmma && !byWarpgroups ? 0.62 : 0.92);
}

} // namespace

const char *objectionTo(const MatmulTiles &tiles, const MatmulShape &shape) {
  const MatmulScheduleRow &row = tiles.row();
  int accumulators = tiles.m * tiles.n / (tiles.warps * kLanes), parts = row.split.parts;
  bool needsTma = row.hasProducer || row.clusterBlocks() > 1;
  if (shape.n == 1)
    return "GEMV is computed row by row";
  if (accumulators > 128 * (sizeOf(shape.dtype) > 4 ? 0.5 : 1) || accumulators < 4)
    return "a thread has 4 to 128 accumulators";
  if (tiles.m > 2 * std::max<int64_t>(shape.m, 32) || tiles.n > 2 * std::max<int64_t>(shape.n, 32))
    return "tiles are at most twice as large as the result";
  if (needsTma && !(shape.gpu.has_tma && shape.aligned))
    return "producer warps and clusters need TMA";
  if (needsTma && !usesWarpgroups(tiles, shape))
    return "producer warps and clusters load for warpgroups (wgmma)";
  if (row.isPersistent && sizeOf(shape.result) != 2)
    return "persistent programs store 16-bit results";
  if (row.isPingPong && tiles.warps != 4)
    return "each of ping-pong's two consumers is one warpgroup";
  if (parts > 1 && programs(shape, tiles.m, tiles.n) * parts > shape.multiprocessors)
    return "all parts of split-K run in one wave";
  if (parts > 1 && shape.k < kLeastDepthOfPart * parts)
    return "parts of split-K are deep enough to pay for adding up";
  return "";
}

Work workOf(const MatmulTiles &tiles, const MatmulShape &shape) {
  const MatmulScheduleRow &row = tiles.row();
  int parts = row.split.parts;
  auto m = static_cast<double>(tiles.m), n = static_cast<double>(tiles.n),
       k = static_cast<double>(shape.k) / parts;
  auto bytes = static_cast<double>(sizeOf(shape.dtype)),
       resultBytes = static_cast<double>(sizeOf(shape.result));
  auto rows = static_cast<double>(shape.m), columns = static_cast<double>(shape.n);
  Work work;
  work.programs = static_cast<double>(cdiv(shape.m, tiles.m) * cdiv(shape.n, tiles.n) *
                                      std::max<int64_t>(shape.batches, 1) * parts);
  work.multiplyAdds = m * n * k;
  work.factors = shape.dtype;
  // Clusters read less through the L2 cache, which does not bound these kernels, and synchronize.
  work.productRate = rateOf(tiles, shape) / (row.clusterBlocks() > 1 ? 1.02 : 1);
  work.bytesRead = (m + n) * k * bytes;
  work.bytesWritten = m * n * resultBytes / parts;
  constexpr double kSumBytes = 4;
  if (row.addsUpInMemory()) // written and read, both in the L2 cache
    work.bytesRead += 2 * m * n * kSumBytes;
  int consumers = row.isPingPong ? 2 : 1;
  work.threads = tiles.warps * kLanes * consumers + (row.hasProducer ? 128 : 0);
  // The ring takes what shared memory there is; two stages at least.
  constexpr double kLeastStages = 2;
  work.sharedBytes =
      static_cast<int64_t>((m + n) * static_cast<double>(tiles.k) * bytes * kLeastStages);
  if (shape.gpu.has_tma && shape.aligned)
    work.sharedBytes = std::max<int64_t>(work.sharedBytes, 116 * 1024);
  work.isPersistent = row.isPersistent;
  work.distinctBytes =
      std::max<double>(static_cast<double>(shape.batches), 1) *
      ((rows + columns) * static_cast<double>(shape.k) * bytes + rows * columns * resultBytes);
  return work;
}

} // namespace tile::ops::detail
