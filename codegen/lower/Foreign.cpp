// PTX inside a kernel: the elements of a thread in groups, packed as the text expects them.
#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

// The type of the register that a constraint names, for elements of a type.
Type registerFor(Lowering &l, Type element, StringRef constraint) {
  constraint.consume_front("=");
  constraint.consume_front("&");
  if (constraint == "f" || constraint == "d")
    return element;
  return l.b.getIntegerType(constraint == "h" ? 16 : constraint == "r" ? 32 : 64);
}

// Elements (one, or as many as fill 32 bits) as one register.
Value toRegister(Lowering &l, Location loc, ValueRange elements, Type type) {
  if (elements.front().getType() == type)
    return elements.front();
  unsigned bits = elements.front().getType().getIntOrFloatBitWidth();
  Value word;
  for (auto [i, element] : llvm::enumerate(elements)) {
    Value part = element;
    if (isa<FloatType>(part.getType()))
      part = LLVM::BitcastOp::create(l.b, loc, l.b.getIntegerType(bits), part);
    if (part.getType() != type)
      part = LLVM::ZExtOp::create(l.b, loc, type, part);
    if (i)
      part = LLVM::ShlOp::create(l.b, loc, part,
                                 l.integer(type.getIntOrFloatBitWidth(), int64_t(i) * bits));
    word = word ? LLVM::OrOp::create(l.b, loc, word, part).getResult() : part;
  }
  return word;
}

void fromRegister(Lowering &l, Location loc, Value word, Type element, size_t count,
                  Registers &out) {
  unsigned bits = element.getIntOrFloatBitWidth(), wide = word.getType().getIntOrFloatBitWidth();
  for (size_t i = 0; i < count; ++i) {
    Value part = word;
    if (part.getType() != element) {
      if (i)
        part = LLVM::LShrOp::create(l.b, loc, part, l.integer(wide, int64_t(i) * bits));
      if (bits < wide)
        part = LLVM::TruncOp::create(l.b, loc, l.b.getIntegerType(bits), part);
      if (part.getType() != element)
        part = LLVM::BitcastOp::create(l.b, loc, element, part);
    }
    out.push_back(part);
  }
}

/// The registers of one operand or result: how many elements each holds.
struct Packing {
  size_t registers, perRegister;
  Packing(Type type, int64_t pack)
      : registers(ir::InlinePtxOp::registersOf(type, pack)),
        perRegister(llvm::divideCeil(pack, registers)) {}
};

class PtxCall {
public:
  PtxCall(Lowering &l, ir::InlinePtxOp op)
      : l_(l), op_(op), loc_(op.getLoc()), pack_(op.getPack()) {
    op.getConstraints().split(constraints_, ',');
    for (StringRef &constraint : constraints_)
      constraint = constraint.trim();
  }

  void run() {
    Type first = op_.getNumOperands()  ? op_.getOperandTypes().front()
                 : op_.getNumResults() ? op_.getResultTypes().front()
                                       : Type();
    size_t count = first ? Lowering::countOf(first) : 1;
    results_.resize(op_.getNumResults());
    for (size_t begin = 0; begin < count; begin += pack_)
      callOnce(begin, count);
    for (auto [i, result] : llvm::enumerate(op_.getResults())) {
      results_[i].resize(count); // the last group may have been filled up
      l_.set(result, std::move(results_[i]));
    }
  }

private:
  void callOnce(size_t begin, size_t count) {
    SmallVector<Type> types;
    size_t next = 0;
    for (Type type : op_.getResultTypes())
      for (size_t i = 0; i < Packing(type, pack_).registers; ++i)
        types.push_back(registerFor(l_, ir::elementTypeOf(type), constraints_[next++]));
    SmallVector<Value> operands;
    for (Value operand : op_.getOperands()) {
      Packing packing(operand.getType(), pack_);
      Type element = ir::elementTypeOf(operand.getType());
      SmallVector<Value> group;
      for (size_t i = begin; i < begin + pack_; ++i)
        group.push_back(l_[operand][std::min(i, count - 1)]);
      for (size_t i = 0; i < packing.registers; ++i) {
        auto part = ArrayRef(group).slice(i * packing.perRegister).take_front(packing.perRegister);
        operands.push_back(
            toRegister(l_, loc_, part, registerFor(l_, element, constraints_[next++])));
      }
    }
    takeResults(emit(types, operands), types.size());
  }

  Value emit(ArrayRef<Type> types, ArrayRef<Value> operands) {
    MLIRContext *context = l_.b.getContext();
    Type result = types.empty()      ? Type(LLVM::LLVMVoidType::get(context))
                  : types.size() > 1 ? Type(LLVM::LLVMStructType::getLiteral(context, types))
                                     : types[0];
    std::string text = "{ " + op_.getText().str() + " }";
    std::string joined = llvm::join(constraints_, ",");
    if (op_.getPure())
      return inlinePtx(l_.b, loc_, text, joined, result, operands);
    LLVM::InlineAsmOp call = inlineMemoryPtx(l_.b, loc_, text, joined, result, operands);
    return types.empty() ? Value() : call.getRes();
  }

  void takeResults(Value result, size_t registers) {
    size_t next = 0;
    for (auto [i, type] : llvm::enumerate(op_.getResultTypes())) {
      Packing packing(type, pack_);
      for (size_t r = 0; r < packing.registers; ++r, ++next) {
        Value word = registers > 1
                         ? LLVM::ExtractValueOp::create(l_.b, loc_, result, next).getResult()
                         : result;
        fromRegister(l_, loc_, word, ir::elementTypeOf(type), packing.perRegister, results_[i]);
      }
    }
  }

  Lowering &l_;
  ir::InlinePtxOp op_;
  Location loc_;
  size_t pack_;
  SmallVector<StringRef> constraints_;
  std::vector<Registers> results_;
};

LogicalResult lowerInlinePtx(Lowering &l, Operation *op) {
  PtxCall(l, cast<ir::InlinePtxOp>(op)).run();
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<ir::InlinePtxOp, lowerInlinePtx>,
};

} // namespace

LoweringTable foreignLowerings() { return kLowerings; }

} // namespace tile::codegen
