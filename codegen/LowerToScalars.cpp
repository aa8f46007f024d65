// LowerToScalars: from what the block does to what one thread does.
#include "codegen/EntryName.h"
#include "codegen/Passes.h"
#include "codegen/lower/Lowering.h"
#include "ir/KnownTarget.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "passes/registers/RegisterLimits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::codegen {

#define GEN_PASS_DEF_LOWERTOSCALARS
#include "codegen/Passes.h.inc"

namespace {

// What offset 0 of the block's shared memory must be a multiple of.
unsigned sharedAlignment(ModuleOp module) {
  unsigned alignment = gpu::kSharedAlignment;
  module.walk([&](gpu::SmemAllocOp memory) {
    alignment = std::max(alignment, static_cast<unsigned>(memory.getAlignment()));
  });
  return alignment;
}

// The array that stands for the block's dynamic shared memory. Its size is given at launch.
void declareShared(ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, module.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::External,
                         kSharedSymbol, Attribute(), sharedAlignment(module),
                         static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
}

// The scalar function that takes the place of a kernel or of what it calls: its name as PTX allows it, the same parameters
// spread out, pointers as LLVM's.
func::FuncOp makeScalarFunction(func::FuncOp kernel, const ir::Target &target) {
  OpBuilder b(kernel);
  auto function =
      func::FuncOp::create(b, kernel.getLoc(), entryNameOf(kernel.getName()),
                           b.getFunctionType(Lowering::carriedTypes(kernel.getArgumentTypes()),
                                             Lowering::carriedTypes(kernel.getResultTypes())));
  auto keep = [&](StringRef setting) {
    if (Attribute value = kernel->getAttr(setting))
      function->setAttr(setting, value);
  };
  keep(ir::kFlushDenormalsAttr);
  keep(ir::kCallableAttr);
  if (kernel->hasAttr(ir::kCallableAttr)) {
    function.setPrivate();
  } else {
    function->setAttr(ir::kThreadsAttr, b.getI32IntegerAttr(gpu::threadsOf(kernel)));
    if (int64_t blocks = passes::blocksToFit(kernel))
      function->setAttr(ir::kOccupancyAttr, b.getI32IntegerAttr(blocks));
    keep(ir::kMaxRegistersAttr);
    if (target.hasClusters)
      keep(ir::kClusterAttr);
  }
  function.addEntryBlock();
  return function;
}

struct LowerToScalars : impl::LowerToScalarsBase<LowerToScalars> {
  using LowerToScalarsBase::LowerToScalarsBase;

  void runOnOperation() final {
    FailureOr<ir::Target> machine = ir::knownTarget(getOperation(), target);
    if (failed(machine))
      return signalPassFailure();
    SmallVector<func::FuncOp> kernels;
    getOperation().walk([&](func::FuncOp function) {
      if (function->hasAttr(ir::kKernelAttr) || function->hasAttr(ir::kCallableAttr))
        kernels.push_back(function);
    });
    declareShared(getOperation());
    for (func::FuncOp kernel : kernels) {
      if (failed(Lowering::verify(kernel)))
        return signalPassFailure();
      func::FuncOp scalar = makeScalarFunction(kernel, *machine);
      if (failed(Lowering(kernel, scalar, *machine).run()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};

} // namespace

} // namespace tile::codegen
