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

// How often a scope is executed in one program; nothing if a loop around it has no constant trip count.
static std::optional<double> timesOf(const std::vector<WorkScope> &work, int scope) {
  double times = 1;
  for (; scope >= 0; scope = work[scope].parent) {
    if (!work[scope].iterations)
      return std::nullopt;
    times *= double(*work[scope].iterations);
  }
  return times;
}

static void addScope(Roofline &sum, const WorkScope &scope, double times) {
  for (auto &[unit, count] : scope.flops)
    sum.flops[unit] += count * times;
  sum.bytes += static_cast<int64_t>(double(scope.totalBytes()) * times);
}

Roofline rooflineOf(const KernelReport &report, const Peaks &peaks) {
  const std::vector<WorkScope> &work = report.work;
  Roofline result;
  auto moreWork = [](const WorkScope &a, const WorkScope &b) {
    return a.totalFlops() < b.totalFlops();
  };
  result.isWholeProgram = true;
  for (int i = 0; i < static_cast<int>(work.size()); ++i)
    result.isWholeProgram &= timesOf(work, i).has_value();
  if (result.isWholeProgram) {
    for (int i = 0; i < static_cast<int>(work.size()); ++i)
      addScope(result, work[i], *timesOf(work, i));
  } else {
    result.scope =
        static_cast<int>(std::max_element(work.begin() + 1, work.end(), moreWork) - work.begin());
    addScope(result, work[result.scope], 1);
  }
  double total = 0, unitTime = 0; // in 10^-12 seconds
  for (auto &[unit, count] : result.flops) {
    total += count;
    if (double peak = peaks.ofUnit(unit))
      unitTime = std::max(unitTime, count / peak);
  }
  double memoryTime = double(result.bytes) / (peaks.bytes / 1000);
  result.intensity = result.bytes ? total / double(result.bytes) : 0;
  result.peak = unitTime > 0 ? total / unitTime : 0;
  result.ridge = result.peak / (peaks.bytes / 1000);
  result.isMemoryBound = memoryTime > unitTime;
  result.bound = std::max(memoryTime, unitTime) > 0 ? total / std::max(memoryTime, unitTime) : 0;
  return result;
}

} // namespace tile::codegen
