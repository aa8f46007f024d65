#include "ir/instructions/Mma.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tile::ir {

// Rows of the same types are neighbours, the deepest K first. Mixed signedness exists but is not
// offered by the language.
static constexpr MmaInstruction kInstructions[] = {
    {"f16", "f16", "f32", {16, 8, 16, 16}},
    {"f16", "f16", "f32", {16, 8, 8, 16}},
    {"f16", "f16", "f16", {16, 8, 16, 16}},
    {"f16", "f16", "f16", {16, 8, 8, 16}},
    {"bf16", "bf16", "f32", {16, 8, 16, 16}},
    {"bf16", "bf16", "f32", {16, 8, 8, 16}},
    {"tf32", "tf32", "f32", {16, 8, 8, 32}},
    {"tf32", "tf32", "f32", {16, 8, 4, 32}},
    {"f64", "f64", "f64", {8, 8, 4, 64}},
    {"s8", "s8", "s32", {16, 8, 32, 8}},
    {"s8", "s8", "s32", {16, 8, 16, 8}},
    {"u8", "u8", "s32", {16, 8, 32, 8}},
    {"u8", "u8", "s32", {16, 8, 16, 8}},
    {"e4m3", "e4m3", "f32", {16, 8, 32, 8}, &Target::hasFloat8},
    {"e4m3", "e5m2", "f32", {16, 8, 32, 8}, &Target::hasFloat8},
    {"e5m2", "e4m3", "f32", {16, 8, 32, 8}, &Target::hasFloat8},
    {"e5m2", "e5m2", "f32", {16, 8, 32, 8}, &Target::hasFloat8},
};

std::string MmaInstruction::name() const {
  return llvm::formatv("mma.sync.aligned.m{0}n{1}k{2}.row.col.{3}.{4}.{5}.{3}", shape.m, shape.n,
                       shape.k, acc, a, b)
      .str();
}

static StringRef operandName(Type type, bool isUnsigned) {
  if (type.isInteger(8))
    return isUnsigned ? "u8" : "s8";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return type.isF16() ? "f16" : type.isBF16() ? "bf16" : type.isF64() ? "f64" : "tf32";
}

static StringRef accName(Type type) {
  return type.isInteger() ? "s32" : type.isF16() ? "f16" : type.isF64() ? "f64" : "f32";
}

ArrayRef<MmaInstruction> mmaInstructionsFor(DotOp dot) {
  StringRef a = operandName(elementTypeOf(dot.getA().getType()), dot.getOperandsUnsigned());
  StringRef b = operandName(elementTypeOf(dot.getB().getType()), dot.getOperandsUnsigned());
  StringRef acc = accName(elementTypeOf(dot.getAcc().getType()));
  auto matches = [&](const MmaInstruction &row) {
    return row.a == a && row.b == b && row.acc == acc;
  };
  const MmaInstruction *first = llvm::find_if(kInstructions, matches);
  const MmaInstruction *last = std::find_if_not(first, std::end(kInstructions), matches);
  return ArrayRef(first, last);
}

std::optional<MmaInstruction> findMma(DotOp dot) {
  DotOp::Sizes sizes = dot.getSizes();
  for (const MmaInstruction &row : mmaInstructionsFor(dot))
    if (sizes.m % row.shape.m == 0 && sizes.n % row.shape.n == 0 && sizes.k % row.shape.k == 0)
      return row;
  return std::nullopt;
}

bool needsMultiplyAdd(DotOp dot) {
  return elementTypeOf(dot.getA().getType()).isF32() && dot.getPrecision() == Precision::Ieee;
}

} // namespace tile::ir
