// The forms of arithmetic. What ptxas makes of an instruction is imitated where it matters: widths
// that one machine instruction does not have cost two, and what it folds into others costs nothing.
#include "runtime/vgpu/machine/cost/TimeForm.h"

namespace tile::vgpu {

unsigned widthOf(const Instruction &instruction) {
  for (auto word = instruction.suffix.rbegin(); word != instruction.suffix.rend(); ++word) {
    if (*word == "pred")
      return 1;
    if (word->ends_with("x2"))
      return 32;
    for (unsigned width : {64u, 32u, 16u, 8u})
      if (word->ends_with(std::to_string(width)) && word->size() <= 4)
        return width;
  }
  return 32;
}

unsigned accessBytes(const Instruction &instruction) {
  unsigned elements = 1;
  for (auto [word, count] : {std::pair("v2", 2u), {"v4", 4u}, {"v8", 8u}})
    elements = hasWord(instruction, word) ? count : elements;
  return elements * widthOf(instruction) / 8;
}

static bool isFloat(const Instruction &instruction) {
  return classByType(instruction) == InstructionClass::Float;
}

static TimeForm floats(Cost cost) { return {.cost = cost, .makesFloats = true}; }

static TimeForm floatSum(const Instruction &instruction) {
  return floats(hasWord(instruction, "f64") ? Cost::Double : Cost::Fma);
}

TimeForm timeOfArithmetic(const Instruction &instruction) {
  if (isFloat(instruction))
    return floatSum(instruction);
  return {.cost = widthOf(instruction) == 64 ? Cost::AluWide : Cost::Alu};
}

TimeForm timeOfExtreme(const Instruction &instruction) {
  if (isFloat(instruction))
    return floats(hasWord(instruction, "f64") ? Cost::Double : Cost::Alu);
  return timeOfArithmetic(instruction);
}

TimeForm timeOfSign(const Instruction &instruction) {
  return isFloat(instruction) ? floats(Cost::Free) : timeOfArithmetic(instruction);
}

TimeForm timeOfLogic(const Instruction &instruction) {
  return {.cost = widthOf(instruction) == 1 ? Cost::Predicate : Cost::Alu};
}

TimeForm timeOfProduct(const Instruction &instruction) {
  if (isFloat(instruction))
    return floatSum(instruction);
  if (hasWord(instruction, "wide") || hasWord(instruction, "hi"))
    return {.cost = Cost::ProductWide};
  return {.cost = widthOf(instruction) == 64 ? Cost::ProductLong : Cost::Product};
}

TimeForm timeOfDivision(const Instruction &instruction) {
  if (isFloat(instruction))
    return floats(Cost::FloatQuotient);
  bool isLong = widthOf(instruction) == 64;
  bool isByConstant =
      instruction.operands.size() == 3 && instruction.operands[2].kind == Operand::Kind::Immediate;
  if (isByConstant)
    return {.cost = isLong ? Cost::DivisionByConstantLong : Cost::DivisionByConstant};
  return {.cost = isLong ? Cost::DivisionLong : Cost::Division};
}

TimeForm timeOfRoot(const Instruction &instruction) {
  return floats(hasWord(instruction, "approx") ? Cost::Function : Cost::RoundedRoot);
}

TimeForm timeOfComparison(const Instruction &instruction) {
  if (isFloat(instruction))
    return floats(Cost::Compare);
  return {.cost = widthOf(instruction) == 64 ? Cost::CompareWide : Cost::Compare};
}

TimeForm timeOfConversion(const Instruction &instruction) {
  if (!isFloat(instruction))
    return {.cost = Cost::Free};
  bool makesPair = std::ranges::any_of(instruction.suffix,
                                       [](std::string_view word) { return word.ends_with("x2"); });
  return floats(makesPair ? Cost::Pack : Cost::Convert);
}

TimeForm timeOfMove(const Instruction &instruction) {
  bool readsSpecial =
      instruction.operands.size() > 1 && instruction.operands[1].kind == Operand::Kind::Special;
  return {.cost = readsSpecial ? Cost::SpecialRegister : Cost::Free};
}

} // namespace tile::vgpu
