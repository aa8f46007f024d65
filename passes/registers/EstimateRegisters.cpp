// EstimateRegisters: says that a kernel's threads cannot hold what they would have to, before an
// assembler spills it.
#include "passes/Passes.h"

#include "ir/KnownTarget.h"
#include "ir/UserError.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "passes/analysis/ControlFlow.h"
#include "passes/analysis/ViewAccesses.h"
#include "passes/registers/RegisterEstimate.h"
#include "passes/registers/RegisterLimits.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::passes {
#define GEN_PASS_DEF_ESTIMATEREGISTERS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// A kernel whose products need more than this share of the registers there are is refused. Up to
/// it, such kernels were assembled that spill nothing; beyond it none
/// (docs/decisions/0025-registers-are-estimated.md).
constexpr double kRefused = 1.25;

bool isDot(Operation &op) {
  return isa<gpu::DotAsyncOp, gpu::DotWaitOp>(op) ||
         (isa<ir::DotOp>(op) && gpu::dotVariantOf(&op) == gpu::DotVariant::MmaSync);
}

// The assembler goes through other work a part of a tile at a time, as it likes: what is needed is
// known at products on tensor cores, and beside them in their loops, which hold their sums
// (docs/decisions/0025-registers-are-estimated.md).
bool isAtDot(Operation *place) {
  if (!place || isDot(*place))
    return place;
  auto loop = dyn_cast<scf::ForOp>(place->getParentOp());
  return loop && llvm::any_of(*loop.getBody(), isDot);
}

struct EstimateRegisters : passes::impl::EstimateRegistersBase<EstimateRegisters> {
  using EstimateRegistersBase::EstimateRegistersBase;

  void runOnOperation() final {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(ir::kKernelAttr))
      return;
    FailureOr<ir::Target> found = ir::knownTarget(kernel, target);
    if (failed(found) || failed(verifyOneBlock(kernel)) || failed(verifyAccessesAreKnown(kernel)))
      return signalPassFailure();
    KernelRegisters registers = estimateRegisters(kernel, *found);
    // What fills rings has scalars alone, many of which the assembler keeps in registers of the
    // whole warp.
    check(registers.compute, registers.producer ? "a thread that computes" : "a thread",
          /*mayRefuse=*/!saysRegisters(kernel));
    if (registers.producer)
      check(*registers.producer, "a thread that fills rings", /*mayRefuse=*/false);
  }

private:
  void check(const RegisterEstimate &estimate, StringRef who, bool mayRefuse) {
    if (tellAlways)
      tell(estimate, who);
    if (estimate.needed <= estimate.limit)
      return;
    if (mayRefuse && isAtDot(estimate.worst) &&
        static_cast<double>(estimate.needed) > kRefused * static_cast<double>(estimate.limit))
      return refuse(estimate, who);
    getOperation().emitRemark() << "registers: " << who << " needs about " << estimate.needed
                                << " and can have " << estimate.limit
                                << (saysRegisters(getOperation()) ? ", as the kernel says" : "")
                                << ": some of what it holds may be spilled";
  }

  void refuse(const RegisterEstimate &estimate, StringRef who) {
    InFlightDiagnostic error =
        ir::userError(getOperation().emitError(), ErrorCode::ResourceExceeded)
        << "registers: " << who << " needs about " << estimate.needed << ", in blocks of "
        << gpu::threadsOf(getOperation()) << " threads it can have " << estimate.limit << "; use "
        << (estimate.limit == ir::kMaxRegistersPerThread ? "more warps or " : "")
        << "smaller tiles";
    if (estimate.worst)
      error.attachNote(estimate.worst->getLoc())
          << "most are in use at " << estimate.worst->getName();
    signalPassFailure();
  }

  static void tell(const RegisterEstimate &estimate, StringRef who) {
    if (estimate.worst)
      estimate.worst->emitRemark()
          << "registers: " << who << " needs about " << estimate.needed << ", " << estimate.expected
          << " of " << estimate.limit << " are expected";
  }
};

} // namespace

} // namespace tile::passes
