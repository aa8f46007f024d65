#include "codegen/InlinePtx.h"

using namespace mlir;

namespace tile::codegen {

static LLVM::InlineAsmOp create(OpBuilder &b, Location loc, Type result, ValueRange operands,
                                StringRef text, StringRef constraints, bool hasSideEffects) {
  return LLVM::InlineAsmOp::create(b, loc, result, operands, text, constraints, hasSideEffects,
                                   /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                   LLVM::AsmDialectAttr{}, ArrayAttr{});
}

Value inlinePtx(OpBuilder &b, Location loc, StringRef text, StringRef constraints, Type result,
                ValueRange operands) {
  return create(b, loc, result, operands, text, constraints, /*hasSideEffects=*/false).getRes();
}

LLVM::InlineAsmOp inlineMemoryPtx(OpBuilder &b, Location loc, StringRef text, StringRef constraints,
                                  Type result, ValueRange operands) {
  return create(b, loc, result, operands, text,
                (constraints + (constraints.empty() ? "" : ",") + "~{memory}").str(),
                /*hasSideEffects=*/true);
}

std::string operandList(size_t first, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return count > 1 ? "{" + text + "}" : text;
}

} // namespace tile::codegen
