// The special registers: their names, and the rows that hold them.
#include "runtime/vgpu/decode/OperandReader.h"

#include "runtime/vgpu/ptx/Requirements.h"

#include <algorithm>

namespace tile::vgpu {

struct SpecialName {
  std::string_view name;
  Special what;
};
static constexpr SpecialName kSpecials[] = {
    {"%tid.x", Special::TidX},
    {"%tid.y", Special::TidY},
    {"%tid.z", Special::TidZ},
    {"%ntid.x", Special::NtidX},
    {"%ntid.y", Special::NtidY},
    {"%ntid.z", Special::NtidZ},
    {"%ctaid.x", Special::CtaidX},
    {"%ctaid.y", Special::CtaidY},
    {"%ctaid.z", Special::CtaidZ},
    {"%nctaid.x", Special::NctaidX},
    {"%nctaid.y", Special::NctaidY},
    {"%nctaid.z", Special::NctaidZ},
    {"%laneid", Special::LaneId},
    {"%warpid", Special::WarpId},
    {"%nwarpid", Special::NwarpId},
    {"%smid", Special::SmId},
    {"%nsmid", Special::NsmId},
    {"%gridid", Special::GridId},
    {"%lanemask_eq", Special::LaneMaskEq},
    {"%lanemask_le", Special::LaneMaskLe},
    {"%lanemask_lt", Special::LaneMaskLt},
    {"%lanemask_ge", Special::LaneMaskGe},
    {"%lanemask_gt", Special::LaneMaskGt},
    {"%dynamic_smem_size", Special::DynamicSharedSize},
    {"%total_smem_size", Special::TotalSharedSize},
    {"%clusterid.x", Special::ClusterIdX},
    {"%clusterid.y", Special::ClusterIdY},
    {"%clusterid.z", Special::ClusterIdZ},
    {"%nclusterid.x", Special::NclusterIdX},
    {"%nclusterid.y", Special::NclusterIdY},
    {"%nclusterid.z", Special::NclusterIdZ},
    {"%cluster_ctaid.x", Special::ClusterCtaidX},
    {"%cluster_ctaid.y", Special::ClusterCtaidY},
    {"%cluster_ctaid.z", Special::ClusterCtaidZ},
    {"%cluster_nctaid.x", Special::ClusterNctaidX},
    {"%cluster_nctaid.y", Special::ClusterNctaidY},
    {"%cluster_nctaid.z", Special::ClusterNctaidZ},
    {"%cluster_ctarank", Special::ClusterCtarank},
    {"%cluster_nctarank", Special::ClusterNctarank},
    {"%is_explicit_cluster", Special::IsExplicitCluster},
    {"%reserved_smem_offset_begin", Special::ReservedSharedBegin},
    {"%reserved_smem_offset_0", Special::ReservedSharedBegin},
    {"%reserved_smem_offset_1", Special::ReservedSharedBegin},
    {"%reserved_smem_offset_end", Special::ReservedSharedEnd},
    {"%reserved_smem_offset_cap", Special::ReservedSharedCap},
    {"%aggr_smem_size", Special::AggregateSharedSize}};

// The architecture and the version of PTX that brought a register in; all others have always been there.
struct SpecialRequirement {
  std::string_view name; // without its axis
  int arch = 0;          // 0: any
  int version = 0;
};
static constexpr SpecialRequirement kRequirements[] = {
    {"%aggr_smem_size", 90, 81},
    {"%cluster_ctaid", 90, 78},
    {"%cluster_ctarank", 90, 78},
    {"%cluster_nctaid", 90, 78},
    {"%cluster_nctarank", 90, 78},
    {"%clusterid", 90, 78},
    {"%current_graph_exec", 0, 80},
    {"%is_explicit_cluster", 90, 78},
    {"%nclusterid", 90, 78},
    {"%reserved_smem_offset_0", 80, 76},
    {"%reserved_smem_offset_1", 80, 76},
    {"%reserved_smem_offset_begin", 80, 76},
    {"%reserved_smem_offset_cap", 80, 76},
    {"%reserved_smem_offset_end", 80, 76},
};

// Registers that the driver, a profiler or a graph would fill, and the fourth elements of vectors, hold zero here.
static bool isAlwaysZero(std::string_view name) {
  auto numbered = [&](std::string_view prefix, int below) {
    return name.starts_with(prefix) && name.size() > prefix.size() &&
           name.find_first_not_of("0123456789", prefix.size()) == name.npos &&
           (name[prefix.size()] != '0' || name.size() == prefix.size() + 1) &&
           std::atoi(std::string(name.substr(prefix.size())).c_str()) < below;
  };
  if (name.ends_with(".w")) {
    std::string first = std::string(name.substr(0, name.size() - 1)) + "x";
    return std::ranges::find(kSpecials, first, &SpecialName::name) != std::end(kSpecials);
  }
  bool isWide = name.ends_with("_64");
  return numbered("%envreg", 32) || name == "%current_graph_exec" || numbered("%pm", 8) ||
         (isWide && name.size() == 7 && name.starts_with("%pm") && name[3] >= '0' && name[3] < '8');
}

uint32_t OperandReader::specialRow(const Operand &operand) {
  std::string name(operand.name);
  if (operand.axis)
    name += std::string(".") + "xyzw"[operand.axis - 1];
  auto known = std::ranges::find(kSpecials, name, &SpecialName::name);
  bool isZero = isAlwaysZero(name);
  if (known == std::end(kSpecials) && !isZero)
    unsupported("'" + name + "' is not declared, nor a special register known here");
  const Module &module = *program_->module;
  std::string_view vector = std::string_view(name).substr(0, name.find('.'));
  for (const SpecialRequirement &row : kRequirements)
    if (row.name == vector)
      if (auto missing = missingFor(row.arch, row.version, module.target, module.version))
        unsupported(*missing);
  Special what = isZero ? Special::Zero : known->what;
  auto [found, isNew] = specials_.try_emplace(static_cast<uint8_t>(what), 0);
  if (isNew) {
    found->second = allocateRow(4);
    program_->specials.push_back({found->second, what});
  }
  return found->second;
}

} // namespace tile::vgpu
