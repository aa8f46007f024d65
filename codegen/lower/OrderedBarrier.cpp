// The ordered barrier: warpgroup g waits at a named barrier of its own, where the warpgroup before
// it arrives.
#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/gpu/NamedBarriers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// One warpgroup waits, the one before it arrives.
constexpr int64_t kThreadsOfBarrier = 2 * ir::kWarpsPerWarpgroup * ir::kWarpSize;
constexpr int64_t kMostWarpgroups = gpu::kMostWarps / ir::kWarpsPerWarpgroup;

/// Executes `instruction` (bar.sync or bar.arrive) at a warpgroup's barrier, if `condition` is null
/// or true.
void atBarrier(Lowering &l, Location loc, StringRef instruction, Value warpgroup, Value condition) {
  std::string text = (instruction + " $0, " + std::to_string(kThreadsOfBarrier) + ";").str();
  Value first = l.i32(gpu::numberOf(gpu::NamedBarrier::FirstWarpgroup));
  SmallVector<Value> operands = {arith::AddIOp::create(l.b, loc, warpgroup, first).getResult()};
  if (condition) { // a predicate, since ptxas would wait for dots at a branch
    text = "{\n\t.reg .pred own;\n\tsetp.ne.u32 own, $1, 0;\n\t@own " + text + "\n\t}";
    operands.push_back(arith::ExtUIOp::create(l.b, loc, l.b.getI32Type(), condition));
  }
  inlineMemoryPtx(l.b, loc, text, condition ? "r,r" : "r",
                  LLVM::LLVMVoidType::get(l.b.getContext()), operands);
}

Value isEqual(Lowering &l, Location loc, Value warpgroup, int64_t number) {
  return arith::CmpIOp::create(l.b, loc, arith::CmpIPredicate::eq, warpgroup,
                               l.i32(static_cast<int32_t>(number)));
}

Value warpgroupOf(Lowering &l, Location loc) {
  return arith::DivUIOp::create(l.b, loc, l.threads.uniformWarp(), l.i32(ir::kWarpsPerWarpgroup));
}

std::optional<int64_t> warpgroupsOf(Operation *op) {
  int64_t warps = ir::warpsOf(op) * ir::teamsOf(op), groups = warps / ir::kWarpsPerWarpgroup;
  if (warps % ir::kWarpsPerWarpgroup == 0 && groups > 1 && groups <= kMostWarpgroups)
    return groups;
  op->emitOpError("needs 2 to ") << kMostWarpgroups << " warpgroups, got " << warps << " warps";
  return std::nullopt;
}

template <bool kOfFirstAlone> LogicalResult lowerWait(Lowering &l, Operation *op) {
  if (!warpgroupsOf(op))
    return failure();
  Location loc = op->getLoc();
  Value warpgroup = warpgroupOf(l, loc);
  atBarrier(l, loc, "bar.sync", warpgroup, kOfFirstAlone ? isEqual(l, loc, warpgroup, 0) : Value());
  return success();
}

// `conditionFor` makes the condition from the warpgroup's number and their count; null: always.
template <class Condition>
LogicalResult arriveAtNext(Lowering &l, Operation *op, Condition conditionFor) {
  std::optional<int64_t> groups = warpgroupsOf(op);
  if (!groups)
    return failure();
  Location loc = op->getLoc();
  Value warpgroup = warpgroupOf(l, loc);
  Value next = arith::RemUIOp::create(
      l.b, loc, arith::AddIOp::create(l.b, loc, warpgroup, l.i32(1)), l.i32(*groups));
  atBarrier(l, loc, "bar.arrive", next, conditionFor(warpgroup, *groups));
  return success();
}

LogicalResult lowerBegin(Lowering &l, Operation *op) {
  return arriveAtNext(l, op, [&](Value warpgroup, int64_t groups) {
    return isEqual(l, op->getLoc(), warpgroup, groups - 1);
  });
}

LogicalResult lowerArrive(Lowering &l, gpu::OrderArriveOp arrive) {
  return arriveAtNext(l, arrive, [&](Value, int64_t) {
    return arrive.getPredicate() ? l.scalar(arrive.getPredicate()) : Value();
  });
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::OrderArriveOp, lowerArrive>,
    on<gpu::OrderBeginOp, lowerBegin>,
    on<gpu::OrderEndOp, lowerWait</*kOfFirstAlone=*/true>>,
    on<gpu::OrderWaitOp, lowerWait</*kOfFirstAlone=*/false>>,
};

} // namespace

LoweringTable orderedBarrierLowerings() { return kLowerings; }

} // namespace tile::codegen
