// Turns of groups of warps: group g waits at a barrier of its own, at which the group before it arrives.
#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"
#include "ir/Annotations.h"
#include "ir/instructions/Wgmma.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// Barrier 0 is that of all threads.
constexpr int64_t kFirstBarrier = 1;
/// Two groups meet at a barrier.
constexpr int64_t kThreadsOfTurn = 2 * ir::kWarpsPerWarpgroup * ir::kWarpSize;
constexpr int64_t kMostGroups = 15;

/// `instruction` (bar.sync or bar.arrive) at a group's barrier; where `condition` holds, unless it is null.
void atBarrier(Lowering &l, Location loc, StringRef instruction, Value number, Value condition) {
  std::string text = (instruction + " $0, " + std::to_string(kThreadsOfTurn) + ";").str();
  SmallVector<Value> operands = {
      arith::AddIOp::create(l.b, loc, number, l.i32(kFirstBarrier)).getResult()};
  if (condition) { // without a branch, which the assembler would end products at
    text = "{\n\t.reg .pred own;\n\tsetp.ne.u32 own, $1, 0;\n\t@own " + text + "\n\t}";
    operands.push_back(arith::ExtUIOp::create(l.b, loc, l.b.getI32Type(), condition));
  }
  inlineMemoryPtx(l.b, loc, text, condition ? "r,r" : "r",
                  LLVM::LLVMVoidType::get(l.b.getContext()), operands);
}

Value isEqual(Lowering &l, Location loc, Value group, int64_t number) {
  return arith::CmpIOp::create(l.b, loc, arith::CmpIPredicate::eq, group,
                               l.i32(static_cast<int32_t>(number)));
}

Value groupOf(Lowering &l, Location loc) {
  return arith::DivUIOp::create(l.b, loc, l.uniformWarp(), l.i32(ir::kWarpsPerWarpgroup));
}

std::optional<int64_t> groupsOf(Operation *turn) {
  int64_t warps = ir::warpsOf(turn) * ir::teamsOf(turn), groups = warps / ir::kWarpsPerWarpgroup;
  if (warps % ir::kWarpsPerWarpgroup == 0 && groups > 1 && groups <= kMostGroups)
    return groups;
  turn->emitOpError("needs 2 to ")
      << kMostGroups << " groups of four warps, got " << warps << " warps";
  return std::nullopt;
}

LogicalResult lowerOrderWait(Lowering &l, gpu::OrderWaitOp turn) {
  if (!groupsOf(turn))
    return failure();
  Location loc = turn.getLoc();
  Value group = groupOf(l, loc);
  atBarrier(l, loc, "bar.sync", group, turn.getAlone() ? isEqual(l, loc, group, 0) : Value());
  return success();
}

LogicalResult lowerOrderArrive(Lowering &l, gpu::OrderArriveOp turn) {
  std::optional<int64_t> groups = groupsOf(turn);
  if (!groups)
    return failure();
  Location loc = turn.getLoc();
  Value group = groupOf(l, loc);
  Value next = arith::RemUIOp::create(l.b, loc, arith::AddIOp::create(l.b, loc, group, l.i32(1)),
                                      l.i32(*groups));
  Value condition = turn.getAlone()       ? isEqual(l, loc, group, *groups - 1)
                    : turn.getPredicate() ? l.scalar(turn.getPredicate())
                                          : Value();
  atBarrier(l, loc, "bar.arrive", next, condition);
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::OrderArriveOp, lowerOrderArrive>,
    on<gpu::OrderWaitOp, lowerOrderWait>,
};

} // namespace

LoweringTable orderedBarrierLowerings() { return kLowerings; }

} // namespace tile::codegen
