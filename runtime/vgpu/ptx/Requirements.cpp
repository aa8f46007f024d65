// The table of what needs what, by opcode: PTX ISA, the target and version notes of each instruction. Where the assembler
// accepts more than they say, it does too.
#include "runtime/vgpu/ptx/Requirements.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace tile::vgpu {
namespace {

struct Requirement {
  std::string_view opcode;
  std::string_view
      modifiers; // with dots between; all must be there, in this order, with others between them
  int arch = 0;  // 0: any
  int version = 0;
  bool specific = false; // exists on that architecture alone, for its 'a' target
  int orArch = 0;        // or this architecture
  int orVersion = 0;     // with this version
};

// Rows of an opcode stand together.
constexpr Requirement kRequirements[] = {
    {"abs", "f16", 53, 65},
    {"abs", "f16x2", 53, 65},
    {"abs", "bf16", 80, 70},
    {"abs", "bf16x2", 80, 70},
    {"activemask", "", 0, 62},
    {"add", "f16", 53, 42},
    {"add", "f16x2", 53, 42},
    {"add", "bf16", 90, 78},
    {"add", "bf16x2", 90, 78},
    {"add", "u16x2", 90, 80},
    {"add", "s16x2", 90, 80},
    {"alloca", "", 52, 73},
    {"applypriority", "", 80, 74},
    {"atom", "relaxed", 70, 60},
    {"atom", "acquire", 70, 60},
    {"atom", "release", 70, 60},
    {"atom", "acq_rel", 70, 60},
    {"atom", "cluster", 90, 78},
    {"atom", "shared::cta", 0, 78},
    {"atom", "shared::cluster", 90, 78},
    {"atom", "L2::cache_hint", 80, 74},
    {"atom", "f64", 60, 50},
    {"atom", "f16", 70, 63},
    {"atom", "f16x2", 60, 62},
    {"atom", "bf16", 90, 78},
    {"atom", "bf16x2", 90, 78},
    {"atom", "cas.b16", 70, 63},
    {"atom", "v2", 90, 81},
    {"atom", "v4", 90, 81},
    {"atom", "v8", 90, 81},
    {"atom", "b128", 90, 83},
    {"bar", "warp", 30, 60},
    {"bar", "cta", 0, 78},
    {"barrier", "cta", 0, 78},
    {"barrier", "cluster", 90, 78},
    {"barrier", "cluster.acquire", 90, 80},
    {"barrier", "cluster.release", 90, 80},
    {"barrier", "cluster.relaxed", 90, 80},
    {"bmsk", "", 70, 76},
    {"cp", "async", 80, 70},
    {"cp", "async.L2::64B", 80, 74},
    {"cp", "async.L2::128B", 80, 74},
    {"cp", "async.L2::256B", 80, 74},
    {"cp", "async.L2::cache_hint", 80, 74},
    {"cp", "async.mbarrier.shared::cta", 80, 78},
    {"cp", "async.bulk", 90, 80},
    {"cp", "async.bulk.shared::cta.global", 90, 86},
    {"cp", "reduce.async.bulk", 90, 80},
    {"createpolicy", "", 80, 74},
    {"cvt", "f16x2", 80, 70},
    {"cvt", "bf16x2", 80, 70},
    {"cvt", "bf16", 80, 70},
    {"cvt", "f32.bf16", 80, 71},
    {"cvt", "bf16.bf16", 90, 78},
    {"cvt", "bf16.f16", 90, 78},
    {"cvt", "bf16.f64", 90, 78},
    {"cvt", "bf16.u8", 90, 78},
    {"cvt", "bf16.s8", 90, 78},
    {"cvt", "bf16.u16", 90, 78},
    {"cvt", "bf16.s16", 90, 78},
    {"cvt", "bf16.u32", 90, 78},
    {"cvt", "bf16.s32", 90, 78},
    {"cvt", "bf16.u64", 90, 78},
    {"cvt", "bf16.s64", 90, 78},
    {"cvt", "f16.bf16", 90, 78},
    {"cvt", "f64.bf16", 90, 78},
    {"cvt", "u8.bf16", 90, 78},
    {"cvt", "s8.bf16", 90, 78},
    {"cvt", "u16.bf16", 90, 78},
    {"cvt", "s16.bf16", 90, 78},
    {"cvt", "u32.bf16", 90, 78},
    {"cvt", "s32.bf16", 90, 78},
    {"cvt", "u64.bf16", 90, 78},
    {"cvt", "s64.bf16", 90, 78},
    {"cvt", "e4m3x2", 89, 81, false, 90, 78},
    {"cvt", "e5m2x2", 89, 81, false, 90, 78},
    {"cvt", "tf32", 80, 70},
    {"cvt", "rn.tf32", 90, 78},
    {"cvt", "rz.tf32", 90, 78},
    {"cvt", "relu", 80, 70},
    {"cvt", "satfinite.f16", 0, 81},
    {"cvt", "satfinite.bf16", 0, 81},
    {"cvt", "satfinite.f16x2.f32", 0, 81},
    {"cvt", "satfinite.bf16x2", 0, 81},
    {"cvt", "satfinite.tf32", 0, 81},
    {"cvt", "pack", 72, 65},
    {"cvt", "pack.u4", 75, 65},
    {"cvt", "pack.s4", 75, 65},
    {"cvt", "pack.u2", 75, 65},
    {"cvt", "pack.s2", 75, 65},
    {"cvta", "param", 70, 77},
    {"cvta", "shared::cta", 0, 78},
    {"cvta", "shared::cluster", 90, 78},
    {"discard", "", 80, 74},
    {"dp2a", "", 61, 50},
    {"dp4a", "", 61, 50},
    {"elect", "", 90, 80},
    {"ex2", "f16", 75, 70},
    {"ex2", "f16x2", 75, 70},
    {"ex2", "bf16", 90, 78},
    {"ex2", "bf16x2", 90, 78},
    {"fence", "", 70, 60},
    {"fence", "cluster", 90, 78},
    {"fence", "proxy", 70, 75},
    {"fence", "mbarrier_init", 90, 80},
    {"fence", "proxy.async", 90, 80},
    {"fence", "proxy.tensormap::generic", 90, 83},
    {"fence", "proxy.async::generic", 90, 86},
    {"fence", "sync_restrict::shared::cta", 90, 86},
    {"fence", "sync_restrict::shared::cluster", 90, 86},
    {"fma", "f16", 53, 42},
    {"fma", "f16x2", 53, 42},
    {"fma", "relu", 80, 70},
    {"fma", "bf16", 80, 70},
    {"fma", "bf16x2", 80, 70},
    {"fma", "oob", 90, 81},
    {"fns", "", 30, 60},
    {"getctarank", "", 90, 78},
    {"griddepcontrol", "", 90, 78},
    {"isspacep", "param", 70, 77},
    {"isspacep", "param::entry", 70, 83},
    {"isspacep", "shared::cta", 0, 78},
    {"isspacep", "shared::cluster", 90, 78},
    {"ld", "relaxed", 70, 60},
    {"ld", "acquire", 70, 60},
    {"ld", "mmio", 70, 82},
    {"ld", "cluster", 90, 78},
    {"ld", "shared::cta", 0, 78},
    {"ld", "shared::cluster", 90, 78},
    {"ld", "param::entry", 0, 83},
    {"ld", "param::func", 0, 83},
    {"ld", "L1::evict_normal", 70, 74},
    {"ld", "L1::evict_unchanged", 70, 74},
    {"ld", "L1::evict_first", 70, 74},
    {"ld", "L1::evict_last", 70, 74},
    {"ld", "L1::no_allocate", 70, 74},
    {"ld", "L2::64B", 75, 74},
    {"ld", "L2::128B", 75, 74},
    {"ld", "L2::256B", 80, 74},
    {"ld", "L2::cache_hint", 80, 74},
    {"ld", "b128", 70, 83},
    {"ld", "sys.b128", 70, 84},
    {"ldmatrix", "", 75, 65},
    {"ldmatrix", "shared::cta", 75, 78},
    {"lop3", "", 50, 43},
    {"lop3", "or", 70, 82},
    {"lop3", "and", 70, 82},
    {"mapa", "", 90, 78},
    {"match", "", 70, 60},
    {"max", "f16", 80, 70},
    {"max", "f16x2", 80, 70},
    {"max", "bf16", 80, 70},
    {"max", "bf16x2", 80, 70},
    {"max", "NaN", 80, 70},
    {"max", "xorsign", 86, 72},
    {"max", "u16x2", 90, 80},
    {"max", "s16x2", 90, 80},
    {"max", "relu", 90, 80},
    {"mbarrier", "", 80, 70},
    {"mbarrier", "shared::cta", 80, 78},
    {"mbarrier", "shared::cluster", 90, 80},
    {"mbarrier", "cta", 80, 80},
    {"mbarrier", "cluster", 90, 80},
    {"mbarrier", "expect_tx", 90, 80},
    {"mbarrier", "complete_tx", 90, 80},
    {"mbarrier", "test_wait.parity", 80, 71},
    {"mbarrier", "try_wait", 90, 78},
    {"mbarrier", "arrive.relaxed", 90, 86},
    {"mbarrier", "arrive_drop.relaxed", 90, 86},
    {"mbarrier", "test_wait.relaxed", 90, 86},
    {"mbarrier", "try_wait.relaxed", 90, 86},
    {"membar", "proxy", 70, 75},
    {"min", "f16", 80, 70},
    {"min", "f16x2", 80, 70},
    {"min", "bf16", 80, 70},
    {"min", "bf16x2", 80, 70},
    {"min", "NaN", 80, 70},
    {"min", "xorsign", 86, 72},
    {"min", "u16x2", 90, 80},
    {"min", "s16x2", 90, 80},
    {"min", "relu", 90, 80},
    {"mma", "", 70, 64},
    {"mma", "m16n8k8.f16", 75, 65},
    {"mma", "m16n8k16.f16", 80, 70},
    {"mma", "bf16", 80, 70},
    {"mma", "tf32", 80, 70},
    {"mma", "e4m3", 89, 84},
    {"mma", "e5m2", 89, 84},
    {"mma", "m16n8k16.e4m3", 89, 87},
    {"mma", "m16n8k16.e5m2", 89, 87},
    {"mma", "f16.e4m3", 89, 87},
    {"mma", "f16.e5m2", 89, 87},
    {"mma", "m8n8k16", 75, 65},
    {"mma", "m8n8k32", 75, 65},
    {"mma", "m16n8k16.s32", 80, 70},
    {"mma", "m16n8k32", 80, 70},
    {"mma", "m16n8k64", 80, 70},
    {"mma", "m8n8k128", 75, 70},
    {"mma", "m16n8k128", 80, 70},
    {"mma", "m16n8k256", 80, 70},
    {"mma", "and.popc", 80, 71},
    {"mma", "m8n8k4.f64", 80, 70},
    {"mma", "m16n8k4.f64", 90, 78},
    {"mma", "m16n8k8.f64", 90, 78},
    {"mma", "m16n8k16.f64", 90, 78},
    {"mma", "sp", 80, 71},
    {"mma", "sp::ordered_metadata", 80, 85},
    {"mov", "b128", 70, 83},
    {"movmatrix", "", 75, 78},
    {"mul", "f16", 53, 42},
    {"mul", "f16x2", 53, 42},
    {"mul", "bf16", 90, 78},
    {"mul", "bf16x2", 90, 78},
    {"nanosleep", "", 70, 63},
    {"neg", "f16", 53, 60},
    {"neg", "f16x2", 53, 60},
    {"neg", "bf16", 80, 70},
    {"neg", "bf16x2", 80, 70},
    {"prefetch", "L2::evict_last", 80, 74},
    {"prefetch", "L2::evict_normal", 80, 74},
    {"prefetch", "tensormap", 90, 80},
    {"red", "relaxed", 70, 60},
    {"red", "release", 70, 60},
    {"red", "async", 90, 81},
    {"red", "cluster", 90, 78},
    {"red", "shared::cta", 0, 78},
    {"red", "shared::cluster", 90, 78},
    {"red", "L2::cache_hint", 80, 74},
    {"red", "f64", 60, 50},
    {"red", "f16", 70, 63},
    {"red", "f16x2", 60, 62},
    {"red", "bf16", 90, 78},
    {"red", "bf16x2", 90, 78},
    {"red", "v2", 90, 81},
    {"red", "v4", 90, 81},
    {"red", "v8", 90, 81},
    {"redux", "", 80, 70},
    {"set", "f16", 53, 42},
    {"set", "f16x2", 53, 42},
    {"set", "bf16", 90, 78},
    {"set", "bf16x2", 90, 78},
    {"setmaxnreg", "", 90, 80, true},
    {"setp", "f16", 53, 42},
    {"setp", "f16x2", 53, 42},
    {"setp", "bf16", 90, 78},
    {"setp", "bf16x2", 90, 78},
    {"shf", "", 32, 31},
    {"shfl", "sync", 30, 60},
    {"st", "relaxed", 70, 60},
    {"st", "release", 70, 60},
    {"st", "mmio", 70, 82},
    {"st", "async", 90, 81},
    {"st", "cluster", 90, 78},
    {"st", "shared::cta", 0, 78},
    {"st", "shared::cluster", 90, 78},
    {"st", "param::func", 0, 83},
    {"st", "L1::evict_normal", 70, 74},
    {"st", "L1::evict_unchanged", 70, 74},
    {"st", "L1::evict_first", 70, 74},
    {"st", "L1::evict_last", 70, 74},
    {"st", "L1::no_allocate", 70, 74},
    {"st", "L2::cache_hint", 80, 74},
    {"st", "b128", 70, 83},
    {"st", "sys.b128", 70, 84},
    {"stackrestore", "", 52, 73},
    {"stacksave", "", 52, 73},
    {"stmatrix", "", 90, 78},
    {"sub", "f16", 53, 42},
    {"sub", "f16x2", 53, 42},
    {"sub", "bf16", 90, 78},
    {"sub", "bf16x2", 90, 78},
    {"szext", "", 70, 76},
    {"tanh", "", 75, 70},
    {"tanh", "bf16", 90, 78},
    {"tanh", "bf16x2", 90, 78},
    {"tensormap", "replace", 90, 83, true},
    {"tensormap", "cp_fenceproxy", 90, 83},
    {"vote", "sync", 30, 60},
    {"wgmma", "", 90, 80, true},
    {"wgmma", "sp", 90, 82, true},
    {"wgmma", "s8.u8", 90, 84, true},
    {"wgmma", "u8.s8", 90, 84, true},
    {"wmma", "", 70, 60},
    {"wmma", "shared::cta", 70, 78},
    {"wmma", "m8n32k16", 70, 61},
    {"wmma", "m32n8k16", 70, 61},
    {"wmma", "u8", 72, 63},
    {"wmma", "s8", 72, 63},
    {"wmma", "u4", 75, 63},
    {"wmma", "s4", 75, 63},
    {"wmma", "b1", 75, 63},
    {"wmma", "and.popc", 80, 71},
    {"wmma", "bf16", 80, 70},
    {"wmma", "tf32", 80, 70},
    {"wmma", "f64", 80, 70},
    {"%aggr_smem_size", "", 90, 81},
    {"%cluster_ctaid", "", 90, 78},
    {"%cluster_ctarank", "", 90, 78},
    {"%cluster_nctaid", "", 90, 78},
    {"%cluster_nctarank", "", 90, 78},
    {"%clusterid", "", 90, 78},
    {"%current_graph_exec", "", 0, 80},
    {"%is_explicit_cluster", "", 90, 78},
    {"%nclusterid", "", 90, 78},
    {"%reserved_smem_offset_0", "", 80, 76},
    {"%reserved_smem_offset_1", "", 80, 76},
    {"%reserved_smem_offset_begin", "", 80, 76},
    {"%reserved_smem_offset_cap", "", 80, 76},
    {"%reserved_smem_offset_end", "", 80, 76},
};

using Rows = std::span<const Requirement>;

const std::unordered_map<std::string_view, Rows> &rowsByOpcode() {
  static const auto table = [] {
    std::unordered_map<std::string_view, Rows> result;
    for (const Requirement *row = std::begin(kRequirements); row != std::end(kRequirements);) {
      const Requirement *end =
          std::find_if(row, std::end(kRequirements),
                       [&](const Requirement &r) { return r.opcode != row->opcode; });
      result[row->opcode] = Rows(row, end);
      row = end;
    }
    return result;
  }();
  return table;
}

// Whether the words of `wanted`, with dots between, stand in `modifiers` in this order.
bool hasAll(std::span<const std::string_view> modifiers, std::string_view wanted) {
  size_t at = 0;
  while (!wanted.empty()) {
    std::string_view word = wanted.substr(0, wanted.find('.'));
    wanted.remove_prefix(std::min(wanted.size(), word.size() + 1));
    while (at < modifiers.size() && modifiers[at] != word)
      ++at;
    if (at++ == modifiers.size())
      return false;
  }
  return true;
}

} // namespace

