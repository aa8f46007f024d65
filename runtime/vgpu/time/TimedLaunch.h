// A launch as the time model sees it: the program with its costs, the interpreter's launch for
// registers and special values, tensor maps, and where blocks go.
#pragma once

#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/time/Occupancy.h"
#include "runtime/vgpu/time/TimedWarp.h"

#include <tile/Error.h>

#include <unordered_map>

namespace tile::vgpu {

class TimedLaunch {
public:
  /// `setup` has a program decoded with keepsInstructions, and no checks.
  TimedLaunch(LaunchSetup setup, const Calibration &calibration, const AssemblerFigures &known);

  const TimedProgram &program() const { return program_; }
  const Calibration &calibration() const { return calibration_; }
  const Occupancy &occupancy() const { return occupancy_; }
  Launch &launch() { return launch_; }

  uint64_t blocks() const { return launch_.setup().config.grid.count(); }
  unsigned warpsOfBlock() const;
  unsigned clusterSize() const { return launch_.clusterSize(); }
  size_t sharedBytes() const { return launch_.sharedBytes(); }
  /// Multiprocessors that have blocks.
  unsigned activeMultiprocessors() const;
  /// Multiprocessors that can hold clusters of this size.
  unsigned multiprocessors() const;
  /// Places for blocks; the first round takes them in the order in which blocks are handed out.
  unsigned places() const;
  /// The GPC of a multiprocessor; a block's place on it is as measured: runs of blocks fill GPCs
  /// one after the other, clusters go round.
  unsigned gpcOf(unsigned multiprocessor) const;
  static constexpr unsigned kGpcs = 8;

  /// Room for one block.
  std::unique_ptr<Cluster> makeRoom() { return launch_.makeCluster(); }
  /// Begins the block of that turn, as they are handed out: cluster after cluster. Returns it.
  Cta &begin(Cluster &room, uint64_t turn);

  /// The tensor map at this address. Throws for an address that holds none.
  const device::TensorMapParams &mapAt(Warp &warp, const Op &op, unsigned lane, uint64_t address);

private:
  Launch launch_;
  const Calibration &calibration_;
  TimedProgram program_;
  Occupancy occupancy_;
  std::unordered_map<uint64_t, device::TensorMapParams> maps_;
};

/// The box that a bulk tensor load or store moves.
struct Box {
  const device::TensorMapParams *map = nullptr;
  Coordinates at{};
  /// The whole box, and what of it is inside of the tensor.
  uint64_t bytes() const;
  uint64_t bytesInside() const;
};

/// What a lane of a plain load, store or copy moves in global memory begins here.
uint64_t globalAddressOf(const TimedWarp &warp, uint32_t pc, TimeKind kind, unsigned lane);
/// An atomic that hands out work: every block takes turns, of which `fetches` counts its own.
void takeTurn(const TimedLaunch &launch, TimedWarp &warp, uint32_t pc, uint32_t lanes,
              uint64_t &fetches);

/// What the interpreter says of a block that it abandons (StopCta).
Error errorOfStop(const Cta &block);

Box boxOf(TimedLaunch &launch, TimedWarp &warp, uint32_t pc, unsigned lane);

} // namespace tile::vgpu
