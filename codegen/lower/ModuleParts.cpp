// What a lowering adds beside its function: declarations, texts, local memory.
#include "codegen/lower/Lowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

ModuleOp Lowering::module() const { return source_->getParentOfType<ModuleOp>(); }

LLVM::LLVMFuncOp Lowering::externalFunction(StringRef name, LLVM::LLVMFunctionType type) {
  if (auto known = module().lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known.getFunctionType() == type ? known : LLVM::LLVMFuncOp();
  if (module().lookupSymbol(name))
    return {};
  OpBuilder builder = OpBuilder::atBlockBegin(module().getBody());
  return LLVM::LLVMFuncOp::create(builder, source_.getLoc(), name, type);
}

Value Lowering::textAddress(StringRef text) {
  Location loc = source_.getLoc();
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Global);
  LLVM::GlobalOp &global = texts_[text];
  if (!global) {
    OpBuilder builder = OpBuilder::atBlockBegin(module().getBody());
    std::string bytes = text.str() + '\0', name;
    do
      name = "tile_text_" + std::to_string(numTexts_++);
    while (module().lookupSymbol(name));
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), static_cast<unsigned>(bytes.size()));
    global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name, builder.getStringAttr(bytes),
                                    /*alignment=*/1, space);
  }
  MLIRContext *context = b.getContext();
  Value address = LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(context, space),
                                            global.getName());
  return LLVM::AddrSpaceCastOp::create(b, loc, LLVM::LLVMPointerType::get(context), address);
}

Value Lowering::localBuffer(int64_t bytes) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(warpId_.getDefiningOp());
  Value count = LLVM::ConstantOp::create(b, source_.getLoc(), b.getI32Type(),
                                         b.getI32IntegerAttr(static_cast<int32_t>(bytes)));
  return LLVM::AllocaOp::create(b, source_.getLoc(), LLVM::LLVMPointerType::get(b.getContext()),
                                b.getI8Type(), count, /*alignment=*/8);
}

} // namespace tile::codegen