std::string versionText(int version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

int archOfTarget(std::string_view target) {
  return target.starts_with("sm_") ? std::atoi(std::string(target.substr(3)).c_str()) : 0;
}

int versionOfTarget(std::string_view target) {
  constexpr std::pair<std::string_view, int> kVersions[] = {
      {"sm_30", 30}, {"sm_32", 40}, {"sm_35", 31}, {"sm_37", 41}, {"sm_50", 40},
      {"sm_52", 41}, {"sm_53", 42}, {"sm_60", 50}, {"sm_61", 50}, {"sm_62", 50},
      {"sm_70", 60}, {"sm_72", 61}, {"sm_75", 63}, {"sm_80", 70}, {"sm_86", 71},
      {"sm_87", 74}, {"sm_88", 90}, {"sm_89", 78}, {"sm_90", 78}, {"sm_90a", 80}};
  const auto *row =
      std::ranges::find(kVersions, target, [](const auto &pair) { return pair.first; });
  return row == std::end(kVersions) ? 0 : row->second;
}

std::optional<std::string> missingFor(int arch, int version, std::string_view target, int has) {
  if (archOfTarget(target) < arch)
    return "it needs .target sm_" + std::to_string(arch) + " or newer, the file has " +
           std::string(target);
  if (has < version)
    return "it needs .version " + versionText(version) + " or later, the file has " +
           versionText(has);
  return std::nullopt;
}

std::optional<std::string> missingFor(std::string_view opcode,
                                      std::span<const std::string_view> modifiers,
                                      std::string_view target, int version) {
  auto rows = rowsByOpcode().find(opcode);
  if (rows == rowsByOpcode().end())
    return std::nullopt;
  for (const Requirement &row : rows->second) {
    if (!hasAll(modifiers, row.modifiers))
      continue;
    if (row.specific && (archOfTarget(target) != row.arch || !target.ends_with('a')))
      return "it needs .target sm_" + std::to_string(row.arch) + "a, the file has " +
             std::string(target);
    if (row.orArch && !missingFor(row.orArch, row.orVersion, target, version))
      continue;
    if (auto missing = missingFor(row.arch, row.version, target, version))
      return missing;
  }
  return std::nullopt;
}

} // namespace tile::vgpu
