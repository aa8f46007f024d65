// PingPongLoops: two teams of one warpgroup each alternate the tiles of a nest that asks for
// `tile.ping_pong`.
//
//   for i: { P(i); for j: B(i, j); T(i) }    becomes
//
//   order_begin
//   for i, its own: { P(i); order_wait; for j: B(i, j); order_arrive; T(i) }
//   if the other team had the last tile: { order_wait }
//
// So one team issues the dots of its tile while the other executes the epilogue T of its own. A
// team has every second outer index; the producer warp, which loads for both, has all
// (`tile.by_role`). The wait after the loop balances the ordered barrier: the team whose tile would
// come next waits once more, so that every `bar.arrive` has its `bar.sync`.
//
// FlattenLoops merges the nest and moves the ordered barrier along. A nest that it cannot merge
// stays as it is.
#include "passes/Passes.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "ir/instructions/Wgmma.h"
#include "passes/tile/LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::passes {
#define GEN_PASS_DEF_PINGPONGLOOPS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

constexpr int64_t kTeams = 2;

// Why teams cannot alternate the tiles of a nest; empty if they can.
Refusal whyNotPingPong(scf::ForOp inner) {
  auto kernel = inner->getParentOfType<func::FuncOp>();
  if (!inner->hasAttr(ir::kSpecializeAttr))
    return "the loop inside has no .warp_specialize()";
  if (inner->hasAttr(ir::kUnrollAttr))
    return "the loop inside is unrolled, so that an iteration has several steps";
  if (inner->hasAttr(ir::kOverlapDotsAttr))
    return "the loop inside has .overlap_dots(), whose warpgroups take turns by themselves";
  if (kernel->hasAttr(ir::kTeamsAttr))
    return "the kernel has teams already";
  if (ir::warpsOf(inner) != ir::kWarpsPerWarpgroup)
    return "a team is a warpgroup of four warps, and the kernel has " +
           std::to_string(ir::warpsOf(inner));
  return {};
}

/// Divides the outer iterations of a nest among two teams.
class PingPong {
public:
  explicit PingPong(const LoopNest &nest)
      : outer_(nest.outer), inner_(nest.inner), b_(nest.outer), loc_(outer_.getLoc()) {}

  void divide() {
    outer_->getParentOfType<func::FuncOp>()->setAttr(ir::kTeamsAttr, b_.getI32IntegerAttr(kTeams));
    inner_->setAttr(ir::kPingPongAttr, b_.getUnitAttr());
    Value tiles = tripCountOf(b_, outer_);
    Value team = teamNumber();
    takeOwnTiles(team);
    Value next = arith::RemUIOp::create(b_, loc_, tiles, number(kTeams));
    Value isNext = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, next, team);
    gpu::OrderBeginOp::create(b_, loc_);
    b_.setInsertionPoint(inner_);
    gpu::OrderWaitOp::create(b_, loc_);
    b_.setInsertionPointAfter(inner_);
    gpu::OrderArriveOp::create(b_, loc_);
    b_.setInsertionPointAfter(outer_);
    auto balance = scf::IfOp::create(b_, loc_, isNext, /*withElseRegion=*/false);
    b_.setInsertionPointToStart(balance.thenBlock());
    gpu::OrderWaitOp::create(b_, loc_);
  }

private:
  Value number(int64_t value) {
    Type type = outer_.getInductionVar().getType();
    return arith::ConstantOp::create(b_, loc_, b_.getIntegerAttr(type, value));
  }

  Value teamNumber() {
    Value team = ir::TeamIdOp::create(b_, loc_, b_.getI32Type());
    Type type = outer_.getInductionVar().getType();
    return type == team.getType() ? team : arith::ExtSIOp::create(b_, loc_, type, team).getResult();
  }

  void takeOwnTiles(Value team) {
    Value first = outer_.getLowerBound(), step = outer_.getStep();
    Value ownFirst =
        arith::AddIOp::create(b_, loc_, first, arith::MulIOp::create(b_, loc_, team, step));
    Value ownStep = arith::MulIOp::create(b_, loc_, step, number(kTeams));
    outer_.setLowerBound(byRole(first, ownFirst));
    outer_.setStep(byRole(step, ownStep));
  }

  Value byRole(Value all, Value own) {
    return ir::ByRoleOp::create(b_, loc_, all.getType(), all, own);
  }

  scf::ForOp outer_, inner_;
  OpBuilder b_;
  Location loc_;
};

struct PingPongLoops : passes::impl::PingPongLoopsBase<PingPongLoops> {
  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->removeAttr(ir::kPingPongAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp outer : loops)
      divide(outer);
  }

  static void divide(scf::ForOp outer) {
    Refusal why = "it has no .flatten()";
    if (outer->hasAttr(ir::kFlattenAttr)) {
      LoopNest nest = nestOf(outer);
      if (!nest.inner)
        return; // FlattenLoops says why
      why = whyNotPingPong(nest.inner);
      if (!why && !whyNotFlattenable(nest))
        PingPong(nest).divide();
    }
    if (why)
      outer.emitRemark("ping_pong: the loop stays as it is: ") << *why;
  }
};

} // namespace

} // namespace tile::passes
