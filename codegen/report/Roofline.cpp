#include "codegen/report/Roofline.h"

#include <algorithm>

namespace tile::codegen {

double peakOf(const ir::Card &card, std::string_view unit) {
  const std::pair<std::string_view, double> table[] = {
      {kUnitTensorF8, card.f8},     {kUnitTensorI8, card.i8},
      {kUnitTensor16, card.f16},    {kUnitTensor16SumsOfF16, card.f16SumsOfF16},
      {kUnitTensorTf32, card.tf32}, {kUnitF32, card.f32},
      {kUnitF64, card.f64},         {kUnitInteger, card.f32 / 2}};
  for (auto &[name, peak] : table)
    if (name == unit)
      return peak;
  return 0;
}

Roofline rooflineOf(const KernelReport &report, const ir::Card &card) {
  const LaunchWork &launch = report.launch;
  Roofline result;
  result.unknown = launch.unknown;
  if (!result.unknown.empty())
    return result;
  double total = 0, unitTime = 0; // in 10^-12 seconds
  for (auto &[unit, count] : launch.flops) {
    total += count;
    if (double peak = peakOf(card, unit))
      unitTime = std::max(unitTime, count / peak);
  }
  double bytes = launch.distinctBytes(), memoryTime = bytes / (card.gigabytes / 1000);
  result.intensity = bytes > 0 ? total / bytes : 0;
  result.peak = unitTime > 0 ? total / unitTime : 0;
  result.ridge = result.peak / (card.gigabytes / 1000);
  result.isMemoryBound = memoryTime > unitTime && launch.atMost.empty();
  double time = result.isMemoryBound ? memoryTime : unitTime;
  result.bound = time > 0 ? total / time : 0;
  return result;
}

} // namespace tile::codegen
