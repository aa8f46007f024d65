// Prints the line about a kernel that runs for long.
#include "runtime/vgpu/machine/LongRun.h"

#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>
#include <cstdio>

namespace tile::vgpu {

void LongRun::say(const Cluster &cluster) {
  const Launch &launch = *cluster.launch;
  const Warp *running = nullptr;
  for (const auto &cta : cluster.ctas)
    for (const Warp &warp : cta->warps)
      if (!running && warp.status == WarpStatus::Ready)
        running = &warp;
  if (!running || hasSaid_.exchange(true))
    return;
  uint32_t at = running->mask || running->splits.empty() ? running->pc : running->splits.front().pc;
  std::string text = "virtual GPU: kernel '" + std::string(launch.program().entry->name) +
                     "' has run for " + std::to_string(launch.setup().noticeSeconds) +
                     " s; block " + launch.blockText(running->cta->index) + ", warp " +
                     std::to_string(running->index) + " is at " +
                     launch.describe(launch.program().code[at]) + ", after " +
                     std::to_string(running->branches) + " backward branches of at most " +
                     std::to_string(launch.setup().maxBranches) +
                     " (TILE_VGPU_MAX_BRANCHES; this line: TILE_VGPU_NOTICE_SECONDS)\n";
  std::fputs(text.c_str(), stderr);
}

} // namespace tile::vgpu
