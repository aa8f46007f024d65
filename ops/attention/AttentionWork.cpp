#include "ops/attention/AttentionWork.h"

#include "ops/DotTarget.h"

#include <algorithm>
#include <bit>

namespace tile::ops {
namespace {

constexpr int kLanes = 32;

int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

AttentionShape shapeOf(const Problem &problem) {
  return {problem.argument(0).dtype, problem.extent(0, 2), problem.extent(1, 2),
          problem.extent(0, 3), dotTarget(problem.target(), problem.constant("f16sums") != 0)};
}

Precision precisionOf(const Problem &problem) {
  return static_cast<Precision>(problem.constant("precision"));
}

/// The part of the peak rate that tiles reach, dots and softmax together. Fitted to times on an
/// H100 (bench/recordings/attention-bf16-h100.jsonl), 2026-11-26.
double rateOf(const AttentionTiles &tiles, const TargetInfo &gpu) {
  bool isWide = tiles.head > 64;
  double rate = 0.45; // by single warps
  if (gpu.has_wgmma && tiles.queries % 64 == 0)
    rate = tiles.overlaps() ? (tiles.teams() > 1 ? 0.76
                               : isWide          ? 0.93
                                                 : 0.68)
                            : (isWide ? 0.89 : 0.63);
  constexpr double kEnd = 19; // overhead of a tile of keys, in keys
  return rate * tiles.keys / (tiles.keys + kEnd);
}

} // namespace

AttentionPlan planOf(const Config &config, const Problem &problem) {
  auto tiles = detail::planOfConfig<AttentionTiles>(kAttentionKnobs, config);
  tiles.head = static_cast<int>(problem.constant("Head"));
  return {tiles, precisionOf(problem)};
}

std::string attentionObjection(const Config &config, const Problem &problem) {
  const AttentionTiles tiles = planOf(config, problem).tiles;
  AttentionShape shape = shapeOf(problem);
  bool usesWarpgroups = shape.gpu.has_wgmma && tiles.queries % 64 == 0 && shape.dtype != f32;
  int threads = tiles.warps * kLanes;
  int values = tiles.queries * (tiles.head + tiles.keys + tiles.keys / 2) / threads;
  // Consumers have the registers that a producer gives up; those of three consumers are fewer.
  int mostValues = !tiles.overlaps() ? 160 : tiles.teams() > 1 ? 136 : 200;
  int64_t shared = int64_t{tiles.queries * tiles.teams() + 4 * tiles.keys} * tiles.head *
                   static_cast<int64_t>(sizeOf(shape.dtype));
  if (shape.dtype == f32)
    return "tiles of f32 follow from its precision";
  if (tiles.overlaps() && !usesWarpgroups)
    return "dots overlap by warpgroups (wgmma), of 64 queries each";
  if (usesWarpgroups && tiles.queries / tiles.warps != 16)
    return "a warpgroup has 64 queries";
  if (tiles.teams() > 1 && tiles.warps != 4)
    return "each team is one warpgroup";
  if (!std::has_single_bit(static_cast<unsigned>(tiles.keys)) && !usesWarpgroups)
    return "tiles of single warps have a power of two of keys";
  if (values > mostValues)
    return "queries, scores and weights of a thread fit its registers";
  if (shared > shape.gpu.shared_bytes)
    return "queries and two tiles of keys and values fit shared memory";
  if (tiles.queries * tiles.teams() > 2 * std::max<int64_t>(shape.queries, 64))
    return "a program has at most twice as many queries as there are";
  return {};
}

Config attentionConfig(const Problem &problem) {
  return detail::configOf(kAttentionKnobs,
                          forwardPlan(shapeOf(problem), precisionOf(problem)).tiles);
}

Work attentionWork(const Config &config, const Problem &problem) {
  const AttentionTiles tiles = planOf(config, problem).tiles;
  AttentionShape shape = shapeOf(problem);
  int ofProgram = tiles.queries * tiles.teams();
  // With a causal mask a query sees half of the keys on average, and a tile that is cut.
  int64_t seen = problem.constant("causal") ? (shape.keys + ofProgram) / 2 : shape.keys;
  auto keys = static_cast<double>(cdiv(seen, tiles.keys) * tiles.keys);
  auto width = static_cast<double>(tiles.head), bytes = static_cast<double>(sizeOf(shape.dtype));
  auto heads = static_cast<double>(problem.extent(0, 0) * problem.extent(0, 1)),
       keyHeads = static_cast<double>(problem.extent(1, 0) * problem.extent(1, 1));
  Work work;
  work.programs = heads * static_cast<double>(cdiv(shape.queries, ofProgram));
  work.multiplyAdds = 2 * ofProgram * keys * width;
  work.factors = shape.dtype;
  work.productRate = rateOf(tiles, shape.gpu);
  work.bytesRead = (2 * keys + ofProgram) * width * bytes;
  work.bytesWritten = ofProgram * width * bytes;
  work.threads = tiles.warps * kLanes * tiles.teams() + (tiles.overlaps() ? 128 : 0);
  work.sharedBytes =
      static_cast<int64_t>((ofProgram + 4 * static_cast<double>(tiles.keys)) * width * bytes);
  work.distinctBytes = (2 * heads * static_cast<double>(shape.queries) +
                        2 * keyHeads * static_cast<double>(shape.keys)) *
                       width * bytes;
  return work;
}

} // namespace tile::ops
