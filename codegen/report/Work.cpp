// Operations and bytes of global memory, region by region. Elements outside a tensor count as if they were
// inside, and both sides of a branch count: upper bounds of what a program does.
#include "codegen/report/MakeReport.h"

#include "codegen/report/Roofline.h"
#include "codegen/report/Staging.h"
#include "ir/DotLayouts.h"
#include "passes/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CastInterfaces.h"

using namespace mlir;

namespace tile::codegen {

double WorkScope::totalFlops() const {
  double sum = 0;
  for (auto &[unit, count] : flops)
    sum += count;
  return sum;
}

namespace {

int64_t elementsOf(Type type) {
  int64_t count = 1;
  for (int64_t extent : extentsOf(type))
    count *= extent;
  return count;
}

std::string plainUnit(Type element) { return element.isF64() ? kUnitF64 : kUnitF32; }

// Of a `tile.dot` or `tilegpu.dot_async` (on the tensor core) or a `tilegpu.smem_dot` (multiply-add): operands are a, b,
// acc.
std::string dotUnit(Operation *dot) {
  if (auto product = dyn_cast<gpu::SmemDotOp>(dot)) {
    Type element = product.getA().getType().getElementType();
    return element.isInteger() ? kUnitInteger : plainUnit(element);
  }
  auto staged = dyn_cast<gpu::SmemType>(dot->getOperand(0).getType());
  Type element = staged ? staged.getElementType() : ir::elementTypeOf(dot->getOperand(0).getType());
  switch (element.getIntOrFloatBitWidth()) {
  case 8:
    return kUnitTensor8;
  case 16:
    return kUnitTensor16;
  default:
    return element.isF64() ? kUnitF64 : kUnitTensorTf32;
  }
}

// Operations per element: moves, comparisons, conversions and logic of masks are none, a fused multiply-add two, the rest
// one.
int64_t operationsPerElement(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool isArithmetic =
      dialect == "arith" || dialect == "math" || op->hasTrait<OpTrait::Elementwise>();
  if (!isArithmetic || op->getNumResults() != 1 ||
      isa<arith::ConstantOp, arith::SelectOp, arith::CmpIOp, arith::CmpFOp, CastOpInterface,
          ir::ConvertOp>(op))
    return 0;
  Type element = ir::elementTypeOf(op->getResult(0).getType());
  if (!element.isIntOrFloat() || element.isInteger(1))
    return 0;
  return isa<math::FmaOp>(op) ? 2 : 1;
}

std::string unitOf(Type element) { return element.isInteger() ? kUnitInteger : plainUnit(element); }

std::optional<int64_t> iterationsOf(scf::ForOp loop) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  return trips ? std::optional<int64_t>(trips->getSExtValue()) : std::nullopt;
}

class WorkCounter {
public:
  WorkCounter(std::vector<WorkScope> &scopes, llvm::DenseSet<Operation *> leftOut,
              func::FuncOp kernel)
      : scopes_(scopes), leftOut_(std::move(leftOut)),
        teams_(haveOwnPasses(kernel) ? 1 : ir::teamsOf(kernel)), blocks_(ir::clusterOf(kernel)) {}

