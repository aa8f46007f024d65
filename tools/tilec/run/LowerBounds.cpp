#include "tools/tilec/run/LowerBounds.h"

#include "ir/target/Target.h"

#include <algorithm>
#include <cstdio>

namespace tile::tilec {
namespace {

/// Warp instructions, by the four schedulers of a multiprocessor.
constexpr double kIssuedPerCycle = 4;

/// The unit by which a product's peak is known; null if there is none for its operands.
const char *unitOf(const std::string &ptx) {
  auto has = [&](const char *type) { return ptx.find(std::string(".") + type) != ptx.npos; };
  if (has("tf32"))
    return codegen::kUnitTensorTf32;
  if (has("e4m3") || has("e5m2"))
    return codegen::kUnitTensorF8;
  if (has("s8") || has("u8"))
    return codegen::kUnitTensorI8;
  if (has("f64") || has("s4") || has("u4") || has("b1"))
    return nullptr;
  return has("f32") ? codegen::kUnitTensor16
                    : codegen::kUnitTensor16SumsOfF16; // no sums of f32: of f16
}

/// The least time of the tensor cores, if all multiprocessors shared the work.
double tensorMicroseconds(const std::vector<vgpu::LineCounters> &lines, const ir::Card &card) {
  double sum = 0;
  for (const vgpu::LineCounters &line : lines)
    if (const char *unit = line.counters.macs ? unitOf(line.ptxText) : nullptr)
      sum += 2 * static_cast<double>(line.counters.macs) / (codegen::peakOf(card, unit) * 1e6);
  return sum;
}

} // namespace

LowerBounds lowerBoundsOf(const vgpu::VirtualDevice &device, uint64_t blocks) {
  LowerBounds result;
  const ir::Card card = ir::findGpu(device.props().target)->card;
  result.card = card;
  vgpu::Counters counters = device.counters();
  auto all = static_cast<uint64_t>(card.multiprocessors);
  result.multiprocessors = std::clamp<uint64_t>(blocks, 1, all);
  auto busy = static_cast<double>(result.multiprocessors);
  double cycles = busy * card.gigahertz * 1e3; // a microsecond
  auto add = [&](const char *name, double microseconds) {
    if (microseconds > 0)
      result.resources.push_back({name, microseconds});
  };
  add("issue", static_cast<double>(counters.warpInstructions) / (kIssuedPerCycle * cycles));
  add("tensor cores",
      tensorMicroseconds(device.countersByLine(), card) * static_cast<double>(all) / busy);
  add("shared memory", static_cast<double>(counters.sharedWavefronts) / cycles);
  add("device memory", static_cast<double>(counters.distinctBytes()) / (card.gigabytes * 1e3));
  return result;
}

std::string lowerBoundTable(const LowerBounds &bounds) {
  char line[160];
  std::snprintf(line, sizeof line,
                "model: least microseconds on %s, %llu of %d multiprocessors busy\n",
                bounds.card.name, static_cast<unsigned long long>(bounds.multiprocessors),
                bounds.card.multiprocessors);
  std::string text = line;
  for (const LowerBounds::Resource &resource : bounds.resources) {
    std::snprintf(line, sizeof line, "  %-24s%14.3f\n", resource.name, resource.microseconds);
    text += line;
  }
  return text;
}

} // namespace tile::tilec
