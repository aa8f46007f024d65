#include "codegen/report/ScalarRun.h"

#include "codegen/report/MakeReport.h"
#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace mlir;

namespace tile::codegen {

namespace {

/// Steps of one run, beyond which nobody waits for it.
constexpr int64_t kMostSteps = 160'000'000;

std::string unknownCourse(const char *what, Operation *op) {
  return std::string("how often the ") + what + " at " + shortPlace(op) +
         " is carried out follows from what is in memory, or from a number that is not given";
}

} // namespace

std::string shortPlace(Operation *op) {
  SourceLine where = sourceLineOf(op->getLoc());
  size_t slash = where.file.find_last_of('/');
  std::string file = slash == where.file.npos ? where.file : where.file.substr(slash + 1);
  return where.line ? file + ":" + std::to_string(where.line) : "a line that is not known";
}

void ScalarRun::run(const Runner &runner, const std::vector<Scalar> &initial) {
  runner_ = runner;
  values_ = initial;
  isInRole_ = false;
  limit_ = steps_ + kMostSteps;
  run(code_.body);
}

bool ScalarRun::isStepLeft() {
  if (++steps_ > limit_)
    fail("a program has too many iterations to follow them");
  return !failure_;
}

void ScalarRun::set(ScalarId id, Scalar value) {
  if (id != kNoScalar)
    values_[id] = value;
}

void ScalarRun::move(ArrayRef<ScalarId> from, ArrayRef<ScalarId> to) {
  SmallVector<Scalar, 8> moved;
  for (ScalarId id : from)
    moved.push_back(at(id));
  for (auto [id, value] : llvm::zip_equal(to, moved))
    set(id, value);
}

void ScalarRun::forget(ArrayRef<ScalarId> ids) {
  for (ScalarId id : ids)
    set(id, {});
}

void ScalarRun::fail(Refusal why) {
  if (!failure_)
    failure_ = std::move(why);
}

void ScalarRun::run(const ScalarBlock &block) {
  for (const ScalarStep &step : block) {
    if (failure_)
      return;
    if (!isStepLeft())
      return;
    switch (step.kind) {
    case ScalarStep::Kind::Compute:
      set(step.out, compute(step, values_, runner_));
      break;
    case ScalarStep::Kind::Access:
      listener_.onAccess(step.index);
      break;
    case ScalarStep::Kind::Branch:
      branch(code_.branches[step.index]);
      break;
    case ScalarStep::Kind::Roles:
      roles(code_.roles[step.index]);
      break;
    case ScalarStep::Kind::Loop:
      loop(code_.loops[step.index]);
      break;
    case ScalarStep::Kind::While:
      loop(code_.whiles[step.index]);
      break;
    case ScalarStep::Kind::AddToCell:
    case ScalarStep::Kind::SetCell:
      cell(step);
    }
  }
}

void ScalarRun::branch(const ScalarBranch &branch) {
  Scalar condition = at(branch.condition);
  if (!condition.isKnown) {
    if (branch.matters)
      fail(unknownCourse("branch", branch.op));
    return forget(branch.results);
  }
  int arm = condition.value ? 0 : 1;
  if (branch.regions[arm])
    listener_.onEnter(branch.regions[arm], isInRole_);
  run(branch.arms[arm]);
  if (branch.regions[arm] && !failure_)
    move(branch.yields[arm], branch.results);
}

void ScalarRun::roles(const ScalarRoles &roles) {
  bool wasInRole = std::exchange(isInRole_, true);
  run(runner_.isProducer ? roles.producer : roles.consumers);
  isInRole_ = wasInRole;
}

void ScalarRun::loop(const ScalarLoop &loop) {
  Scalar lower = at(loop.lower), upper = at(loop.upper), step = at(loop.step);
  if (!lower.isKnown || !upper.isKnown || !step.isKnown || step.value <= 0) {
    if (loop.matters)
      fail(unknownCourse("loop", loop.region->getParentOp()));
    return forget(loop.results);
  }
  move(loop.inits, loop.arguments);
  for (int64_t i = lower.value; i < upper.value && !failure_; i += step.value) {
    if (!isStepLeft())
      return;
    set(loop.index, {i, true});
    listener_.onEnter(loop.region, isInRole_);
    run(loop.body);
    move(loop.yields, loop.arguments);
  }
  move(loop.arguments, loop.results);
}

void ScalarRun::loop(const ScalarWhile &loop) {
  move(loop.inits, loop.beforeArguments);
  while (!failure_) {
    run(loop.before);
    Scalar goesOn = at(loop.condition);
    if (!goesOn.isKnown) {
      if (loop.matters)
        fail(unknownCourse("loop", loop.region->getParentOp()));
      return forget(loop.results);
    }
    if (!goesOn.value)
      return move(loop.passed, loop.results);
    move(loop.passed, loop.afterArguments);
    listener_.onEnter(loop.region, isInRole_);
    run(loop.after);
    move(loop.yields, loop.beforeArguments);
  }
}

void ScalarRun::cell(const ScalarStep &step) {
  Scalar place = at(step.a), value = at(step.b);
  if (!place.isKnown || !value.isKnown)
    return set(step.out, {});
  int64_t &cell = cells_[place.value];
  set(step.out, {cell, true});
  cell = step.kind == ScalarStep::Kind::SetCell ? value.value : cell + value.value;
}

} // namespace tile::codegen
