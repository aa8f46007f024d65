// CUDA C++ functions: a call for each element, with words as arguments. Numbers narrower than 32 bits are extended as
// their signs say, so that caller and function need not agree on how to pass them; f16 and bf16 travel as their bits.
#include "codegen/CudaFunctions.h"
#include "codegen/lower/Lowering.h"

#include "ir/UserError.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

class CudaCall {
public:
  CudaCall(Lowering &l, ir::InlineCudaOp op)
      : l_(l), op_(op), loc_(op.getLoc()), dtypes_(ir::InlineCudaOp::dtypesOf(op.getSignature())) {}

  LogicalResult run() {
    LLVM::LLVMFuncOp function = declare();
    if (!function)
      return ir::userError(op_.emitOpError(), ErrorCode::InvalidArgument)
             << "is called by a name that stands for something else in the kernel; rename one";
    Type element = Lowering::registerType(op_.getResult().getType());
    Registers results;
    for (size_t reg = 0, count = Lowering::countOf(op_.getResult().getType()); reg < count; ++reg) {
      SmallVector<Value> words;
      for (auto [i, operand] : llvm::enumerate(op_.getOperands()))
        words.push_back(toWord(l_[operand][reg], dtypes_[i + 1]));
      results.push_back(
          fromWord(LLVM::CallOp::create(l_.b, loc_, function, words).getResult(), element));
    }
    l_.set(op_.getResult(), std::move(results));
    return success();
  }

private:
  Type wordOf(Type element) {
    unsigned bits = element.getIntOrFloatBitWidth();
    return bits < 32 ? Type(l_.b.getI32Type()) : element;
  }

  LLVM::LLVMFuncOp declare() {
    SmallVector<Type> words;
    for (Value operand : op_.getOperands())
      words.push_back(wordOf(Lowering::registerType(operand.getType())));
    Type result = wordOf(Lowering::registerType(op_.getResult().getType()));
    LLVM::LLVMFuncOp function =
        l_.module.externalFunction(cudaSymbolOf(op_), LLVM::LLVMFunctionType::get(result, words));
    if (!function)
      return {};
    function.setNoUnwind(true);
    if (!op_.getPure()) {
      // What another use of the function may do, this one may.
      function.removeMemoryEffectsAttr();
      function.setConvergent(true);
    } else if (!function.getConvergent().value_or(false)) {
      auto none = LLVM::ModRefInfo::NoModRef;
      function.setMemoryEffectsAttr(
          LLVM::MemoryEffectsAttr::get(l_.b.getContext(), none, none, none, none, none, none));
      function.setWillReturn(true);
    }
    return function;
  }

  Value toWord(Value value, StringRef dtype) {
    Type type = value.getType(), word = wordOf(type);
    if (type == word)
      return value;
    if (isa<FloatType>(type))
      value = LLVM::BitcastOp::create(l_.b, loc_, l_.b.getIntegerType(type.getIntOrFloatBitWidth()),
                                      value);
    bool isSigned = dtype.starts_with("i") && dtype != "i1";
    return isSigned ? LLVM::SExtOp::create(l_.b, loc_, word, value).getResult()
                    : LLVM::ZExtOp::create(l_.b, loc_, word, value).getResult();
  }

  Value fromWord(Value word, Type type) {
    if (word.getType() == type)
      return word;
    Type bits = l_.b.getIntegerType(type.getIntOrFloatBitWidth());
    Value narrow = LLVM::TruncOp::create(l_.b, loc_, bits, word);
    return bits == type ? narrow : LLVM::BitcastOp::create(l_.b, loc_, type, narrow).getResult();
  }

  Lowering &l_;
  ir::InlineCudaOp op_;
  Location loc_;
  SmallVector<StringRef> dtypes_;
};

LogicalResult lowerInlineCuda(Lowering &l, Operation *op) {
  return CudaCall(l, cast<ir::InlineCudaOp>(op)).run();
}

constexpr LoweringRow kLowerings[] = {
    on<ir::InlineCudaOp, lowerInlineCuda>,
};

} // namespace

LoweringTable foreignCudaLowerings() { return kLowerings; }

} // namespace tile::codegen
