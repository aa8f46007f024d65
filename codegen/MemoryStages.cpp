#include "codegen/MemoryStages.h"

#include "ir/UserError.h"
#include "ir/annotations/LoopAnnotations.h"
#include "passes/Pipeline.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// Keeps diagnostics back until it is known whether they matter.
class HeldDiagnostics {
public:
  explicit HeldDiagnostics(MLIRContext *context)
      : handler_(context, [this](mlir::Diagnostic &diagnostic) {
          held_.push_back(std::move(diagnostic));
          return success();
        }) {}

  bool isOfResources() {
    return llvm::any_of(held_, [](mlir::Diagnostic &diagnostic) {
      return ir::userErrorCodeOf(diagnostic) == ErrorCode::ResourceExceeded;
    });
  }
  std::vector<mlir::Diagnostic> take() { return std::move(held_); }

private:
  std::vector<mlir::Diagnostic> held_;
  ScopedDiagnosticHandler handler_;
};

int32_t mostStagesIn(ModuleOp module) {
  int32_t most = 1;
  module.walk([&](scf::ForOp loop) {
    if (gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop))
      most = std::max(most, plan.getStages());
  });
  return most;
}

bool hasRings(ModuleOp module) {
  return module.walk([](gpu::RingAllocOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// What changes of layout may take, each, where the block's memory does not suffice for all that is alive with them.
constexpr int64_t kSmallExchangeBytes = 16 * 1024;

/// Whether another attempt would leave more memory, and with which options.
bool canSave(ModuleOp module, passes::PipelineOptions &options) {
  if (int32_t stages = mostStagesIn(module); stages > 1) {
    options.mostStages = stages - 1;
    return true;
  }
  bool isFirst = options.mostExchangeBytes > kSmallExchangeBytes;
  options.mostExchangeBytes = kSmallExchangeBytes;
  return isFirst;
}

/// Runs the passes once; whether they failed for want of memory that other options would leave. Other diagnostics are
/// passed on.
bool lacksMemory(ModuleOp module, PassRunner &runner, passes::PipelineOptions &options,
                 bool hasRings, LogicalResult &result) {
  std::vector<mlir::Diagnostic> diagnostics;
  bool isOfResources = false;
  {
    HeldDiagnostics held(module.getContext());
    result =
        runner.run([&](PassManager &manager) { passes::buildMemoryPipeline(manager, options); });
    isOfResources = failed(result) && held.isOfResources();
    diagnostics = held.take();
  }
  if (isOfResources && hasRings && canSave(module, options))
    return true;
  for (mlir::Diagnostic &diagnostic : diagnostics)
    module.getContext()->getDiagEngine().emit(std::move(diagnostic));
  return false;
}

} // namespace

LogicalResult placeInSharedMemory(ModuleOp module, PassRunner &runner, const std::string &target) {
  passes::PipelineOptions options{target};
  LogicalResult result = success();
  while (true) {
    OwningOpRef<ModuleOp> before = hasRings(module) ? module.clone() : ModuleOp();
    if (!lacksMemory(module, runner, options, bool(before), result))
      return result;
    module.getBodyRegion().takeBody(before->getBodyRegion());
  }
}

} // namespace tile::codegen
