// ExpandClusterSums: the blocks of a cluster add their tiles through shared memory (split-K).
//
//   sum x    becomes    store x; sync; x of block 0 + x of block 1 + ...; sync
//
// Each block reads the tiles of the others in the order of ranks, so that all get the same bits. A
// block that takes only a subtile of the sum reads only that subtile: the subtiles lie one after
// the other, each with a layout of its own.
#include "passes/Passes.h"

#include "ir/KnownTarget.h"
#include "ir/LayoutAttr.h"
#include "ir/UserError.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/layout/SharedAccess.h"
#include "passes/memory/LayoutExchange.h"
#include "passes/pipelining/analysis/ClusterRank.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <bit>

namespace tile::passes {
#define GEN_PASS_DEF_EXPANDCLUSTERSUMS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

layout::Shape shapeOf(RankedTensorType tile) {
  return {tile.getShape().begin(), tile.getShape().end()};
}

// The layout of a subtile along dimension 0, which is the same for all of them: they differ in the
// upper bits of that coordinate.
std::optional<layout::Layout> layoutOfParts(const layout::Layout &whole,
                                            const layout::Shape &part) {
  layout::Bases bases = whole.bases();
  for (auto &vectors : bases)
    for (layout::Coords &vector : vectors)
      vector[0] &= static_cast<int32_t>(part[0] - 1);
  std::erase_if(bases[0],
                [](const layout::Coords &vector) { // registers that only tell subtiles apart
                  return llvm::all_of(vector, [](int32_t coordinate) { return coordinate == 0; });
                });
  return layout::Layout::create(part, std::move(bases));
}

// One subtile after the other: the upper bits of dimension 0, the topmost of all coordinates,
// become the upper bits of offsets.
layout::SharedLayout behindEachOther(const layout::SharedLayout &part, const layout::Shape &whole) {
  std::vector<uint64_t> columns = part.linear().columns();
  int64_t distance = part.numElements();
  for (int64_t rows = part.shape()[0]; rows < whole[0]; rows *= 2, distance *= 2)
    columns.push_back(static_cast<uint64_t>(distance));
  std::vector<int> panel = part.panelBits();
  panel[0] = std::countr_zero(static_cast<uint64_t>(whole[0]));
  return layout::SharedLayout::create(whole, panel, layout::LinearMap(std::move(columns)),
                                      part.digitStrides())
      .value_or(layout::SharedLayout());
}

class SumWriter {
public:
  explicit SumWriter(ir::ClusterSumOp sum)
      : sum_(sum), b_(sum), loc_(sum.getLoc()),
        whole_(cast<RankedTensorType>(sum.getInput().getType())),
        part_(cast<RankedTensorType>(sum.getResult().getType())) {}

  void write() {
    Value memory = gpu::SmemAllocOp::create(b_, loc_, gpu::inShared(whole_, sharedLayout()));
    gpu::SmemStoreOp::create(b_, loc_, sum_.getInput(), memory);
    synchronizeCluster("blocks of the cluster read each other's tiles");
    Value place = sum_.getScatter() ? partOf(memory) : memory;
    Value result;
    for (int32_t rank = 0; rank < ir::clusterOf(sum_); ++rank) {
      Value block = arith::ConstantIntOp::create(b_, loc_, rank, 32);
      Value tile = gpu::SmemLoadOp::create(b_, loc_, part_, place, block);
      result = result ? add(result, tile) : tile;
    }
    synchronizeCluster("no block writes to or gives up what others read");
    sum_.replaceAllUsesWith(result);
    sum_.erase();
  }

private:
  layout::SharedLayout sharedLayout() {
    layout::Layout source = gpu::layoutOf(whole_), target = gpu::layoutOf(part_);
    if (!sum_.getScatter())
      return layout::scratchSwizzle(source, target, bytesOfElement(part_));
    layout::Layout parts = layoutOfParts(source, shapeOf(part_)).value_or(target);
    return behindEachOther(layout::scratchSwizzle(parts, target, bytesOfElement(part_)),
                           shapeOf(whole_));
  }

  Value partOf(Value memory) {
    Value bytes =
        arith::ConstantIntOp::create(b_, loc_, part_.getNumElements() * bytesOfElement(part_), 32);
    Value rank = ir::ClusterRankOp::create(b_, loc_, b_.getI32Type());
    return gpu::SmemStageOp::create(b_, loc_, memory, arith::MulIOp::create(b_, loc_, rank, bytes));
  }

  Value add(Value a, Value b) {
    if (isa<FloatType>(part_.getElementType()))
      return arith::AddFOp::create(b_, loc_, a, b);
    return arith::AddIOp::create(b_, loc_, a, b);
  }

  void synchronizeCluster(const char *reason) {
    gpu::BarrierOp::create(b_, loc_, reason, gpu::Scope::ClusterConsumers);
  }

  ir::ClusterSumOp sum_;
  OpBuilder b_;
  Location loc_;
  RankedTensorType whole_, part_;
};

struct ExpandClusterSums : passes::impl::ExpandClusterSumsBase<ExpandClusterSums> {
  using ExpandClusterSumsBase::ExpandClusterSumsBase;

  void runOnOperation() final {
    SmallVector<ir::ClusterSumOp> sums;
    getOperation().walk([&](ir::ClusterSumOp sum) { sums.push_back(sum); });
    if (sums.empty())
      return;
    RankDependence rank(getOperation());
    for (ir::ClusterSumOp sum : sums)
      if (failed(verify(sum, rank)))
        return signalPassFailure();
    for (ir::ClusterSumOp sum : sums)
      SumWriter(sum).write();
  }

private:
  LogicalResult verify(ir::ClusterSumOp sum, const RankDependence &rank) {
    FailureOr<ir::Target> found = ir::knownTarget(sum, target);
    if (failed(found))
      return failure();
    if (!found->hasClusters)
      return ir::userError(sum.emitError(), ErrorCode::Unsupported)
             << "cluster_sum: blocks of " << target << " do not see each other's memory, those of "
             << ir::firstTargetWith(&ir::Target::hasClusters) << " do";
    if (!rank.isInAllBlocks(sum))
      return ir::userError(sum.emitError(), ErrorCode::Unsupported)
             << "cluster_sum: all blocks of the cluster meet at it, but the loop or branch around "
                "it "
                "may be another one in each: its course follows from the block's rank, or it is a "
                "while_";
    return success();
  }
};

} // namespace

} // namespace tile::passes
