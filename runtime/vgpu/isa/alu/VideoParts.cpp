// The selections of video instructions, and vmad: a*b + c with parts, negations and a shift.
#include "runtime/vgpu/isa/alu/VideoParts.h"

#include "runtime/vgpu/machine/Lanes.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

Part partOf(Decoder &decoder, const Operand &operand) {
  constexpr std::string_view kNames[] = {"", "b0", "b1", "b2", "b3", "h0", "h1"};
  const auto *name = std::ranges::find(kNames, operand.part);
  if (name == std::end(kNames))
    decoder.malformed("'." + std::string(operand.part) + "' is no part of a register here");
  return static_cast<Part>(name - kNames);
}

void forbidMinus(Decoder &decoder, const Instruction &instruction) {
  for (const Operand &operand : instruction.operands)
    if (operand.minus)
      decoder.malformed("'-' goes with the operands of vmad alone");
}

void forbidPart(Decoder &decoder, const Instruction &instruction, size_t from) {
  for (size_t i = from; i < instruction.operands.size(); ++i)
    if (!instruction.operands[i].part.empty())
      decoder.malformed("operand " + std::to_string(i + 1) + " cannot name a part");
}

// "h32": the highest part first.
uint16_t selections(Decoder &decoder, const Operand &operand, unsigned count, unsigned first) {
  uint16_t bits = 0;
  std::string_view digits = operand.part;
  for (unsigned i = 0; i < count; ++i)
    bits |= static_cast<uint16_t>((first + i) << (3 * i));
  if (digits.empty())
    return bits;
  bool fits = digits[0] == (count == 2 ? 'h' : 'b') && digits.size() == count + 1;
  bits = 0;
  for (unsigned i = 0; fits && i < count; ++i) {
    auto number = static_cast<unsigned>(digits[count - i] - '0');
    fits = number < 2 * count;
    bits |= static_cast<uint16_t>(number << (3 * i));
  }
  if (!fits)
    decoder.malformed("'." + std::string(digits) + "' does not select " + std::to_string(count) +
                      " parts");
  return bits;
}

// "b20": parts of the result, from the highest to the lowest.
uint8_t maskOf(Decoder &decoder, const Operand &operand, unsigned count) {
  std::string_view digits = operand.part;
  if (digits.empty())
    return static_cast<uint8_t>((1u << count) - 1);
  bool fits = digits[0] == (count == 2 ? 'h' : 'b') && digits.size() > 1;
  uint8_t mask = 0;
  unsigned before = count;
  for (char digit : digits.substr(1)) {
    auto number = static_cast<unsigned>(digit - '0');
    fits = fits && number < before;
    before = number;
    mask |= static_cast<uint8_t>(fits ? 1u << number : 0);
  }
  if (!fits)
    decoder.malformed("'." + std::string(digits) + "' is no mask of parts");
  return mask;
}

// What a vmad adds besides its operands: nothing, the one of .po, or that of a negation, of which PTX allows one.
enum class MadChange : uint8_t { None, PlusOne, NegateProduct, NegateC };

struct MadForm {
  bool signedA = false, signedB = false, saturates = false;
  MadChange change = MadChange::None;
  uint8_t shift = 0;
  ScalarParts parts;
};

// As PTX writes it down: a negation inverts and adds one.
uint32_t multiplyAdd(const MadForm &form, int64_t a, int64_t b, uint32_t c) {
  bool isSigned = form.signedA || form.signedB || form.change >= MadChange::NegateProduct;
  __int128 product = static_cast<__int128>(a) * b;
  bool adds = form.change != MadChange::None;
  if (form.change == MadChange::NegateProduct)
    product = ~product;
  else if (form.change == MadChange::NegateC)
    c = ~c;
  product += (isSigned ? int64_t{static_cast<int32_t>(c)} : int64_t{c}) + adds;
  __int128 result = product >> form.shift;
  if (form.saturates)
    result = isSigned ? std::clamp<__int128>(result, INT32_MIN, INT32_MAX)
                      : std::clamp<__int128>(result, 0, UINT32_MAX);
  return static_cast<uint32_t>(result);
}

void runMad(Warp &warp, const Op &op) {
  auto form = formOf<MadForm>(op);
  const uint32_t *a = warp.row<uint32_t>(op.rows[1]), *b = warp.row<uint32_t>(op.rows[2]),
                 *c = warp.row<uint32_t>(op.rows[3]);
  uint32_t *d = warp.row<uint32_t>(op.rows[0]);
  forLanes(warp.mask, [&](unsigned lane) {
    d[lane] = multiplyAdd(form, selected(a[lane], form.parts.a, form.signedA),
                          selected(b[lane], form.parts.b, form.signedB), c[lane]);
  });
}

} // namespace

ScalarParts takeScalarParts(Decoder &decoder, const Instruction &instruction) {
  forbidMinus(decoder, instruction);
  forbidPart(decoder, instruction, 3);
  decoder.wantOperands(instruction, 3, 4);
  return {partOf(decoder, instruction.operands[0]), partOf(decoder, instruction.operands[1]),
          partOf(decoder, instruction.operands[2])};
}

SimdParts takeSimdParts(Decoder &decoder, const Instruction &instruction, unsigned count) {
  forbidMinus(decoder, instruction);
  forbidPart(decoder, instruction, 3);
  decoder.wantOperands(instruction, 4);
  using Bytes = std::array<uint8_t, 2>;
  auto a = std::bit_cast<Bytes>(selections(decoder, instruction.operands[1], count, 0)),
       b = std::bit_cast<Bytes>(selections(decoder, instruction.operands[2], count, count));
  return {maskOf(decoder, instruction.operands[0], count), a, b};
}

void decodeVideoMad(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  auto takeSign = [&] {
    std::string_view type = suffixes.takeOneOf({"u32", "s32"});
    if (type.empty())
      decoder.unsupported("expected types .u32 or .s32");
    return type == "s32";
  };
  MadForm form;
  takeSign(); // of d: the operands say whether the result has a sign
  form.signedA = takeSign();
  form.signedB = takeSign();
  bool plusOne = suffixes.take("po");
  form.saturates = suffixes.take("sat");
  form.shift = suffixes.take("shr7") ? 7 : suffixes.take("shr15") ? 15 : 0;
  decoder.wantOperands(instruction, 4);
  const auto &operands = instruction.operands;
  forbidPart(decoder, instruction, 3);
  ScalarParts &parts = form.parts;
  parts = {partOf(decoder, operands[0]), partOf(decoder, operands[1]),
           partOf(decoder, operands[2])};
  bool negatesProduct = operands[1].minus != operands[2].minus, negatesC = operands[3].minus;
  bool negates = operands[1].minus || operands[2].minus || negatesC;
  if (parts.d != Part::Whole || operands[0].minus)
    decoder.malformed("the result of vmad is a whole register");
  if ((plusOne && negates) || (negatesProduct && negatesC))
    decoder.malformed("vmad negates either the product or c, and nothing with .po");
  form.change = plusOne          ? MadChange::PlusOne
                : negatesProduct ? MadChange::NegateProduct
                : negatesC       ? MadChange::NegateC
                                 : MadChange::None;
  auto source = [&](size_t i) { return decoder.source(operands[i], ScalarType::B32); };
  uint32_t a = source(1), b = source(2), c = source(3);
  decoder.emit(runMad, {decoder.target(operands[0], ScalarType::B32)}, {a, b, c}, 0, form);
}

} // namespace tile::vgpu
