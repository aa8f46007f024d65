// The clusters and blocks of a launch: their memory is made once and used by one after the other, each of which
// begins as if nothing had been there.
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>

namespace tile::vgpu {

std::unique_ptr<Cluster> Launch::makeCluster() {
  auto cluster = std::make_unique<Cluster>();
  cluster->launch = this;
  if (footprints_)
    cluster->ownGlobalRaces = GlobalRaces::ofCluster(*footprints_);
  cluster->globalRaces = footprints_ ? cluster->ownGlobalRaces.get() : inFlight_->races.get();
  cluster->events = program().usesGlobalAtomics ? &events_ : &cluster->ownEvents;
  cluster->effects = program().usesGlobalAtomics ? &effects_ : &cluster->ownEffects;
  for (uint32_t rank = 0; rank < clusterSize(); ++rank) {
    cluster->ctas.push_back(makeCta(rank));
    cluster->ctas.back()->cluster = cluster.get();
  }
  return cluster;
}

std::unique_ptr<Cta> Launch::makeCta(uint32_t rank) {
  auto cta = std::make_unique<Cta>();
  cta->launch = this;
  cta->rank = rank;
  cta->threads = static_cast<uint32_t>(setup_.config.block.count());
  cta->instructionCounters.resize(instructionCounters_.size());
  const Program &code = program();
  size_t warps = (cta->threads + kLanes - 1) / kLanes;
  cta->warps.resize(warps);
  // Rows begin at cache lines, so that a row of 32 lanes is as few of them as it can be.
  cta->registerBytes.resize(warps * code.fileBytes + 64);
  auto misalignment = reinterpret_cast<uintptr_t>(cta->registerBytes.data()) % 64;
  uint8_t *registers = cta->registerBytes.data() + (misalignment ? 64 - misalignment : 0);
  if (checks().init)
    cta->shadowRegisters = ShadowRegisterFile(warps, code.fileBytes);
  cta->shared.resize(sharedBytes_);
  cta->sharedValidWords.resize(sharedBytes_ / 64 + 2);
  cta->sharedValid = ValidBits(cta->sharedValidWords.data());
  cta->local.resize(warps * kLanes * code.localStride());
  cta->localValidWords.resize(cta->local.size() / 64 + 2);
  cta->localValid = ValidBits(cta->localValidWords.data());
  if (checks().tracksAccesses())
    cta->races = std::make_unique<SharedRaces>();
  for (size_t i = 0; i < warps; ++i) {
    Warp &warp = cta->warps[i];
    warp.index = static_cast<uint32_t>(i);
    warp.cta = cta.get();
    warp.registers = registers + i * code.fileBytes;
    if (checks().init)
      warp.shadow = cta->shadowRegisters.warp(i);
    uint32_t lanes = std::min<uint32_t>(kLanes, cta->threads - static_cast<uint32_t>(i) * kLanes);
    warp.present = lanes == kLanes ? kFullMask : (1u << lanes) - 1;
    for (const Program::Constant &constant : code.constants) {
      uint64_t bits = constant.bits + (constant.isShared ? sharedWindowOf(rank) : 0);
      if (constant.bytes == 8)
        std::fill_n(warp.row<uint64_t>(constant.row), kLanes, bits);
      else
        std::fill_n(warp.row<uint32_t>(constant.row), kLanes, static_cast<uint32_t>(bits));
    }
  }
  return cta;
}

void Launch::begin(Cluster &cluster, uint64_t index) {
  static_cast<ClusterState &>(cluster) = {};
  cluster.index = static_cast<uint32_t>(index);
  cluster.actors = static_cast<uint32_t>(clusterSize() * cluster.ctas[0]->warps.size());
  cluster.sync.clear();
  cluster.choices.reset(setup_.seed, index);
  cluster.async.clear();
  for (auto &cta : cluster.ctas)
    begin(*cta);
}

void Launch::begin(Cta &cta) const {
  static_cast<CtaState &>(cta) = {};
  cta.index = grid().blockIndex(cta.cluster->index, cta.rank);
  device::Dim3 coordinates = grid().coordinatesOf(cta.index);
  cta.id[0] = coordinates.x, cta.id[1] = coordinates.y, cta.id[2] = coordinates.z;
  // Shared memory starts with a pattern that is no plausible number: reading it unwritten cannot
  // look right.
  std::ranges::fill(cta.shared, uint8_t{0xCD});
  if (checks().init) {
    std::ranges::fill(cta.sharedValidWords, 0);
    std::ranges::fill(cta.localValidWords, 0);
    cta.shadowRegisters.reset(program().staticRowsBegin);
  }
  if (cta.races)
    cta.races->reset(sharedBytes_);
  cta.warpgroups.assign((cta.warps.size() + 3) / 4, {});
  auto warps = static_cast<uint32_t>(cta.warps.size()), firstActor = cta.rank * warps;
  for (Warp &warp : cta.warps) {
    warp.beginBlock(program());
    warp.clock.reset(raceContext_.firstCluster + cta.cluster->index, firstActor + warp.index,
                     checks().tracksAccesses());
    warp.clock.followsLanes = program().releases;
    warp.clock.barriersAcquire = !checks().strict;
    warp.clock.setBlock(firstActor, warps);
    fillSpecials(warp);
  }
}

} // namespace tile::vgpu
