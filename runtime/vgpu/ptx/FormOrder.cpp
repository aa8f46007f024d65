// The table of orders, by opcode: where modifiers stand in PTX ISA, as ptxas applies it.
#include "runtime/vgpu/ptx/Forms.h"

#include "runtime/vgpu/ptx/ModifierLists.h"

namespace tile::vgpu {
namespace {

// Lists of modifiers, of each of which one can be there. Between ">" are those that may stand in any order, after all those before the
// sign; modifiers in no list may stand anywhere.
struct Order {
  std::string_view opcodes; // or opcode.modifier, with its first modifier
  std::string_view lists;
};

#define TILE_SCOPES " | cta cluster gpu sys | "
#define TILE_SHARED "shared shared::cta shared::cluster"
#define TILE_SPACES "global local const param param::entry param::func " TILE_SHARED
#define TILE_VECTORS " | v2 v4 v8 | "
#define TILE_HINT " | L2::cache_hint | "
#define TILE_INTEGERS "u8 s8 u16 s16 u32 s32 u64 s64 u16x2 s16x2"
#define TILE_FLOATS "f16 f16x2 bf16 bf16x2 f32 f64 tf32"
#define TILE_TYPES "pred b8 b16 b32 b64 b128 " TILE_INTEGERS " " TILE_FLOATS
#define TILE_OPERATIONS "add exch cas min max inc dec and or xor"
#define TILE_ROUNDINGS "rn rz rm rp rna rni rzi rmi rpi approx full"
#define TILE_FRAGMENTS "f16 bf16 tf32 f32 f64 s8 u8 s4 u4 b1 e4m3 e5m2 s32"

constexpr Order kOrders[] = {
    {"ld ldu", "weak volatile mmio | relaxed acquire" TILE_SCOPES TILE_SPACES
               " | ca cg cs lu cv | nc | L1::* | L2::evict_*" TILE_HINT
               "L2::64B L2::128B L2::256B" TILE_VECTORS TILE_TYPES},
    {"st", "async bulk > weak volatile mmio | relaxed release" TILE_SCOPES TILE_SPACES
           " | wb cg cs wt | L1::* | L2::evict_* | mbarrier::*" TILE_HINT TILE_VECTORS TILE_TYPES},
    {"atom red", "async > relaxed acquire release acq_rel" TILE_SCOPES "global " TILE_SHARED
                 " | mbarrier::* | " TILE_OPERATIONS " | noftz" TILE_HINT TILE_VECTORS TILE_TYPES},
    {"cp", "reduce > async > mbarrier bulk commit_group wait_group wait_all > arrive prefetch "
           "tensor commit_group wait_group > tensor > noinc | read | 1d 2d 3d 4d 5d | ca cg | L2 | "
           "global " TILE_SHARED " | global " TILE_SHARED
           " | and or xor add inc dec min max | tile | mbarrier::* bulk_group | "
           "multicast::cluster" TILE_HINT "L2::64B L2::128B L2::256B | noftz | " TILE_TYPES},
    {"mbarrier",
     "init inval arrive arrive_drop expect_tx complete_tx test_wait try_wait pending_count > "
     "expect_tx parity > noComplete | relaxed acquire release" TILE_SCOPES TILE_SHARED " | b64"},
    {"barrier.cluster", "cluster > arrive wait > relaxed acquire release | aligned"},
    {"bar barrier",
     "warp cta cluster > sync arrive red wait aligned > sync arrive red wait | popc and or "
     "| relaxed acquire release | aligned | pred u32"},
    {"fence membar",
     "proxy > alias async async::generic tensormap::generic | mbarrier_init | sc acq_rel acquire "
     "release" TILE_SCOPES "global " TILE_SHARED},
    {"cvta", "to > " TILE_SPACES " | u32 u64"},
    {"createpolicy", "fractional range cvt > L2 L2::* > L2::evict_first L2::evict_unchanged | b64"},
    {"tensormap",
     "replace cp_fenceproxy > tile | global_address rank box_dim global_dim global_stride "
     "element_stride elemtype interleave_layout swizzle_mode fill_mode | global shared::cta > "
     "shared::cta | tensormap::generic | release" TILE_SCOPES "sync | aligned | b1024 | b32 b64"},
    {"shf", "l r > clamp wrap | b32"},
    {"setmaxnreg", "inc dec > sync | aligned | u32"},
    {"mul mad mul24 mad24",
     "hi lo wide > cc | " TILE_ROUNDINGS " | ftz | sat | relu | " TILE_TYPES},
    {"mma", "row col > row col > and xor > popc"},
    {"wmma", "load store mma > xor and > popc > a b c d > sync | aligned | row col | row col | m* "
             "| global " TILE_SHARED " | " TILE_FRAGMENTS " | " TILE_FRAGMENTS " | " TILE_FRAGMENTS
             " | " TILE_FRAGMENTS " | satfinite"},
    {"wgmma", "fence commit_group wait_group mma_async > sp > sync | aligned | m* | satfinite | "
              "f16 f32 s32 > " TILE_FRAGMENTS " > " TILE_FRAGMENTS " > and > popc | satfinite"},
    {"cvt", "pack > " TILE_ROUNDINGS " | ftz | relu | satfinite | sat | " TILE_TYPES
            " e4m3x2 e5m2x2 | " TILE_TYPES " e4m3x2 e5m2x2 | b32"},
};

#undef TILE_SCOPES
#undef TILE_SHARED
#undef TILE_SPACES
#undef TILE_VECTORS
#undef TILE_HINT
#undef TILE_INTEGERS
#undef TILE_FLOATS
#undef TILE_TYPES
#undef TILE_OPERATIONS
#undef TILE_ROUNDINGS
#undef TILE_FRAGMENTS

// Removes what stands before the separator.
std::string_view takeUpTo(char separator, std::string_view &text) {
  size_t end = text.find(separator);
  std::string_view part = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return part;
}

// The lists between two ">", and those of which a modifier has been seen.
class Stage {
public:
  explicit Stage(std::string_view lists) : lists_(lists) {}

  /// False if the modifier is in none of the lists that are still free.
  bool take(std::string_view modifier) {
    std::string_view left = lists_;
    for (uint32_t bit = 1; !left.empty(); bit <<= 1)
      if (isInList(modifier, takeUpTo('|', left)) && !(taken_ & bit)) {
        taken_ |= bit;
        return true;
      }
    return false;
  }

private:
  std::string_view lists_;
  uint32_t taken_ = 0;
};

// The first modifier that does not stand where it may, or beside those before it; empty if all do.
std::string_view misplaced(std::span<const std::string_view> modifiers, const Order &order) {
  std::string_view left = order.lists;
  Stage stage(takeUpTo('>', left));
  for (std::string_view modifier : modifiers) {
    if (!isInList(modifier, order.lists))
      continue;
    while (!stage.take(modifier)) {
      if (left.empty())
        return modifier;
      stage = Stage(takeUpTo('>', left));
    }
  }
  return {};
}

} // namespace

std::optional<std::string> brokenOrder(std::string_view opcode,
                                       std::span<const std::string_view> modifiers) {
  for (const Order &order : kOrders)
    if (isOf(opcode, modifiers, order.opcodes))
      if (std::string_view modifier = misplaced(modifiers, order); !modifier.empty())
        return "." + std::string(modifier) + " does not stand here, or not beside those before it";
  return std::nullopt;
}

} // namespace tile::vgpu
