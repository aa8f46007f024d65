// Operations and bytes of global memory, scope by scope: elements outside a tensor count as if they were inside.
#include "codegen/report/MakeReport.h"
#include "codegen/report/Staging.h"
#include "codegen/report/WorkOfOp.h"
#include "codegen/report/WorkScopes.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/LoopAnnotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::codegen {

double WorkScope::totalFlops() const {
  double sum = 0;
  for (auto &[unit, count] : flops)
    sum += count;
  return sum;
}

namespace {

std::optional<int64_t> iterationsOf(scf::ForOp loop) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  return trips ? std::optional<int64_t>(trips->getSExtValue()) : std::nullopt;
}

// Do teams alternate the tiles of a loop, so that each has iterations of its own?
bool isPingPong(func::FuncOp kernel) {
  return kernel
      .walk([](scf::ForOp loop) {
        gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop);
        return plan && plan.getOrder() == gpu::Order::PingPong ? WalkResult::interrupt()
                                                               : WalkResult::advance();
      })
      .wasInterrupted();
}

bool isOfProducer(gpu::WarpSpecializeOp roles, Region &region) {
  return roles.getRole(region.getRegionNumber()).getKind() == gpu::RoleKind::Producer;
}

class WorkCounter {
public:
  explicit WorkCounter(func::FuncOp kernel)
      : leftOut_(fillsBeforeLoops(gpu::sharedAccessesOf(kernel))),
        teams_(isPingPong(kernel) ? 1 : ir::teamsOf(kernel)), blocks_(ir::clusterOf(kernel)) {
    int top =
        begin({sourceLineOf(kernel.getLoc()), WorkScope::Kind::Program, -1, 1}, kernel.getBody());
    visit(kernel.getBody(), top, /*isProducer=*/false);
  }

  WorkScopes take() { return std::move(result_); }

private:
  int begin(WorkScope scope, Region &region, bool isProducer = false) {
    result_.scopes.push_back(std::move(scope));
    result_.flops.emplace_back();
    result_.runners.push_back(blocks_ * (isProducer ? 1 : teams_));
    int number = static_cast<int>(result_.scopes.size()) - 1;
    result_.ofRegion[&region] = number;
    return number;
  }

  void visit(Region &region, int scope, bool isProducer) {
    for (Block &block : region)
      for (Operation &op : block)
        visit(&op, scope, isProducer);
  }

  void visit(Operation *op, int scope, bool isProducer) {
    SourceLine where = sourceLineOf(op->getLoc());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      int body = begin({where, WorkScope::Kind::Loop, scope, iterationsOf(loop)}, loop.getRegion(),
                       isProducer);
      return visit(loop.getRegion(), body, isProducer);
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      int body =
          begin({where, WorkScope::Kind::Loop, scope, std::nullopt}, loop.getAfter(), isProducer);
      visit(loop.getBefore(), body, isProducer);
      return visit(loop.getAfter(), body, isProducer);
    }
    if (isa<scf::IfOp>(op)) {
      for (Region &arm : op->getRegions())
        if (!arm.empty())
          visit(arm, begin({where, WorkScope::Kind::Branch, scope, std::nullopt}, arm, isProducer),
                isProducer);
      return;
    }
    add(op, scope);
    if (isCombination(op))
      return;
    auto roles = dyn_cast<gpu::WarpSpecializeOp>(op);
    for (Region &region : op->getRegions())
      visit(region, scope, isProducer || (roles && isOfProducer(roles, region)));
  }

  // Each team of each block does the same, but for what TMA copies to all teams, or to all blocks.
  void add(Operation *op, int scope) {
    OpWork once = workOf(op);
    auto copy = dyn_cast<gpu::TensorCopyOp>(op);
    int64_t times = (copy ? 1 : teams_) * (copy && copy.getMulticast() ? 1 : blocks_);
    WorkScope &all = result_.scopes[scope];
    for (auto &[unit, number] : once.flops) {
      result_.flops[scope][unit] += number;
      all.flops[unit] += static_cast<double>(times) * number;
    }
    if (leftOut_.contains(op))
      return;
    all.bytesRead += times * once.bytesRead;
    all.bytesWritten += times * once.bytesWritten;
  }

  WorkScopes result_;
  llvm::DenseSet<Operation *> leftOut_;
  int64_t teams_, blocks_;
};

} // namespace

WorkScopes workScopesOf(func::FuncOp kernel) { return WorkCounter(kernel).take(); }

void reportWork(func::FuncOp kernel, KernelReport &report) {
  report.work = workScopesOf(kernel).scopes;
}

} // namespace tile::codegen
