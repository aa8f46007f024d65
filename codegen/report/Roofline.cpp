#include "codegen/report/Roofline.h"

#include <algorithm>
#include <array>

namespace tile::codegen {

// THE table of peak numbers: dense operations (without sparsity) at boost clock and the bandwidth of device memory.
static constexpr std::array<Peaks, 4> kPeaks = {{
    {"sm_80", "A100 SXM 80 GB", "NVIDIA A100 Tensor Core GPU data sheet", 624, 312, 156, 19.5, 9.7,
     2039, 108, 1.41},
    {"sm_86", "A10", "NVIDIA A10 Tensor Core GPU data sheet", 250, 125, 62.5, 31.2, 0, 600, 72,
     1.695},
    {"sm_89", "L40S", "NVIDIA L40S data sheet", 733, 362, 183, 91.6, 0, 864, 142, 2.49},
    {"sm_90a", "H100 SXM 80 GB", "NVIDIA H100 Tensor Core GPU data sheet", 1979, 989, 494, 67, 34,
     3350, 132, 1.83},
}};

double Peaks::ofUnit(std::string_view unit) const {
  const std::pair<std::string_view, double> table[] = {
      {kUnitTensor8, tensor8}, {kUnitTensor16, tensor16}, {kUnitTensorTf32, tensorTf32},
      {kUnitF32, f32},         {kUnitF64, f64},           {kUnitInteger, f32 / 2}};
  for (auto &[name, peak] : table)
    if (name == unit)
      return peak;
  return 0;
}

const Peaks *peaksOf(std::string_view target) {
  auto found = std::find_if(kPeaks.begin(), kPeaks.end(),
                            [&](const Peaks &p) { return p.target == target; });
  return found == kPeaks.end() ? nullptr : &*found;
}

Roofline rooflineOf(const KernelReport &report, const Peaks &peaks) {
  const LaunchWork &launch = report.launch;
  Roofline result;
  result.unknown = launch.unknown;
  if (!result.unknown.empty())
    return result;
  double total = 0, unitTime = 0; // in 10^-12 seconds
  for (auto &[unit, count] : launch.flops) {
    total += count;
    if (double peak = peaks.ofUnit(unit))
      unitTime = std::max(unitTime, count / peak);
  }
  double bytes = launch.distinctBytes(), memoryTime = bytes / (peaks.bytes / 1000);
  result.intensity = bytes > 0 ? total / bytes : 0;
  result.peak = unitTime > 0 ? total / unitTime : 0;
  result.ridge = result.peak / (peaks.bytes / 1000);
  result.isMemoryBound = memoryTime > unitTime && launch.atMost.empty();
  double time = result.isMemoryBound ? memoryTime : unitTime;
  result.bound = time > 0 ? total / time : 0;
  return result;
}

} // namespace tile::codegen
