#include "ir/instructions/Wgmma.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tile::ir {

// Of tf32 the instruction drops the low bits of f32, where the language promises rounding to
// nearest: its operands are rounded before.
static constexpr WgmmaInstruction kInstructions[] = {
    {"f16", "f16", "f32", 16, 16, true},       {"bf16", "bf16", "f32", 16, 16, true},
    {"tf32", "tf32", "f32", 8, 32, false},     {"s8", "s8", "s32", 32, 8, false},
    {"u8", "u8", "s32", 32, 8, false},         {"e4m3", "e4m3", "f32", 32, 8, false, 13},
    {"e4m3", "e5m2", "f32", 32, 8, false, 13}, {"e5m2", "e4m3", "f32", 32, 8, false, 13},
    {"e5m2", "e5m2", "f32", 32, 8, false, 13},
};

std::string WgmmaInstruction::name(int64_t n) const {
  return llvm::formatv("wgmma.mma_async.sync.aligned.m64n{0}k{1}.{2}.{3}.{4}", n, k, acc, a, b)
      .str();
}

// Integers have the multiples of 16 alone, but for 8 and 24.
bool WgmmaInstruction::hasWidth(int64_t n) const {
  bool isInRange = n >= 8 && n <= kWgmmaMostColumns && n % 8 == 0;
  return isInRange && (acc != "s32" || n % 16 == 0 || n == 8 || n == 24);
}

static StringRef operandName(Type type, bool isUnsigned) {
  if (type.isInteger(8))
    return isUnsigned ? "u8" : "s8";
  if (type.isTF32())
    return "tf32";
  if (isFloat8(type))
    return isa<Float8E4M3FNType>(type) ? "e4m3" : "e5m2";
  return type.isF16() ? "f16" : type.isBF16() ? "bf16" : "";
}

std::optional<WgmmaInstruction> findWgmma(Type a, Type b, Type acc, bool areUnsigned) {
  StringRef left = operandName(a, areUnsigned), right = operandName(b, areUnsigned),
            sums = acc.isF32()         ? "f32"
                   : acc.isInteger(32) ? "s32"
                                       : "";
  for (const WgmmaInstruction &row : kInstructions)
    if (row.a == left && row.b == right && row.acc == sums)
      return row;
  return std::nullopt;
}

// A group alone has all columns, odd numbers of them too; several have pieces of the power of two
// that divides N.
int64_t wgmmaColumns(const WgmmaInstruction &wgmma, int64_t n, int64_t groups) {
  int64_t piece = groups == 1 ? n : (n & -n) / groups;
  for (int64_t width = kWgmmaMostColumns; width > 0; width -= 8)
    if (piece % width == 0 && wgmma.hasWidth(width) && piece > 0)
      return width;
  return 0;
}

} // namespace tile::ir
