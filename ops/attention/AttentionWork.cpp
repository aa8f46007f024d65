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

/// The part of the peak rate that tiles reach, products and softmax together; wide tiles have fewer ends. Fitted to times on
/// an H100.
double rateOf(const AttentionPlan &plan, const TargetInfo &gpu) {
  const AttentionTiles &tiles = plan.tiles;
  bool isWide = tiles.head > 64;
  double rate = 0.45; // by single warps
  if (gpu.has_wgmma && tiles.queries % 64 == 0)
    rate = plan.overlaps ? (tiles.teams > 1 ? 0.76 : isWide ? 0.93 : 0.68) : (isWide ? 0.89 : 0.63);
  constexpr double kEnd = 19; // what a tile of keys costs beside them, in keys
  return rate * tiles.keys / (tiles.keys + kEnd);
}

} // namespace

Config configOf(const AttentionPlan &plan) {
  return {{"Queries", plan.tiles.queries},
          {"Keys", plan.tiles.keys},
          {"Teams", plan.tiles.teams},
          {"overlaps", plan.overlaps},
          {"warps", plan.tiles.warps}};
}

AttentionPlan planOf(const Config &config, const Problem &problem) {
  return {{static_cast<int>(config["Queries"]), static_cast<int>(config["Keys"]),
           static_cast<int>(problem.constant("Head")), static_cast<int>(config["warps"]),
           static_cast<int>(config["Teams"])},
          precisionOf(problem),
          config["overlaps"] != 0};
}

std::string attentionObjection(const Config &config, const Problem &problem) {
  AttentionPlan plan = planOf(config, problem);
  AttentionShape shape = shapeOf(problem);
  const AttentionTiles &tiles = plan.tiles;
  bool isByGroups = shape.gpu.has_wgmma && tiles.queries % 64 == 0 && shape.dtype != f32;
  int threads = tiles.warps * kLanes;
  int values = tiles.queries * (tiles.head + tiles.keys + tiles.keys / 2) / threads;
  // Roles leave a group of warps the registers of the one that loads; three groups have fewer.
  int mostValues = !plan.overlaps ? 160 : tiles.teams > 1 ? 136 : 200;
  int64_t shared = int64_t{tiles.queries * tiles.teams + 4 * tiles.keys} * tiles.head *
                   static_cast<int64_t>(sizeOf(shape.dtype));
  if (shape.dtype == f32)
    return "tiles of f32 follow from its precision";
  if (plan.overlaps && !isByGroups)
    return "products of two iterations overlap where groups of four warps have 64 queries and more";
  if (isByGroups && tiles.queries / tiles.warps != 16)
    return "a group of four warps has 64 queries";
  if (tiles.teams > 1 && (!plan.overlaps || tiles.warps != 4))
    return "teams are groups of four warps for which a warp loads";
  if (!std::has_single_bit(static_cast<unsigned>(tiles.keys)) && !isByGroups)
    return "tiles of single warps have a power of two of keys";
  if (values > mostValues)
    return "queries, scores and weights of a thread fit its registers";
  if (shared > shape.gpu.shared_bytes)
    return "queries and two tiles of keys and values fit shared memory";
  if (tiles.queries * tiles.teams > 2 * std::max<int64_t>(shape.queries, 64))
    return "a program has at most twice as many queries as there are";
  return {};
}

Config attentionConfig(const Problem &problem) {
  return configOf(forwardPlan(shapeOf(problem), precisionOf(problem)));
}

Work attentionWork(const Config &config, const Problem &problem) {
  AttentionPlan plan = planOf(config, problem);
  AttentionShape shape = shapeOf(problem);
  const AttentionTiles &tiles = plan.tiles;
  int ofProgram = tiles.queries * tiles.teams;
  // Of all programs together a query sees half of the keys if the mask is causal, and a tile of them that is cut.
  int64_t seen = problem.constant("causal") ? (shape.keys + ofProgram) / 2 : shape.keys;
  auto keys = static_cast<double>(cdiv(seen, tiles.keys) * tiles.keys);
  auto width = static_cast<double>(tiles.head), bytes = static_cast<double>(sizeOf(shape.dtype));
  auto heads = static_cast<double>(problem.extent(0, 0) * problem.extent(0, 1)),
       keyHeads = static_cast<double>(problem.extent(1, 0) * problem.extent(1, 1));
  Work work;
  work.programs = heads * static_cast<double>(cdiv(shape.queries, ofProgram));
  work.multiplyAdds = 2 * ofProgram * keys * width;
  work.factors = shape.dtype;
  work.productRate = rateOf(plan, shape.gpu);
  work.bytesRead = (2 * keys + ofProgram) * width * bytes;
  work.bytesWritten = ofProgram * width * bytes;
  work.threads = tiles.warps * kLanes * tiles.teams + (plan.overlaps ? 128 : 0);
  work.sharedBytes =
      static_cast<int64_t>((ofProgram + 4 * static_cast<double>(tiles.keys)) * width * bytes);
  work.distinctBytes = (2 * heads * static_cast<double>(shape.queries) +
                        2 * keyHeads * static_cast<double>(shape.keys)) *
                       width * bytes;
  return work;
}

} // namespace tile::ops
