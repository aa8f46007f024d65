// Follows one of those who carry out a program through ScalarCode.
#pragma once

#include "base/Refusal.h"
#include "codegen/report/ScalarCompute.h"

#include <string>
#include <unordered_map>

namespace tile::codegen {

/// "a.cpp:12", without folders.
std::string shortPlace(mlir::Operation *op);

class ScalarRun {
public:
  /// Who is told of what is met.
  struct Listener {
    virtual ~Listener() = default;
    /// The access of that number is reached; `at` says where it lies.
    virtual void onAccess(int index) = 0;
    /// A region is carried out; `isInRole`, within the branch of a role.
    virtual void onEnter(mlir::Region *region, bool isInRole) = 0;
  };

  ScalarRun(const ScalarCode &code, Listener &listener) : code_(code), listener_(listener) {}

  /// From the first step to the last; numbers begin as `initial`. The counters of the launch stay as runs leave them.
  void run(const Runner &runner, const std::vector<Scalar> &initial);
  Scalar at(ScalarId id) const { return id == kNoScalar ? Scalar() : values_[id]; }

  int64_t steps() const { return steps_; } ///< of all runs
  /// Why a run could not go on.
  const Refusal &failure() const { return failure_; }

private:
  void run(const ScalarBlock &block);
  void branch(const ScalarBranch &branch);
  void roles(const ScalarRoles &roles);
  void loop(const ScalarLoop &loop);
  void loop(const ScalarWhile &loop);
  void cell(const ScalarStep &step);
  void fail(Refusal why);
  /// Counts a step; false if there were too many.
  bool isStepLeft();
  void set(ScalarId id, Scalar value);
  void move(llvm::ArrayRef<ScalarId> from, llvm::ArrayRef<ScalarId> to);
  void forget(llvm::ArrayRef<ScalarId> ids);

  const ScalarCode &code_;
  Listener &listener_;
  Runner runner_;
  std::vector<Scalar> values_;
  std::unordered_map<int64_t, int64_t> cells_; ///< counters of the launch
  int64_t steps_ = 0, limit_ = 0;
  bool isInRole_ = false;
  Refusal failure_;
};

} // namespace tile::codegen
