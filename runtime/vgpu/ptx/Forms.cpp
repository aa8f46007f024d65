// The table of rules, by opcode: the syntax of each instruction in PTX ISA, as ptxas applies it.
#include "runtime/vgpu/ptx/Forms.h"

#include "runtime/vgpu/ptx/ModifierLists.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

struct Rule {
  std::string_view opcodes;    // or opcode.modifier, with its first modifier
  std::string_view where;      // the rule is for instructions with one of these; empty: for all
  std::string_view needs;      // one of these must be there; empty: none need be
  std::string_view never = {}; // and none of these
};

#define TILE_SCOPES "cta cluster gpu sys"
#define TILE_SHARED "shared shared::cta shared::cluster"
#define TILE_PRIVATE "local const param param::entry param::func"

constexpr Rule kRules[] = {
    {"ld st", "relaxed acquire release", TILE_SCOPES, TILE_PRIVATE},
    {"ld st", TILE_SCOPES, "relaxed acquire release"},
    {"ld st", "volatile", "", TILE_PRIVATE},
    {"ld st", "mmio", "relaxed", TILE_SHARED " v2 v4 v8 cta cluster gpu L1::* L2::*"},
    {"ld st", "L1::* L2::*", "", TILE_SHARED " " TILE_PRIVATE},
    {"ld st", "L2::evict_*", "v4 v8"},
    {"ld st", "", "", "f16 f16x2 bf16 bf16x2 tf32"},
    {"ld", "", "", "release wb wt"},
    {"ld", "nc", "global", "relaxed acquire volatile mmio weak"},
    {"ld st", "weak", "", "relaxed acquire release mmio"},
    {"ldu", "", "", TILE_SHARED " " TILE_PRIVATE},
    {"st", "", "", "acquire const nc ca lu cv L2::64B L2::128B L2::256B"},
    {"atom red", "exch", "b32 b64 b128"},
    {"atom red", "cas", "b16 b32 b64 b128"},
    {"atom red", "and or xor", "b32 b64"},
    {"atom red", "add", "", "s64"},
    {"red", "", "", "acquire acq_rel"},
    {"atom red", "noftz", "f16 f16x2 bf16 bf16x2"},
    {"atom red", "f16 f16x2 bf16 bf16x2", "noftz"},
    {"cp", "tile", "tensor"},
    {"cp.reduce", "f16 bf16", "noftz min max"},
    {"cp", "noftz", "f16 bf16"},
    {"cp.reduce", "", "", "wait_group commit_group wait_all prefetch mbarrier"},
    {"cp", "tensor", "global"},
    {"red", "async", "relaxed"},
    {"red", "async", "cluster"},
    {"atom red", "L2::cache_hint", "", TILE_SHARED},
    {"and or xor not shl", "", "b16 b32 b64 pred"},
    {"cnot", "", "b16 b32 b64"},
    {"add sub mul div rem min max sad mad", "", "", "b8 b16 b32 b64 u8 s8"},
    {"mad", "", "", "relu f16 f16x2 bf16 bf16x2"},
    {"bfe", "", "", "b32 b64"},
    {"selp mov slct", "", "", "f16 f16x2 bf16 bf16x2"},
    {"selp", "", "", "pred"},
    {"testp", "", "f32 f64"},
    {"div", "full approx", "f32"},
    {"div", "", "", "f16 f16x2 bf16 bf16x2"},
    {"tanh", "", "", "ftz"},
    {"set setp", "lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan", "", "b16 b32 b64"},
    {"set", "lo ls hi hs", "u16 u32 u64"},
    {"set", "bf16 bf16x2", "", "f16 f16x2 f32 f64"},
    {"setp", "lo ls hi hs", "u16 u32 u64"},
    {"setp", "equ neu ltu leu gtu geu num nan", "f16 f16x2 bf16 bf16x2 f32 f64"},
    {"setp", "ftz", "f16 f16x2 f32"},
    {"cvt", "rna", "tf32", "relu"},
    {"cvt", "tf32", "rn rz rna"},
    {"cvt", "sat", "", "bf16 relu satfinite tf32"},
    {"cvt", "tf32", "", "sat"},
    {"bar", "", "", "aligned"},
    {"barrier.cluster", "wait", "", "relaxed release"},
    {"barrier.cluster", "arrive", "", "acquire"},
    {"fence", "mbarrier_init", "release", "sc acq_rel acquire cta gpu sys"},
    {"fence", "mbarrier_init", "cluster"},
    {"membar.proxy", "", "alias"},
    {"mbarrier", "cta cluster", "relaxed release acquire"},
    {"mbarrier", "relaxed release acquire", "cta cluster"},
    {"mbarrier", "noComplete", "", "expect_tx relaxed acquire cluster shared::cluster"},
    {"mbarrier.init mbarrier.inval", "", "", "shared::cluster relaxed acquire release"},
    {"tensormap.cp_fenceproxy", "", "release"},
    {"tensormap.cp_fenceproxy", "", "tensormap::generic"},
    {"tensormap.cp_fenceproxy", "", TILE_SCOPES},
    {"mbarrier.arrive mbarrier.arrive_drop", "", "", "acquire"},
    {"mbarrier.expect_tx mbarrier.complete_tx", "", "", "acquire release"},
    {"mbarrier.test_wait mbarrier.try_wait", "", "", "release shared::cluster"},
    {"cp", "multicast::cluster", "shared::cluster"},
    {"cp.reduce", "shared::cluster", "", "s64 b64 f16 bf16 f32 f64"},
    {"tensormap", "global_address global_stride", "b64"},
    {"tensormap",
     "rank box_dim global_dim element_stride elemtype interleave_layout swizzle_mode fill_mode",
     "b32"},
};

#undef TILE_SCOPES
#undef TILE_SHARED
#undef TILE_PRIVATE

// The first modifier that is one of a list; empty if none is.
std::string_view oneOf(std::span<const std::string_view> modifiers, std::string_view list) {
  auto found = std::ranges::find_if(
      modifiers, [&](std::string_view modifier) { return isInList(modifier, list); });
  return found == modifiers.end() ? std::string_view() : *found;
}

// ".cta, .cluster, .gpu".
std::string spelled(std::string_view list) {
  std::string text;
  anyWord(list, [&](std::string_view word) {
    text += (text.empty() ? "." : ", .") + std::string(word);
    return false;
  });
  return text;
}

} // namespace

std::optional<std::string> brokenRule(std::string_view opcode,
                                      std::span<const std::string_view> modifiers) {
  for (const Rule &rule : kRules) {
    if (!isOf(opcode, modifiers, rule.opcodes))
      continue;
    std::string_view where = oneOf(modifiers, rule.where);
    if (!rule.where.empty() && where.empty())
      continue;
    std::string subject = where.empty() ? std::string(opcode) : "." + std::string(where);
    if (!rule.needs.empty() && oneOf(modifiers, rule.needs).empty())
      return subject + " needs " + (rule.needs.find(' ') == rule.needs.npos ? "" : "one of ") +
             spelled(rule.needs);
    if (std::string_view extra = oneOf(modifiers, rule.never); !extra.empty())
      return subject + " does not go with ." + std::string(extra);
  }
  return std::nullopt;
}

} // namespace tile::vgpu
