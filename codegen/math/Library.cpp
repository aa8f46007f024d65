#include "codegen/math/Library.h"

#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

// The bitcode between two symbols (TILE_MATH_BITCODE is its path).
asm(".section .rodata\n"
    ".balign 16\n"
    ".hidden tile_math_begin\n.global tile_math_begin\n"
    ".hidden tile_math_end\n.global tile_math_end\n"
    "tile_math_begin: .incbin \"" TILE_MATH_BITCODE "\"\n"
    "tile_math_end:\n"
    ".text\n");
extern "C" const char tile_math_begin[], tile_math_end[];

using namespace mlir;

namespace tile::codegen {

// OpenCL C's mangling of overloads: _Z3powdd is pow(double, double).
static std::string mangled(StringRef name, Type type, size_t operands) {
  return "_Z" + std::to_string(name.size()) + name.str() +
         std::string(operands, type.isF64() ? 'd' : 'f');
}

Value callLibrary(OpBuilder &b, Location loc, StringRef name, ValueRange operands) {
  Type type = operands.front().getType();
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  FailureOr<LLVM::LLVMFuncOp> function =
      LLVM::lookupOrCreateFn(b, module, mangled(name, type, operands.size()),
                             SmallVector<Type>(operands.getTypes()), type);
  return LLVM::CallOp::create(b, loc, *function, operands).getResult();
}

bool callsLibrary(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with("_Z");
  });
}

// The attributes it was compiled with would keep it from being inlined into code for later machines.
static void prepare(llvm::Function &function, bool isInlined) {
  function.setAttributes(llvm::AttributeList());
  function.setDoesNotThrow();
  function.addFnAttr(isInlined ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
}

// Each element of a thread is a call. Beyond this number of calls of one function it stays a function: code and the
// time to compile it would grow with every element, and a call is cheap beside the hundreds of instructions behind it.
static constexpr unsigned kMostInlined = 8;

// Functions of the library that the kernel calls too often to inline.
static llvm::StringSet<> functionsOfManyCalls(const llvm::Module &module) {
  llvm::StringSet<> names;
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && function.hasNUsesOrMore(kMostInlined + 1))
      names.insert(function.getName());
  return names;
}

Refusal linkLibrary(llvm::Module &module) {
  llvm::StringRef bytes(tile_math_begin, static_cast<size_t>(tile_math_end - tile_math_begin));
  auto library = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "math"),
                                            module.getContext(), /*ShouldLazyLoadMetadata=*/true);
  if (!library)
    return llvm::toString(library.takeError());
  (*library)->setDataLayout(module.getDataLayout());
  (*library)->setTargetTriple(module.getTargetTriple());
  if (llvm::GlobalVariable *used = (*library)->getNamedGlobal("llvm.compiler.used"))
    used->eraseFromParent();
  llvm::SmallPtrSet<llvm::Function *, 8> own;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      own.insert(&function);
  llvm::StringSet<> calledOften = functionsOfManyCalls(module);
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return "its bitcode does not link";
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && !own.contains(&function))
      prepare(function, !calledOften.contains(function.getName()));
  return callsLibrary(module) ? Refusal("a function is not in it") : Refusal();
}

} // namespace tile::codegen
