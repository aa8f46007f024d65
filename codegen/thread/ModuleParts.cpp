#include "codegen/thread/ModuleParts.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

ModuleOp ModuleParts::op() const { return values_.source()->getParentOfType<ModuleOp>(); }

LLVM::LLVMFuncOp ModuleParts::externalFunction(StringRef name, LLVM::LLVMFunctionType type) {
  if (auto known = op().lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known.getFunctionType() == type ? known : LLVM::LLVMFuncOp();
  if (op().lookupSymbol(name))
    return {};
  OpBuilder builder = OpBuilder::atBlockBegin(op().getBody());
  return LLVM::LLVMFuncOp::create(builder, values_.loc(), name, type);
}

Value ModuleParts::textAddress(StringRef text) {
  Location loc = values_.loc();
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Global);
  LLVM::GlobalOp &global = texts_[text];
  if (!global) {
    OpBuilder builder = OpBuilder::atBlockBegin(op().getBody());
    std::string bytes = text.str() + '\0', name;
    do
      name = "tile_text_" + std::to_string(numTexts_++);
    while (op().lookupSymbol(name));
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), static_cast<unsigned>(bytes.size()));
    global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name, builder.getStringAttr(bytes),
                                    /*alignment=*/1, space);
  }
  MLIRContext *context = values_.b.getContext();
  Value address = LLVM::AddressOfOp::create(
      values_.b, loc, LLVM::LLVMPointerType::get(context, space), global.getName());
  return LLVM::AddrSpaceCastOp::create(values_.b, loc, LLVM::LLVMPointerType::get(context),
                                       address);
}

Value ModuleParts::localBuffer(int64_t bytes) {
  OpBuilder::InsertionGuard guard(values_.b);
  threads_.setInsertionPointToTop(values_.b);
  Value count = LLVM::ConstantOp::create(values_.b, values_.loc(), values_.b.getI32Type(),
                                         values_.b.getI32IntegerAttr(static_cast<int32_t>(bytes)));
  return LLVM::AllocaOp::create(values_.b, values_.loc(),
                                LLVM::LLVMPointerType::get(values_.b.getContext()),
                                values_.b.getI8Type(), count, /*alignment=*/8);
}

Value ModuleParts::tensorMap(gpu::TensorMapAttr map) {
  for (unsigned i = values_.source().getNumArguments(); i < function_.getNumArguments(); ++i)
    if (gpu::tensorMapOf(function_, i) == map)
      return function_.getArgument(i);
  unsigned index = function_.getNumArguments();
  (void)function_.insertArgument(index, LLVM::LLVMPointerType::get(values_.b.getContext()),
                                 values_.b.getDictionaryAttr(gpu::tensorMapParameter(map)),
                                 values_.loc());
  return function_.getArgument(index);
}

} // namespace tile::codegen
