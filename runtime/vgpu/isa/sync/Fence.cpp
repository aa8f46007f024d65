// membar and fence.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/isa/async/TensorMapMemory.h"
#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/ptx/ModifierWords.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

// Memory is touched in program order; a fence matters to the race checkers, as half of a release or acquire pattern.
void fence(Warp &warp, const Op &) {
  if (warp.cta->races)
    warp.clock.fence(warp.mask);
}

void fenceProxy(Warp &warp, const Op &) { warp.clock.fenceProxy(); }

// `.sync_restrict`: which space's objects the order is for; here it is for all.
void takeRestriction(Decoder &decoder, Suffixes &suffixes) {
  bool acquires = suffixes.take("acquire");
  if ((!acquires && !suffixes.take("release")) ||
      !suffixes.take(acquires ? "sync_restrict::shared::cluster" : "sync_restrict::shared::cta") ||
      !suffixes.take("cluster"))
    decoder.unsupported("expected .acquire.sync_restrict::shared::cluster.cluster or "
                        ".release.sync_restrict::shared::cta.cluster");
}

void decodeProxyFence(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("async::generic")) {
    takeRestriction(decoder, suffixes);
    decoder.program().releases = true;
    decoder.emit(fenceProxy, {}, {});
    decoder.emit(fence, {}, {});
    return;
  }
  if (suffixes.take("async")) {
    suffixes.takeOneOf({"global", "shared::cta", "shared::cluster"});
    decoder.emit(fenceProxy, {}, {});
    return;
  }
  if (suffixes.take("alias")) {
    decoder.emit(fence, {}, {});
    return;
  }
  // Orders changes of a tensor map before the copies that use it; maps are read when a copy is issued.
  if (suffixes.take("tensormap::generic"))
    return decodeMapFence(decoder, instruction, suffixes);
  decoder.unsupported("expected fence.proxy.async, .alias or .tensormap::generic");
}

void takeMembarLevel(Decoder &decoder, Suffixes &suffixes) {
  if (suffixes.takeOneOf({"cta", "gl", "sys"}).empty())
    decoder.unsupported("expected membar.cta, .gl or .sys");
}

void takeFenceScope(Decoder &decoder, Suffixes &suffixes) {
  suffixes.take("mbarrier_init"); // a lighter release that suffices after mbarrier.init
  suffixes.takeOneOf({"acq_rel", "sc", "acquire", "release"});
  if (suffixes.takeOneOf({"cta", "cluster", "gpu", "sys"}).empty())
    decoder.unsupported("a fence needs a scope");
}

template <auto takeScope>
void decodeFence(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("proxy"))
    return decodeProxyFence(decoder, instruction, suffixes);
  bool isRestricted = std::ranges::any_of(instruction.suffix, [](std::string_view modifier) {
    return modifier.starts_with("sync_restrict");
  });
  if (isRestricted)
    takeRestriction(decoder, suffixes);
  else
    takeScope(decoder, suffixes);
  decoder.program().releases = true;
  decoder.emit(fence, {}, {});
}

const std::initializer_list<FormOrder> kMembarOrders = {
    {"proxy > alias async async::generic tensormap::generic | mbarrier_init | sc acq_rel acquire "
     "release" TILE_SCOPE_LIST "global " TILE_SHARED}};

TimeForm timeOfFence(const Instruction &instruction) {
  bool isLight = hasWord(instruction, "proxy") || hasWord(instruction, "mbarrier_init");
  bool isOfDevice =
      hasWord(instruction, "gpu") || hasWord(instruction, "sys") || hasWord(instruction, "gl");
  return {.kind = TimeKind::Fence,
          .cost = Cost::Issue,
          .pipe = Pipe::Sync,
          .flag = isOfDevice && !isLight,
          .hasClusterScope = !isLight};
}

const OpcodeInfo kOpcodes[] = {
    {.name = "membar",
     .decode = decodeFence<takeMembarLevel>,
     .time = timeOfFence,
     .kind = always<InstructionClass::Barrier>,
     .forms = {{.needs = "alias", .of = "membar.proxy"}},
     .orders = kMembarOrders,
     .requirements = {{"proxy", 70, 75}}},
    {.name = "fence",
     .decode = decodeFence<takeFenceScope>,
     .time = timeOfFence,
     .kind = always<InstructionClass::Barrier>,
     .forms = {{.where = "mbarrier_init",
                .needs = "release",
                .never = "sc acq_rel acquire cta gpu sys"},
               {.where = "mbarrier_init", .needs = "cluster"}},
     .orders = kMembarOrders,
     .requirements = {{"", 70, 60},
                      {"cluster", 90, 78},
                      {"proxy", 70, 75},
                      {"mbarrier_init", 90, 80},
                      {"proxy.async", 90, 80},
                      {"proxy.tensormap::generic", 90, 83},
                      {"proxy.async::generic", 90, 86},
                      {"sync_restrict::shared::cta", 90, 86},
                      {"sync_restrict::shared::cluster", 90, 86}}},
};

} // namespace

OpcodeRows fenceOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
