// Which values the engine computes: those that decide an address, a branch, a guard or an operand
// of synchronization, and what they are made of. What would need floats or memory stays zero, and
// the report says what was assumed.
#include "runtime/vgpu/time/TimedProgram.h"

#include <unordered_set>

namespace tile::vgpu {

std::span<const uint32_t> decidingRows(const Op &op, TimeKind kind) {
  std::span<const uint32_t> sources(op.rows + op.targets, op.sources);
  switch (kind) {
  case TimeKind::LoadGlobal:
  case TimeKind::LoadShared:
  case TimeKind::AtomicGlobal:
  case TimeKind::ReduceGlobal:
  case TimeKind::AsyncArrive:
    return sources.first(std::min<size_t>(1, sources.size()));
  case TimeKind::StoreGlobal:
  case TimeKind::StoreShared:
    return sources.last(std::min<size_t>(1, sources.size()));
  case TimeKind::BarrierSync:
  case TimeKind::BarrierArrive:
  case TimeKind::MbarrierInit:
  case TimeKind::MbarrierArrive:
  case TimeKind::MbarrierExpect:
  case TimeKind::MbarrierWait:
  case TimeKind::BulkLoad:
  case TimeKind::BulkStore:
  case TimeKind::AsyncCopy:
  case TimeKind::Branch:
    return sources;
  default:
    return {};
  }
}

namespace {

class Slice {
public:
  explicit Slice(TimedProgram &timed) : timed_(timed), code_(timed.code) {}

  void mark() {
    for (size_t i = 0; i < code_.size(); ++i) {
      if (code_[i].flags & kHasGuard)
        needed_.insert(code_[i].guardRow);
      for (uint32_t row : decidingRows(code_[i], timed_.ops[i].form.kind))
        needed_.insert(row);
    }
    while (grow())
      ;
    findUnknown();
  }

private:
  bool writesNeeded(const Op &op) const {
    for (unsigned r = 0; r < op.targets; ++r)
      if (needed_.contains(op.rows[r]))
        return true;
    return false;
  }

  static bool isComputable(const TimedOp &timed) {
    switch (timed.form.kind) {
    case TimeKind::Compute:
    case TimeKind::Shuffle:
    case TimeKind::Vote:
    case TimeKind::Elect:
    case TimeKind::LoadShared:
      return !timed.form.makesFloats;
    default:
      return false;
    }
  }

  // Adds what needed values are made of; false if nothing is new.
  bool grow() {
    size_t before = needed_.size(), executed = executedCount_;
    for (size_t i = code_.size(); i-- > 0;) {
      TimedOp &timed = timed_.ops[i];
      bool isStore =
          timed.form.kind == TimeKind::StoreShared && needsShared_ && !timed.form.makesFloats;
      if (timed.isExecuted || !(isStore || (isComputable(timed) && writesNeeded(code_[i]))))
        continue;
      timed.isExecuted = true;
      ++executedCount_;
      needsShared_ |= timed.form.kind == TimeKind::LoadShared;
      const Op &op = code_[i];
      unsigned first = op.flags & kAccumulates ? 0 : op.targets;
      for (unsigned r = first; r < static_cast<unsigned>(op.targets) + op.sources; ++r)
        needed_.insert(op.rows[r]);
    }
    return needed_.size() != before || executedCount_ != executed;
  }

  // Results of floats and of memory that something needs, and the branches that depend on them.
  void findUnknown() {
    std::unordered_set<uint32_t> unknown;
    for (size_t i = 0; i < code_.size(); ++i) {
      TimedOp &timed = timed_.ops[i];
      bool isEngines = timed.form.kind == TimeKind::MbarrierWait ||
                       timed.form.kind == TimeKind::MbarrierArrive ||
                       timed.form.kind == TimeKind::AtomicGlobal;
      if (timed.isExecuted || isEngines || !writesNeeded(code_[i]))
        continue;
      for (unsigned r = 0; r < code_[i].targets; ++r)
        unknown.insert(code_[i].rows[r]);
    }
    timed_.unknownRows.assign(unknown.begin(), unknown.end());
    for (bool grows = !unknown.empty(); grows;) {
      grows = false;
      for (size_t i = 0; i < code_.size(); ++i)
        if (timed_.ops[i].isExecuted && dependsOn(code_[i], unknown))
          for (unsigned r = 0; r < code_[i].targets; ++r)
            grows |= unknown.insert(code_[i].rows[r]).second;
    }
    for (size_t i = 0; i < code_.size(); ++i)
      if (timed_.ops[i].form.kind == TimeKind::Branch && dependsOn(code_[i], unknown))
        timed_.assumptions.push_back(static_cast<uint32_t>(i));
  }

  static bool dependsOn(const Op &op, const std::unordered_set<uint32_t> &unknown) {
    if ((op.flags & kHasGuard) && unknown.contains(op.guardRow))
      return true;
    for (unsigned r = op.targets; r < static_cast<unsigned>(op.targets) + op.sources; ++r)
      if (unknown.contains(op.rows[r]))
        return true;
    return false;
  }

  TimedProgram &timed_;
  const std::vector<Op> &code_;
  std::unordered_set<uint32_t> needed_; // rows
  size_t executedCount_ = 0;
  bool needsShared_ = false;
};

} // namespace

void markSlice(TimedProgram &program) { Slice(program).mark(); }

} // namespace tile::vgpu
