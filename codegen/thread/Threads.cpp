#include "codegen/thread/Threads.h"

#include "codegen/thread/Shuffle.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

Threads::Threads(ThreadValues &values) : values_(values) {
  OpBuilder &b = values.b;
  Location loc = values.loc();
  id_ = NVVM::ThreadIdXOp::create(b, loc, b.getI32Type());
  lane_ = arith::AndIOp::create(b, loc, id_, values.i32(ir::kWarpSize - 1));
  warp_ = arith::ShRUIOp::create(b, loc, id_, values.i32(5));
  if (teams() > 1) {
    int64_t threads = ir::warpsOf(values.source()) * ir::kWarpSize;
    id_ = arith::AndIOp::create(b, loc, id_, values.i32(threads - 1));
  }
}

void Threads::setInsertionPointToTop(OpBuilder &b) const {
  b.setInsertionPointAfter(warp_.getDefiningOp());
}

// One lane tells the others: then the assembler keeps what follows from it in registers of the
// warp.
Value Threads::uniformWarp() {
  if (uniformWarp_)
    return uniformWarp_;
  OpBuilder::InsertionGuard guard(values_.b);
  setInsertionPointToTop(values_.b);
  return uniformWarp_ = shuffleFrom(values_, values_.loc(), warp_, values_.i32(0));
}

int64_t Threads::teams() const { return ir::teamsOf(values_.source()); }

Value Threads::team() {
  if (team_)
    return team_;
  OpBuilder &b = values_.b;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(uniformWarp().getDefiningOp());
  return team_ = arith::ShRUIOp::create(b, values_.loc(), uniformWarp_,
                                        values_.i32(llvm::Log2_64(ir::warpsOf(values_.source()))));
}

int64_t Threads::cluster() const { return ir::clusterOf(values_.source()); }

Value Threads::clusterRank() {
  OpBuilder &b = values_.b;
  Value block = NVVM::BlockIdXOp::create(b, values_.loc(), b.getI32Type());
  return arith::AndIOp::create(b, values_.loc(), block,
                               values_.i32(static_cast<int32_t>(cluster()) - 1));
}

} // namespace tile::codegen
