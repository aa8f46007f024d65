// Blocks, their places, and the maps that they copy by.
#include "runtime/vgpu/time/TimedLaunch.h"

#include "runtime/vgpu/isa/async/CopyForms.h"
#include "runtime/vgpu/isa/async/TensorMapMemory.h"
#include "runtime/vgpu/machine/Lanes.h"

#include <algorithm>

namespace tile::vgpu {

TimedLaunch::TimedLaunch(LaunchSetup setup, const Calibration &calibration,
                         const AssemblerFigures &known)
    : launch_(std::move(setup)), calibration_(calibration),
      program_(timeProgram(launch_.setup().program, calibration)),
      occupancy_(occupancyOf(*launch_.setup().program, launch_.setup().props,
                             static_cast<unsigned>(launch_.setup().config.block.count()),
                             launch_.sharedBytes(), launch_.clusterSize(), known, calibration)) {}

unsigned TimedLaunch::activeMultiprocessors() const {
  return static_cast<unsigned>(std::min<uint64_t>(multiprocessors(), blocks()));
}

unsigned TimedLaunch::warpsOfBlock() const {
  return static_cast<unsigned>((launch_.setup().config.block.count() + kLanes - 1) / kLanes);
}

unsigned TimedLaunch::multiprocessors() const {
  constexpr unsigned kEverywhere =
      2; // two blocks of a cluster fit wherever two multiprocessors are
  return static_cast<unsigned>(clusterSize() > kEverywhere ? calibration_.device.smsOfClusters
                                                           : calibration_.device.sms);
}

unsigned TimedLaunch::places() const {
  return static_cast<unsigned>(
      std::min<uint64_t>(blocks(), uint64_t{multiprocessors()} * occupancy_.blocks));
}

unsigned TimedLaunch::gpcOf(unsigned multiprocessor) const {
  if (clusterSize() > 1) {
    constexpr unsigned kFirst = 8, kStep = 2;
    return multiprocessor < kFirst ? 0 : (multiprocessor - kFirst) / kStep % kGpcs;
  }
  // Six GPCs of 16 or 18, of which a first round fills 16; the last two of fewer.
  constexpr unsigned kFull = 6, kSevenths = 18;
  auto size = static_cast<unsigned>(calibration_.device.smsOfGpc);
  if (multiprocessor < kFull * size)
    return multiprocessor / size;
  return multiprocessor < kFull * size + kSevenths ? kFull : kFull + 1;
}

Cta &TimedLaunch::begin(Cluster &room, uint64_t turn) {
  launch_.begin(room, turn / clusterSize());
  return *room.ctas[turn % clusterSize()];
}

const device::TensorMapParams &TimedLaunch::mapAt(Warp &warp, const Op &op, unsigned lane,
                                                  uint64_t address) {
  auto [found, isNew] = maps_.try_emplace(address);
  if (isNew)
    found->second = tensorMapAt(warp, op, lane, address);
  return found->second;
}

uint64_t Box::bytes() const { return boxBytes(*map); }

uint64_t Box::bytesInside() const {
  uint64_t bytes = device::sizeOf(map->type);
  for (uint32_t d = 0; d < map->rank; ++d) {
    int64_t first = at[d], count = copiedExtent(*map, d),
            extent = static_cast<int64_t>(map->dims[d]);
    bytes *= static_cast<uint64_t>(std::clamp<int64_t>(
        std::min(first + count, extent) - std::max<int64_t>(first, 0), 0, count));
  }
  return bytes;
}

uint64_t globalAddressOf(const TimedWarp &warp, uint32_t pc, TimeKind kind, unsigned lane) {
  const Op &op = warp.operation(pc);
  if (kind ==
      TimeKind::AsyncCopy) // rows: target, source; the upper half of the offset is the source's
    return warp.value(op.rows[1], lane) + static_cast<uint64_t>(op.imm >> 32);
  return addressOf(warp, pc, decidingRows(op, kind).front(), lane);
}

void takeTurn(const TimedLaunch &launch, TimedWarp &warp, uint32_t pc, uint32_t lanes,
              uint64_t &fetches) {
  const Op &op = warp.operation(pc);
  if (op.targets)
    forLanes(lanes, [&](unsigned lane) {
      warp.setValue(op.rows[0], lane, fetches++ * launch.blocks() + warp.registers().cta->index);
    });
}

Error errorOfStop(const Cta &block) {
  const Finding &finding = block.findings.back();
  return Error(Fault::User, ErrorCode::DeviceFinding,
               "the kernel stops while it is timed: " + finding.message,
               {block.launch->program().module->name.c_str(), finding.ptxLine});
}

Box boxOf(TimedLaunch &launch, TimedWarp &warp, uint32_t pc, unsigned lane) {
  const Op &op = warp.operation(pc);
  const TimeForm &form = launch.program().ops[pc].form;
  Box box;
  unsigned mapRow = form.kind == TimeKind::BulkStore ? kBulkTarget : kBulkSource;
  box.map = &launch.mapAt(warp.registers(), op, lane, warp.value(op.rows[mapRow], lane));
  for (unsigned d = 0; d < form.number; ++d)
    box.at[d] = static_cast<int32_t>(warp.value(op.rows[kBulkCoordinates + d], lane));
  return box;
}

} // namespace tile::vgpu
