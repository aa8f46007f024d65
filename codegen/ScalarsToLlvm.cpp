// ScalarsToLlvm: upstream conversions for control flow, arithmetic and functions, ours for math functions.
#include "codegen/MathToPtx.h"
#include "codegen/Passes.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::codegen {

#define GEN_PASS_DEF_SCALARSTOLLVM
#include "codegen/Passes.h.inc"

namespace {

struct ScalarsToLlvm : impl::ScalarsToLlvmBase<ScalarsToLlvm> {
  void runOnOperation() final {
    LowerToLLVMOptions options(&getContext());
    options.overrideIndexBitwidth(64);
    LLVMTypeConverter converter(&getContext(), options);
    RewritePatternSet patterns(&getContext());
    populateMathToPtxPatterns(converter, patterns);
    populateSCFToControlFlowConversionPatterns(patterns);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(getContext());
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addLegalOp<ModuleOp>();
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    getOperation().walk([](LLVM::LLVMFuncOp function) {
      markKernel(function);
      markSettings(function);
    });
  }

  static int32_t takeNumber(LLVM::LLVMFuncOp function, StringRef name, int32_t fallback) {
    auto number = dyn_cast_or_null<IntegerAttr>(function->removeAttr(name));
    return number ? static_cast<int32_t>(number.getInt()) : fallback;
  }

  // The block size is exact: the assembler may rely on it.
  static void markKernel(LLVM::LLVMFuncOp function) {
    auto threads = function->getAttrOfType<IntegerAttr>(ir::kThreadsAttr);
    if (!threads)
      return;
    OpBuilder b(function);
    function->removeAttr(ir::kThreadsAttr);
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                      b.getDenseI32ArrayAttr({static_cast<int32_t>(threads.getInt())}));
    if (int32_t blocks = takeNumber(function, ir::kClusterAttr, 1); blocks > 1)
      function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                        b.getDenseI32ArrayAttr({blocks}));
    if (int32_t blocks = takeNumber(function, ir::kOccupancyAttr, 0))
      function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(blocks));
    if (int32_t registers = takeNumber(function, ir::kMaxRegistersAttr, 0))
      function->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(), b.getI32IntegerAttr(registers));
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (gpu::tensorMapOf(function, i))
        markTensorMap(function, i);
  }

  // The launch passes the map itself. The kernel only reads it: the copy engine does, where the launch has put it.
  static void markTensorMap(LLVM::LLVMFuncOp function, unsigned argument) {
    constexpr unsigned kBytes = 128;
    constexpr int64_t kAlignment = 64;
    OpBuilder b(function);
    Type map = LLVM::LLVMArrayType::get(b.getI8Type(), kBytes);
    function.setArgAttrs(
        argument,
        {b.getNamedAttr(LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(map)),
         b.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(kAlignment)),
         b.getNamedAttr(NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr())});
  }

  // What kernels and the functions they call have in common.
  static void markSettings(LLVM::LLVMFuncOp function) {
    OpBuilder b(function);
    if (function->removeAttr(ir::kCallableAttr)) {
      function.setLinkage(LLVM::Linkage::Internal);
      function.setNoInline(true);
    }
    if (function->removeAttr(ir::kFlushDenormalsAttr))
      function.setPassthroughAttr(
          b.getArrayAttr(b.getArrayAttr({b.getStringAttr("denormal-fp-math-f32"),
                                         b.getStringAttr("preserve-sign,preserve-sign")})));
  }
};

} // namespace

} // namespace tile::codegen
