// Matrix products: mma.sync on fragments, or fused multiply-adds on what each thread holds.
#include "codegen/InlinePtx.h"
#include "codegen/lower/Words.h"

#include "ir/layout/Fragments.h"
#include "passes/variants/Variants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

// "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
std::string mmaName(const layout::MmaShape &mma, Type operand, Type acc) {
  StringRef in = operand.isF16() ? "f16" : operand.isBF16() ? "bf16" : "tf32";
  StringRef out = acc.isF16() ? "f16" : "f32";
  return llvm::formatv("mma.sync.aligned.m{0}n{1}k{2}.row.col.{3}.{4}.{4}.{3}", mma.m, mma.n, mma.k,
                       out, in)
      .str();
}

/// The instruction as inline PTX: accumulators in and out share registers.
class MmaEmitter {
public:
  MmaEmitter(Lowering &l, Location loc, const layout::MmaShape &mma, Type operand, Type acc)
      : l(l), loc(loc), acc(acc), operandIsTf32(operand.isF32()), name(mmaName(mma, operand, acc)) {
  }

  Registers emit(ArrayRef<Value> a, ArrayRef<Value> b, ArrayRef<Value> c) {
    SmallVector<Value> left = operandWords(a), right = operandWords(b), sums = accWords(c);
    size_t out = sums.size();
    std::string text = name + " " + operandList(0, out) + ", " + operandList(out, left.size()) +
                       ", " + operandList(out + left.size(), right.size()) + ", " +
                       operandList(0, out) + ";";
    Type word = sums.front().getType();
    const char *letter = word.isF32() ? "f" : "r";
    std::string constraints;
    for (size_t i = 0; i < out; ++i)
      constraints += std::string(i ? ",=" : "=") + letter;
    for (size_t i = 0; i < left.size() + right.size(); ++i)
      constraints += ",r";
    for (size_t i = 0; i < out; ++i)
      constraints += "," + std::to_string(i);
    SmallVector<Value> operands = left;
    llvm::append_range(operands, right);
    llvm::append_range(operands, sums);
    auto type = LLVM::LLVMStructType::getLiteral(l.b.getContext(), SmallVector<Type>(out, word));
    Value result = inlinePtx(l.b, loc, text, constraints, type, operands);
    for (size_t i = 0; i < out; ++i)
      sums[i] = LLVM::ExtractValueOp::create(l.b, loc, result, i);
    return acc.isF16() ? unpackWords(l, loc, Words{32, sums}, acc, c.size())
                       : Registers(sums.begin(), sums.end());
  }

private:
  // tf32 operands are rounded to nearest first (the instruction would drop the low bits).
  SmallVector<Value> operandWords(ArrayRef<Value> elements) {
    if (!operandIsTf32)
      return packWords(l, loc, elements).values;
    SmallVector<Value> words;
    for (Value element : elements)
      words.push_back(
          inlinePtx(l.b, loc, "cvt.rna.tf32.f32 $0, $1;", "=r,f", l.b.getI32Type(), element));
    return words;
  }

  SmallVector<Value> accWords(ArrayRef<Value> elements) {
    return acc.isF16() ? packWords(l, loc, elements).values : SmallVector<Value>(elements);
  }

  Lowering &l;
  Location loc;
  Type acc;
  bool operandIsTf32;
  std::string name;
};

LogicalResult lowerMmaSync(Lowering &l, ir::DotOp dot) {
  Type operand = ir::elementTypeOf(dot.getA().getType());
  auto mma = layout::MmaShape::forElementBits(operand.getIntOrFloatBitWidth());
  if (!mma)
    return dot.emitOpError("no instruction for this element type");
  auto steps = layout::mmaSteps(*mma, gpu::layoutOf(dot.getA().getType()),
                                gpu::layoutOf(dot.getB().getType()),
                                gpu::layoutOf(dot.getResult().getType()));
  if (!steps)
    return dot.emitOpError("the operands' layouts are not fragments of one product");
  const Registers &a = l[dot.getA()], &b = l[dot.getB()];
  Registers acc = l[dot.getAcc()];
  MmaEmitter emitter(l, dot.getLoc(), *mma, operand, ir::elementTypeOf(dot.getAcc().getType()));
  for (const layout::MmaStep &step : *steps) {
    Registers sums = emitter.emit(ArrayRef(a).slice(step.a, mma->elementsA()),
                                  ArrayRef(b).slice(step.b, mma->elementsB()),
                                  ArrayRef(acc).slice(step.c, mma->elementsC()));
    llvm::copy(sums, acc.begin() + step.c);
  }
  l.set(dot.getResult(), std::move(acc));
  return success();
}

Value toAccumulator(Lowering &l, Location loc, Value value, Type acc) {
  if (value.getType() == acc)
    return value;
  return arith::ExtFOp::create(l.b, loc, acc, value);
}

// Narrow accumulators are summed in f32 and rounded once.
LogicalResult lowerFma(Lowering &l, ir::DotOp dot) {
  layout::Layout a = gpu::layoutOf(dot.getA().getType()), b = gpu::layoutOf(dot.getB().getType());
  layout::Layout c = gpu::layoutOf(dot.getResult().getType());
  Type acc = ir::elementTypeOf(dot.getAcc().getType()),
       wide = acc.isF64() ? acc : Type(l.b.getF32Type());
  Location loc = dot.getLoc();
  Registers sums;
  for (Value value : l[dot.getAcc()])
    sums.push_back(toAccumulator(l, loc, value, wide));
  auto inner = static_cast<int32_t>(a.shape()[1]);
  for (int32_t k = 0; k < inner; ++k) {
    std::map<int32_t, Value> left, right; // each operand element is widened once
    auto widened = [&](std::map<int32_t, Value> &known, Value tile, int32_t reg) {
      Value &value = known[reg];
      if (!value)
        value = toAccumulator(l, loc, l[tile][reg], wide);
      return value;
    };
    for (int32_t reg = 0; reg < c.numRegisters(); ++reg) {
      layout::Coords at = c.apply(reg);
      std::optional<int32_t> regA = a.registerAt({at[0], k}), regB = b.registerAt({k, at[1]});
      if (!regA || !regB)
        return dot.emitOpError("the operands' layouts do not hold what each thread multiplies");
      sums[reg] = LLVM::FMAOp::create(l.b, loc, widened(left, dot.getA(), *regA),
                                      widened(right, dot.getB(), *regB), sums[reg]);
    }
  }
  if (wide != acc)
    for (Value &sum : sums)
      sum = arith::TruncFOp::create(l.b, loc, acc, sum);
  l.set(dot.getResult(), std::move(sums));
  return success();
}

LogicalResult lowerDot(Lowering &l, Operation *op) {
  auto variant = op->getAttrOfType<StringAttr>(gpu::kVariantAttr);
  if (variant && variant.getValue() == passes::kVariantMmaSync)
    return lowerMmaSync(l, cast<ir::DotOp>(op));
  return lowerFma(l, cast<ir::DotOp>(op));
}

const std::pair<llvm::StringLiteral, LowerFunction> kLowerings[] = {{"tile.dot", lowerDot}};

} // namespace

LoweringTable dotLowerings() { return kLowerings; }

} // namespace tile::codegen