  void visit(Region &region, int scope) {
    for (Block &block : region)
      for (Operation &op : block)
        visit(&op, scope);
  }

private:
  // Do teams take turns at the passes of a loop, so that each has iterations of its own?
  static bool haveOwnPasses(func::FuncOp kernel) {
    return kernel
        .walk([](gpu::PassTurnOp turn) {
          return turn.getPredicate() ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void visit(Operation *op, int scope) {
    if (isa<scf::ForOp, scf::WhileOp>(op)) {
      auto loop = dyn_cast<scf::ForOp>(op);
      scopes_.push_back(
          {sourceLineOf(op->getLoc()), scope, loop ? iterationsOf(loop) : std::nullopt, {}, 0, 0});
      scope = static_cast<int>(scopes_.size()) - 1;
    } else if (!leftOut_.contains(op)) {
      add(op, scopes_[scope]);
    }
    if (!isCombination(op))
      for (Region &region : op->getRegions())
        visit(region, scope);
  }

  // Each team of each block does the same, but for what the copy engine brings to all teams, or to all blocks.
  void add(Operation *op, WorkScope &scope) {
    WorkScope once;
    count(op, once);
    auto copy = dyn_cast<gpu::TensorCopyOp>(op);
    int64_t times = (copy ? 1 : teams_) * (copy && copy.getMulticast() ? 1 : blocks_);
    for (auto &[unit, number] : once.flops)
      scope.flops[unit] += static_cast<double>(times) * number;
    scope.bytesRead += times * once.bytesRead;
    scope.bytesWritten += times * once.bytesWritten;
  }

  void count(Operation *op, WorkScope &scope) {
    if (gpu::isProduct(op)) {
      scope.flops[dotUnit(op)] +=
          2.0 * double(elementsOf(op->getResult(0).getType())) * double(depthOf(op));
    } else if (isCombination(op)) {
      countCombination(op, scope);
    } else if (isa<ir::AtomicRmwOp, ir::AtomicCasOp>(op)) {
      Type type = op->getResult(0).getType();
      int64_t bytes = elementsOf(type) * gpu::bytesOf(ir::elementTypeOf(type));
      scope.bytesRead += bytes, scope.bytesWritten += bytes;
    } else if (isa<ir::ViewLoadOp, ir::LoadOp>(op)) {
      Type type = op->getResult(0).getType();
      scope.bytesRead += elementsOf(type) * gpu::bytesOf(ir::elementTypeOf(type));
    } else if (auto copy = dyn_cast<gpu::CopyAsyncOp>(op)) {
      scope.bytesRead += llvm::product_of(copy.getShape()) *
                         gpu::bytesOf(copy.getSmem().getType().getElementType());
    } else if (auto copy = dyn_cast<gpu::TensorCopyOp>(op)) {
      scope.bytesRead += llvm::product_of(copy.getShape()) *
                         gpu::bytesOf(copy.getSmem().getType().getElementType());
    } else if (auto store = dyn_cast<gpu::TensorStoreOp>(op)) {
      scope.bytesWritten += llvm::product_of(store.getShape()) *
                            gpu::bytesOf(store.getSmem().getType().getElementType());
    } else if (auto store = dyn_cast<ir::ViewStoreOp>(op)) {
      countStore(store.getValue().getType(), scope);
      if (store.getAdds())
        scope.bytesRead += bytesOf(store.getValue().getType());
    } else if (auto store = dyn_cast<ir::StoreOp>(op)) {
      countStore(store.getValue().getType(), scope);
    } else if (isa<gpu::WorkspaceLoadOp, gpu::WorkspaceAddOp>(op)) {
      scope.bytesRead += bytesOf(op->getResult(0).getType());
    } else if (auto store = dyn_cast<gpu::WorkspaceStoreOp>(op)) {
      scope.bytesWritten += bytesOf(store.getValue().getType());
    } else if (isa<gpu::SmemCountOp>(op)) { // a histogram counts each element once
      scope.flops[kUnitInteger] += double(elementsOf(op->getOperand(0).getType()));
    } else if (int64_t each = operationsPerElement(op);
               each && isa<RankedTensorType>(op->getResult(0).getType())) {
      Type type = op->getResult(0).getType();
      scope.flops[unitOf(ir::elementTypeOf(type))] += double(each) * double(elementsOf(type));
    }
  }

  static bool isCombination(Operation *op) {
    return isa<ir::ReduceOp, gpu::ReducePartialOp, ir::ScanOp>(op);
  }

  // Reductions and scans: the region, once for each element.
  void countCombination(Operation *op, WorkScope &scope) {
    double elements = double(elementsOf(op->getOperand(0).getType()));
    op->getRegion(0).walk([&](Operation *step) {
      if (int64_t each = operationsPerElement(step))
        scope.flops[unitOf(ir::elementTypeOf(step->getResult(0).getType()))] +=
            double(each) * elements;
    });
  }

  void countStore(Type type, WorkScope &scope) { scope.bytesWritten += bytesOf(type); }

  static int64_t bytesOf(Type type) {
    return elementsOf(type) * gpu::bytesOf(ir::elementTypeOf(type));
  }

  std::vector<WorkScope> &scopes_;
  llvm::DenseSet<Operation *> leftOut_;
  int64_t teams_, blocks_;
};

} // namespace

void reportWork(func::FuncOp kernel, KernelReport &report) {
  report.work.push_back({sourceLineOf(kernel.getLoc()), -1, 1, {}, 0, 0});
  WorkCounter(report.work, fillsBeforeLoops(gpu::sharedAccessesOf(kernel)), kernel)
      .visit(kernel.getBody(), 0);
  for (WorkScope &scope : report.work)
    std::erase_if(scope.flops, [](auto &entry) { return entry.second == 0; });
}

} // namespace tile::codegen
