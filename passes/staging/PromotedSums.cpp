#include "passes/staging/PromotedSums.h"

#include "ir/gpu/TileGpuDialect.h"
#include "passes/staging/WgmmaMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::passes {

bool hasPromotedSums(ir::DotOp dot) {
  std::optional<ir::WgmmaInstruction> wgmma = wgmmaFor(dot);
  return wgmma && wgmma->sumBits && !dot.getFastAccumulation();
}

int64_t accumulatorTiles(ir::DotOp dot) {
  return !hasPromotedSums(dot) ? 1 : dot.getSizes().k <= ir::kPromotedDepth ? 2 : 3;
}

namespace {

/// The wgmmas of one dot, one per run of K, in order.
class Runs {
public:
  Runs(OpBuilder &builder, ir::DotOp dot, const StagedOperands &operands)
      : b_(builder), dot_(dot), operands_(operands),
        zero_(arith::ConstantOp::create(
            builder, dot.getLoc(),
            cast<TypedAttr>(builder.getZeroAttr(dot.getResult().getType())))) {}

  gpu::DotAsyncOp begin(int64_t k) {
    int64_t depth = dot_.getSizes().k, end = std::min(k + ir::kPromotedDepth, depth);
    bool isWhole = k == 0 && end == depth;
    return beginDot(b_, dot_, operands_, zero_, /*reset=*/{},
                    isWhole ? DenseI64ArrayAttr() : b_.getDenseI64ArrayAttr({k, end}));
  }

  Value wait(gpu::DotAsyncOp run, uint32_t pending) {
    return gpu::DotWaitOp::create(b_, dot_.getLoc(), dot_.getResult().getType(), run.getResult(),
                                  pending);
  }

  Value add(Value sums, Value tile) {
    return matchPattern(sums, m_AnyZeroFloat())
               ? tile
               : arith::AddFOp::create(b_, dot_.getLoc(), sums, tile).getResult();
  }

private:
  OpBuilder &b_;
  ir::DotOp dot_;
  StagedOperands operands_;
  Value zero_;
};

} // namespace

Value addPromoted(ir::DotOp dot, const StagedOperands &operands) {
  OpBuilder builder(dot);
  Runs runs(builder, dot, operands);
  Value sums = dot.getAcc();
  gpu::DotAsyncOp older = runs.begin(0);
  for (int64_t k = ir::kPromotedDepth; k < dot.getSizes().k; k += ir::kPromotedDepth) {
    gpu::DotAsyncOp younger = runs.begin(k);
    sums = runs.add(sums, runs.wait(older, 1));
    older = younger;
  }
  Value last = runs.wait(older, 0);
  // Consumers must release the stages first, since the producer waits for that: if only the next
  // iteration takes the sum, it is added at the end of the body.
  Operation *end = dot->getBlock()->getTerminator();
  if (llvm::all_of(dot->getUsers(), [&](Operation *user) { return user == end; }))
    builder.setInsertionPoint(end);
  return runs.add(sums, last);
}

} // namespace tile::passes
