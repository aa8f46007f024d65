// Matrix products on the tensor core: mma.sync on fragments.
#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"
#include "codegen/thread/Words.h"

#include "ir/instructions/Mma.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// The instruction as inline PTX: accumulators in and out share registers.
class MmaEmitter {
public:
  MmaEmitter(Lowering &l, Location loc, const ir::MmaInstruction &mma, Type acc)
      : l_(l), loc_(loc), acc_(acc), operandsAreTf32_(mma.a == "tf32"), name_(mma.name()) {}

  Registers emit(ArrayRef<Value> a, ArrayRef<Value> b, ArrayRef<Value> c) {
    SmallVector<Value> left = operandWords(a), right = operandWords(b), sums = accWords(c);
    size_t out = sums.size();
    std::string text = name_ + " " + fragment(0, out) + ", " + fragment(out, left.size()) + ", " +
                       fragment(out + left.size(), right.size()) + ", " + fragment(0, out) + ";";
    SmallVector<Value> operands = left;
    llvm::append_range(operands, right);
    Type word = sums.front().getType();
    std::string constraints;
    for (size_t i = 0; i < out; ++i)
      constraints += std::string(i ? ",=" : "=") + letterOf(word);
    for (Value operand : operands)
      constraints += std::string(",") + letterOf(operand.getType());
    for (size_t i = 0; i < out; ++i)
      constraints += "," + std::to_string(i);
    llvm::append_range(operands, sums);
    auto type = LLVM::LLVMStructType::getLiteral(l_.b.getContext(), SmallVector<Type>(out, word));
    Value result = inlinePtx(l_.b, loc_, text, constraints, type, operands);
    for (size_t i = 0; i < out; ++i)
      sums[i] = LLVM::ExtractValueOp::create(l_.b, loc_, result, i);
    return acc_.isF16() ? unpackWords(l_, loc_, Words{32, sums}, acc_, c.size())
                        : Registers(sums.begin(), sums.end());
  }

private:
  // Unlike other lists, that of a fragment has braces for one register too.
  static std::string fragment(size_t first, size_t count) {
    return count > 1 ? operandList(first, count) : "{" + operandList(first, count) + "}";
  }

  static char letterOf(Type word) { return word.isF32() ? 'f' : word.isF64() ? 'd' : 'r'; }

  // tf32 operands are rounded to nearest first (the instruction would drop the low bits).
  SmallVector<Value> operandWords(ArrayRef<Value> elements) {
    if (elements.front().getType().isF64())
      return SmallVector<Value>(elements);
    if (!operandsAreTf32_)
      return packWords(l_, loc_, elements).values;
    SmallVector<Value> words;
    for (Value element : elements)
      words.push_back(
          inlinePtx(l_.b, loc_, "cvt.rna.tf32.f32 $0, $1;", "=r,f", l_.b.getI32Type(), element));
    return words;
  }

  SmallVector<Value> accWords(ArrayRef<Value> elements) {
    return acc_.isF16() ? packWords(l_, loc_, elements).values : SmallVector<Value>(elements);
  }

  Lowering &l_;
  Location loc_;
  Type acc_;
  bool operandsAreTf32_;
  std::string name_;
};

LogicalResult lowerDot(Lowering &l, Operation *op) {
  auto dot = cast<ir::DotOp>(op);
  auto mma = ir::findMma(dot);
  if (!mma)
    return dot.emitOpError("no instruction for these types and sizes; a product by multiply-add "
                           "reads its operands from shared memory (tilegpu.smem_dot)");
  auto steps = layout::mmaSteps(mma->shape, gpu::layoutOf(dot.getA().getType()),
                                gpu::layoutOf(dot.getB().getType()),
                                gpu::layoutOf(dot.getResult().getType()));
  if (!steps)
    return dot.emitOpError("the operands' layouts are not fragments of one product");
  const Registers &a = l[dot.getA()], &b = l[dot.getB()];
  Registers acc = l[dot.getAcc()];
  MmaEmitter emitter(l, dot.getLoc(), *mma, ir::elementTypeOf(dot.getAcc().getType()));
  for (const layout::MmaStep &step : *steps) {
    Registers sums = emitter.emit(ArrayRef(a).slice(step.a, mma->shape.elementsA()),
                                  ArrayRef(b).slice(step.b, mma->shape.elementsB()),
                                  ArrayRef(acc).slice(step.c, mma->shape.elementsC()));
    llvm::copy(sums, acc.begin() + step.c);
  }
  l.set(dot.getResult(), std::move(acc));
  return success();
}

constexpr LoweringRow kLowerings[] = {on<ir::DotOp, lowerDot>};

} // namespace

LoweringTable dotLowerings() { return kLowerings; }

} // namespace tile::codegen
