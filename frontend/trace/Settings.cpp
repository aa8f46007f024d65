#include "frontend/trace/Settings.h"

#include "ir/target/Target.h"

using namespace tile;

static_assert(detail::CompileSettings().warps == ir::kDefaultWarps,
              "a kernel that does not say has as many warps as one whose settings do not");

static std::string range(const char *name, int least, int most, int value) {
  if (value >= least && value <= most)
    return "";
  return std::string(name) + " must be " + std::to_string(least) + " to " + std::to_string(most) +
         ", got " + std::to_string(value);
}

std::string tile::frontend::wrongSetting(const detail::CompileSettings &settings) {
  int warps = settings.warps;
  if (warps < 1 || warps > ir::kMaxWarps || (warps & (warps - 1)) != 0)
    return "warps must be a power of two up to " + std::to_string(ir::kMaxWarps) + ", got " +
           std::to_string(warps);
  std::string wrong;
  if (settings.maxRegisters != 0)
    wrong = range("maxnreg", ir::kLeastRegistersPerThread, ir::kMaxRegistersPerThread,
                  settings.maxRegisters);
  return wrong.empty() ? range("occupancy", 1, ir::kMaxOccupancy, settings.occupancy) : wrong;
}

std::string tile::frontend::wrongCluster(int count) {
  if (count >= 1 && count <= ir::kMostBlocksOfCluster && (count & (count - 1)) == 0)
    return "";
  return "there can be 1, 2, 4 or 8 blocks, got " + std::to_string(count);
}

std::string tile::frontend::wrongTeams(int count) {
  if (count >= 1 && count <= ir::kMostTeams)
    return "";
  return "there can be 1 to " + std::to_string(ir::kMostTeams) + " of them, got " +
         std::to_string(count);
}

std::string tile::frontend::wrongProgramsOfSum(int count) {
  if (count >= 1 && count <= ir::kMostProgramsOfSum)
    return "";
  return "1 to " + std::to_string(ir::kMostProgramsOfSum) + " programs add up their tiles, got " +
         std::to_string(count);
}
