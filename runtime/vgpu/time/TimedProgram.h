// A decoded kernel as the time model runs it: what each operation costs, for which registers it
// waits, and whether its value is computed at all. Values are computed only where they decide
// addresses, control or synchronization; floats never.
#pragma once

#include "runtime/vgpu/machine/Program.h"
#include "runtime/vgpu/time/Calibration.h"

#include <memory>
#include <span>
#include <vector>

namespace tile::vgpu {

struct TimedOp {
  TimeForm form;
  Pipe pipe = Pipe::None; ///< None: it costs nothing
  float occupancy = 0, latency = 0;
  uint32_t firstRow = 0; ///< in TimedProgram::rows: those it waits for, then those it writes
  uint16_t reads = 0, writes = 0;
  bool isExecuted = false; ///< its handler computes values
  bool needsLanes = false; ///< lanes that have diverged wait for each other
  bool belongsToLast =
      false; ///< of the same instruction as the operation before, which has its cost
};

struct TimedProgram {
  std::shared_ptr<const Program> program; ///< decoded with DecodeOptions::keepsInstructions
  std::vector<Op> code;                   ///< in the order of an assembler (Schedule.h)
  std::vector<TimedOp> ops;               ///< by operation
  std::vector<uint32_t> rows;             ///< numbers of rows, in units of kRowBytes
  /// Rows that something decides by though the engine does not know them: they hold zeros.
  std::vector<uint32_t> unknownRows;
  /// Operations that branch, or go where they go, by such a value.
  std::vector<uint32_t> assumptions;
  bool usesTensorLoads = false; ///< cp.async.bulk.tensor into shared memory

  std::span<const uint32_t> readsOf(const TimedOp &op) const {
    return {rows.data() + op.firstRow, op.reads};
  }
  std::span<const uint32_t> writesOf(const TimedOp &op) const {
    return {rows.data() + op.firstRow + op.reads, op.writes};
  }
  /// The scoreboard's size.
  size_t rowCount() const { return program->fileBytes / kRowBytes; }
};

TimedProgram timeProgram(std::shared_ptr<const Program> program, const Calibration &calibration);

/// The rows of an operation whose values the engine itself looks at: addresses, counts,
/// coordinates, a barrier's number.
std::span<const uint32_t> decidingRows(const Op &op, TimeKind kind);

/// Marks what is computed, and what is assumed.
void markSlice(TimedProgram &program);

} // namespace tile::vgpu
