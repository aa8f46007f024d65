// LowerToScalars: from what the block does to what one thread does.
#include "codegen/EntryName.h"
#include "codegen/Passes.h"
#include "codegen/lower/Lowering.h"
#include "passes/DotLayouts.h"
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

/// Alignment of the block's shared memory: what AllocateShared assumes of offset 0.
constexpr unsigned kSharedAlignment = 128;

// The array that stands for the block's dynamic shared memory. Its size is given at launch.
void declareShared(ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, module.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::External,
                         kSharedSymbol, Attribute(), kSharedAlignment,
                         static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
}

// The scalar function that takes a kernel's place: its name as PTX allows it, the same parameters, pointers as LLVM's.
func::FuncOp makeScalarFunction(func::FuncOp kernel) {
  OpBuilder b(kernel);
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes())
    types.push_back(Lowering::registerType(type));
  auto function = func::FuncOp::create(b, kernel.getLoc(), entryNameOf(kernel.getName()),
                                       b.getFunctionType(types, {}));
  int32_t threads = static_cast<int32_t>(passes::warpsOf(kernel)) * 32;
  function->setAttr(kThreadsAttr, b.getI32IntegerAttr(threads));
  for (StringRef setting : {ir::kMaxRegistersAttr, ir::kOccupancyAttr, ir::kFlushDenormalsAttr})
    if (Attribute value = kernel->getAttr(setting))
      function->setAttr(setting, value);
  function.addEntryBlock();
  return function;
}

struct LowerToScalars : impl::LowerToScalarsBase<LowerToScalars> {
  using LowerToScalarsBase::LowerToScalarsBase;

  void runOnOperation() final {
    std::optional<ir::Target> machine = ir::findTarget(target);
    if (!machine) {
      getOperation().emitError("unknown target '") << target << "'; known: " << ir::knownTargets();
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> kernels;
    getOperation().walk([&](func::FuncOp function) {
      if (function->hasAttr(ir::kKernelAttr))
        kernels.push_back(function);
    });
    declareShared(getOperation());
    for (func::FuncOp kernel : kernels) {
      if (failed(Lowering::verify(kernel)))
        return signalPassFailure();
      func::FuncOp scalar = makeScalarFunction(kernel);
      if (failed(Lowering(kernel, scalar, *machine).run()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};

} // namespace

} // namespace tile::codegen
