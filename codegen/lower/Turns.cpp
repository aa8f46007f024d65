// Turns of groups of warps: group g waits at a barrier of its own, at which the group before it arrives.
#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"
#include "ir/Annotations.h"
#include "ir/Wgmma.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// Barrier 0 is that of all threads.
constexpr int64_t kFirstBarrier = 1;
/// Two groups meet at a barrier.
constexpr int64_t kThreadsOfTurn = 2 * ir::kWarpsPerGroup * ir::kWarpSize;
constexpr int64_t kMostGroups = 15;

/// `instruction` (bar.sync or bar.arrive) at a group's barrier, by group number `only` alone unless that is negative.
void atBarrier(Lowering &l, Location loc, StringRef instruction, Value group, Value number,
               int64_t only) {
  std::string text = (instruction + " $0, " + std::to_string(kThreadsOfTurn) + ";").str();
  if (only >= 0)
    text = "{\n\t.reg .pred own;\n\tsetp.eq.u32 own, $1, " + std::to_string(only) + ";\n\t@own " +
           text + "\n\t}";
  SmallVector<Value> operands = {
      arith::AddIOp::create(l.b, loc, number, l.i32(kFirstBarrier)).getResult()};
  if (only >= 0)
    operands.push_back(group);
  inlineMemoryPtx(l.b, loc, text, only >= 0 ? "r,r" : "r",
                  LLVM::LLVMVoidType::get(l.b.getContext()), operands);
}

Value groupOf(Lowering &l, Location loc) {
  return arith::DivUIOp::create(l.b, loc, l.uniformWarp(), l.i32(ir::kWarpsPerGroup));
}

std::optional<int64_t> groupsOf(Operation *turn) {
  int64_t warps = ir::warpsOf(turn) * ir::teamsOf(turn), groups = warps / ir::kWarpsPerGroup;
  if (warps % ir::kWarpsPerGroup == 0 && groups > 1 && groups <= kMostGroups)
    return groups;
  turn->emitOpError("needs 2 to ")
      << kMostGroups << " groups of four warps, got " << warps << " warps";
  return std::nullopt;
}

LogicalResult lowerTakeTurn(Lowering &l, gpu::TakeTurnOp turn) {
  if (!groupsOf(turn))
    return failure();
  Value group = groupOf(l, turn.getLoc());
  atBarrier(l, turn.getLoc(), "bar.sync", group, group, turn.getAlone() ? 0 : -1);
  return success();
}

LogicalResult lowerPassTurn(Lowering &l, gpu::PassTurnOp turn) {
  std::optional<int64_t> groups = groupsOf(turn);
  if (!groups)
    return failure();
  Location loc = turn.getLoc();
  Value group = groupOf(l, loc);
  Value next = arith::RemUIOp::create(l.b, loc, arith::AddIOp::create(l.b, loc, group, l.i32(1)),
                                      l.i32(*groups));
  atBarrier(l, loc, "bar.arrive", group, next, turn.getAlone() ? *groups - 1 : -1);
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::PassTurnOp, lowerPassTurn>,
    on<gpu::TakeTurnOp, lowerTakeTurn>,
};

} // namespace

LoweringTable turnLowerings() { return kLowerings; }

} // namespace tile::codegen
