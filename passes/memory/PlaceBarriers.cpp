// PlaceBarriers: places barriers by the bytes that operations access, whatever they are for. It
// walks the program with the accesses since the last barrier; an access that conflicts with one of
// them gets a barrier before it. Loops are walked until nothing changes, so that the first accesses
// of the next iteration see the last ones of this.
#include "passes/Passes.h"

#include "passes/memory/AccessConflicts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tile::passes {
#define GEN_PASS_DEF_PLACEBARRIERS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

using Pending = llvm::SmallSetVector<Operation *, 8>;

class BarrierPlacer {
public:
  void place(func::FuncOp function) {
    Pending pending;
    do {
      changed_ = false;
      pending.clear();
      visit(function.getBody(), pending);
    } while (changed_);
    for (auto &[op, why] : barriersBefore_) {
      OpBuilder builder(op);
      gpu::BarrierOp::create(builder, op->getLoc(), why.reason,
                             why.isOfTeams ? gpu::Scope::Consumers : gpu::Scope::Team);
    }
  }

private:
  void visit(Region &region, Pending &pending) {
    for (Block &block : region)
      for (Operation &op : block)
        visit(&op, pending);
  }

  void visit(Operation *op, Pending &pending) {
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return visitIf(branch, pending);
    if (isa<scf::ForOp, scf::WhileOp>(op))
      return visitLoop(op, pending);
    if (auto barrier = dyn_cast<gpu::BarrierOp>(op))
      synchronize(pending, barrier.getScope() != gpu::Scope::Team);
    else if (isa<ir::DebugBarrierOp>(op))
      synchronize(pending, /*allTeams=*/false);
    else if (auto placed = barriersBefore_.find(op); placed != barriersBefore_.end())
      synchronize(pending, placed->second.isOfTeams);
    Accesses accesses = accessesOf(op);
    if (accesses.empty())
      return;
    if (std::optional<Why> why = conflictWith(pending, accesses)) {
      Why &known = barriersBefore_[op];
      changed_ |= known.reason.empty() || (why->isOfTeams && !known.isOfTeams);
      known = {known.reason.empty() ? why->reason : known.reason,
               known.isOfTeams || why->isOfTeams};
      synchronize(pending, why->isOfTeams);
    }
    pending.insert(op);
  }

  /// Why there is a barrier, and whether all teams wait at it.
  struct Why {
    std::string reason;
    bool isOfTeams = false;
  };

  // If each team synchronizes by itself, accesses to memory that all teams share stay pending.
  static void synchronize(Pending &pending, bool allTeams) {
    pending.remove_if([&](Operation *op) {
      return allTeams ||
             llvm::none_of(accessesOf(op), [](const Access &access) { return access.isOfTeams; });
    });
  }

  // The first conflict with a pending access, if there is one.
  static std::optional<Why> conflictWith(const Pending &pending, const Accesses &accesses) {
    for (Operation *other : pending)
      for (const Access &earlier : accessesOf(other))
        for (const Access &later : accesses)
          if (conflict(earlier, later))
            return Why{reasonFor(earlier, later), earlier.isOfTeams && later.isOfTeams};
    return std::nullopt;
  }

  void visitIf(scf::IfOp op, Pending &pending) {
    Pending otherwise = pending;
    visit(op.getThenRegion(), pending);
    visit(op.getElseRegion(), otherwise);
    pending.insert(otherwise.begin(), otherwise.end());
  }

  // Accesses pending at the end of an iteration are pending at the start of the next.
  void visitLoop(Operation *loop, Pending &pending) {
    size_t before;
    do {
      before = pending.size();
      Pending inside = pending;
      for (Region &region : loop->getRegions())
        visit(region, inside);
      pending.insert(inside.begin(), inside.end());
    } while (pending.size() != before);
  }

  bool changed_ = false;
  llvm::MapVector<Operation *, Why> barriersBefore_;
};

struct PlaceBarriers : passes::impl::PlaceBarriersBase<PlaceBarriers> {
  void runOnOperation() final {
    WalkResult known = getOperation().walk([](Operation *op) {
      return failed(verifyAccessesKnown(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (known.wasInterrupted())
      return signalPassFailure();
    BarrierPlacer().place(getOperation());
  }
};

} // namespace

} // namespace tile::passes
