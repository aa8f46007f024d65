// Costs and scoreboard of a program.
#include "runtime/vgpu/time/TimedProgram.h"

#include "runtime/vgpu/time/Schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace tile::vgpu {
namespace {

bool needsLanes(TimeKind kind) {
  switch (kind) {
  case TimeKind::Elect:
  case TimeKind::Shuffle:
  case TimeKind::Vote:
  case TimeKind::WarpBarrier:
  case TimeKind::Wgmma:
  case TimeKind::WgmmaFence:
  case TimeKind::WgmmaCommit:
  case TimeKind::WgmmaWait:
  case TimeKind::BarrierSync:
  case TimeKind::BarrierArrive:
  case TimeKind::LoadMatrix:
  case TimeKind::StoreMatrix:
  case TimeKind::ChangeRegisters:
    return true;
  default:
    return false;
  }
}

class Builder {
public:
  Builder(std::shared_ptr<const Program> program, const Calibration &calibration)
      : calibration_(calibration) {
    timed_.program = std::move(program);
    timed_.code = timed_.program->code;
  }

  TimedProgram build() {
    const std::vector<Op> &code = timed_.program->code;
    timed_.ops.resize(code.size());
    for (size_t begin = 0; begin < code.size();) {
      size_t end = begin + 1;
      while (end < code.size() && !code[end].issues && !(code[end].flags & kJumps) &&
             code[end].instruction == code[begin].instruction)
        ++end;
      timeInstruction(begin, end);
      begin = end;
    }
    foldConstants();
    scheduleInstructions(timed_);
    markSlice(timed_);
    return std::move(timed_);
  }

private:
  // The main operation of an instruction has its cost. Those before it widen addresses: they are
  // free, and values as others are. Those behind it belong to it.
  void timeInstruction(size_t begin, size_t end) {
    const std::vector<Op> &code = timed_.program->code;
    auto rowsOf = [](const Op &op) { return op.targets + op.sources; };
    auto main = static_cast<size_t>(
        std::ranges::max_element(code.begin() + static_cast<ptrdiff_t>(begin),
                                 code.begin() + static_cast<ptrdiff_t>(end), {}, rowsOf) -
        code.begin());
    for (size_t i = begin; i < main; ++i)
      collectRows(timed_.ops[i], i, i + 1);
    const Op &first = code[begin];
    TimedOp &op = timed_.ops[main];
    if (first.issues)
      op.form = timed_.program->lines[first.instruction].time;
    // Also where a function that was inlined returns, or to the block that follows in the text.
    if (code[main].flags & kJumps)
      op.form.kind = TimeKind::Branch;
    cost(op, first);
    op.needsLanes = needsLanes(op.form.kind);
    timed_.usesTensorLoads |= op.form.kind == TimeKind::BulkLoad && op.form.number;
    for (size_t i = main + 1; i < end; ++i) {
      timed_.ops[i].belongsToLast = true;
      timed_.ops[i].form.makesFloats = op.form.makesFloats;
    }
    collectRows(op, main, end);
  }

  void cost(TimedOp &op, const Op &first) {
    const PipeCost &row = calibration_[op.form.cost];
    op.pipe = op.form.pipe == Pipe::None && first.issues ? pipeOf(op.form.cost) : op.form.pipe;
    if (op.form.cost == Cost::Free)
      op.pipe = Pipe::None;
    op.occupancy = static_cast<float>(row.occupancy);
    op.latency = static_cast<float>(row.latency);
    if (op.form.kind == TimeKind::Wgmma)
      op.occupancy = static_cast<float>(wgmmaCycles(op.form));
    if (op.form.kind == TimeKind::Mma) {
      op.occupancy =
          static_cast<float>(calibration_.mma.occupancy / kUnitsOfM16n8k16 * op.form.number);
      op.latency = static_cast<float>(calibration_.mma.latency);
    }
  }

  // m16n8k16 of halves, in the units of TimeForm::number.
  static constexpr double kUnitsOfM16n8k16 = 8;

  double wgmmaCycles(const TimeForm &form) const {
    const auto &tensor = calibration_.tensor;
    if (form.flag)
      return form.number <= 16 ? tensor.leastRegisters16 : form.number * tensor.perColumn;
    for (auto [columns, cycles] : {std::pair(8, tensor.least8),
                                   {16, tensor.least16},
                                   {24, tensor.least24},
                                   {32, tensor.least32}})
      if (form.number == columns)
        return cycles;
    return form.number * tensor.perColumn;
  }

  void collectRows(TimedOp &op, size_t begin, size_t end) {
    std::vector<uint32_t> reads, writes;
    bool accumulates =
        op.form.kind == TimeKind::Wgmma; // its sums are ordered by groups, not by the scoreboard
    for (size_t i = begin; i < end; ++i) {
      const Op &part = timed_.program->code[i];
      auto read = [&](uint32_t row) {
        if (!std::ranges::count(writes, row / kRowBytes))
          reads.push_back(row / kRowBytes);
      };
      if (part.flags & kHasGuard)
        read(part.guardRow);
      for (unsigned r = part.targets; r < part.targets + part.sources; ++r)
        read(part.rows[r]);
      for (unsigned r = 0; r < part.targets && !accumulates; ++r)
        writes.push_back(part.rows[r] / kRowBytes);
    }
    // What never changes is always there.
    std::erase_if(reads,
                  [&](uint32_t row) { return row * kRowBytes >= timed_.program->staticRowsBegin; });
    op.firstRow = static_cast<uint32_t>(timed_.rows.size());
    op.reads = static_cast<uint16_t>(reads.size());
    op.writes = static_cast<uint16_t>(writes.size());
    timed_.rows.insert(timed_.rows.end(), reads.begin(), reads.end());
    timed_.rows.insert(timed_.rows.end(), writes.begin(), writes.end());
  }

  // What depends on constants alone costs nothing: the assembler folds it.
  void foldConstants() {
    const Program &program = *timed_.program;
    std::unordered_map<uint32_t, unsigned> assignments;
    for (const Op &op : program.code)
      for (unsigned r = 0; r < op.targets; ++r)
        ++assignments[op.rows[r]];
    std::unordered_set<uint32_t> constants;
    for (const Program::Constant &constant : program.constants)
      constants.insert(constant.row);
    constexpr int kPasses = 2; // one for what is assigned behind its use in the text
    for (int pass = 0; pass < kPasses; ++pass)
      for (size_t i = 0; i < program.code.size(); ++i)
        if (isFoldable(program.code[i], timed_.ops[i], assignments, constants)) {
          constants.insert(program.code[i].rows[0]);
          timed_.ops[i].pipe = Pipe::None;
        }
  }

  static bool isFoldable(const Op &op, const TimedOp &timed,
                         const std::unordered_map<uint32_t, unsigned> &assignments,
                         const std::unordered_set<uint32_t> &constants) {
    bool computes = timed.form.kind == TimeKind::Compute && !timed.form.makesFloats &&
                    op.targets == 1 && op.sources > 0 && !(op.flags & (kHasGuard | kControl));
    if (!computes || assignments.at(op.rows[0]) != 1)
      return false;
    return std::all_of(op.rows + 1, op.rows + 1 + op.sources,
                       [&](uint32_t row) { return constants.contains(row); });
  }

  const Calibration &calibration_;
  TimedProgram timed_;
};

} // namespace

TimedProgram timeProgram(std::shared_ptr<const Program> program, const Calibration &calibration) {
  return Builder(std::move(program), calibration).build();
}

} // namespace tile::vgpu
