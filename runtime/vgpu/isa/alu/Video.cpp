// vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset, and the same of halves and bytes with vavrg.
//
// Parts are extended by the types of their operands, results are exact numbers that are clamped if the instruction says so,
// and cut off otherwise. What selects them is in VideoParts.h. The assembler makes these instructions of others, not always
// to the letter of PTX: where results of a GPU show it, they are followed, as the comments below say.
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/isa/alu/VideoParts.h"
#include "runtime/vgpu/machine/Lanes.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace tile::vgpu {
namespace {

enum class Operation : uint8_t {
  Add,
  Sub,
  AbsDiff,
  Min,
  Max,
  Average,
  ShiftLeft,
  ShiftRight,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge
};
enum class Second : uint8_t { None, Add, Min, Max };

// What an instruction computes, in three bytes, so that an operation has room for the parts it works on.
struct Form {
  Operation operation = Operation::Add;
  Second second = Second::None;
  uint8_t parts : 3 = 1; // in a register
  bool signedD : 1 = false, signedA : 1 = false, signedB : 1 = false;
  bool saturates : 1 = false;
  bool wraps : 1 = false; // shifts: the count, which otherwise is clamped

  unsigned bits() const { return 32u / parts; }
};
struct ScalarForm {
  Form form;
  ScalarParts parts;
};
struct SimdForm {
  Form form;
  SimdParts parts;
};

int64_t apply(const Form &form, int64_t a, int64_t b) {
  int64_t count = form.wraps ? b & 31 : std::min<int64_t>(b, 32);
  switch (form.operation) {
  case Operation::Add:
    return a + b;
  case Operation::Sub:
    return a - b;
  case Operation::AbsDiff:
    return std::abs(a - b);
  case Operation::Min:
    return std::min(a, b);
  case Operation::Max:
    return std::max(a, b);
  case Operation::Average: // halves round up, those of negative sums toward zero
    return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
  case Operation::ShiftLeft:
    return static_cast<int64_t>(static_cast<uint64_t>(a) << count);
  case Operation::ShiftRight:
    return a >> count;
  case Operation::Eq:
    return a == b;
  case Operation::Ne:
    return a != b;
  case Operation::Lt:
    return a < b;
  case Operation::Le:
    return a <= b;
  case Operation::Gt:
    return a > b;
  default:
    return a >= b;
  }
}

int64_t saturated(const Form &form, int64_t value, unsigned bits) {
  if (!form.saturates)
    return value;
  int64_t most = (int64_t{1} << (bits - form.signedD)) - 1;
  return std::clamp(value, form.signedD ? -most - 1 : int64_t{0}, most);
}

bool isShift(Operation operation) {
  return operation == Operation::ShiftLeft || operation == Operation::ShiftRight;
}

// Clamps the result of an instruction on one part of each register. A shift is clamped to the whole register, as a number of
// 34 bits. A result for a part of d is clamped from above alone, as a number without sign.
int64_t saturatedWhole(const Form &form, Part target, int64_t value) {
  constexpr int kBeyond = 64 - 34;
  if (isShift(form.operation))
    return saturated(form, static_cast<int64_t>(static_cast<uint64_t>(value) << kBeyond) >> kBeyond,
                     32);
  if (form.saturates && target != Part::Whole)
    return saturated(form, value < 0 ? INT64_MAX : value, bitsOf(target));
  return saturated(form, value, 32);
}

// A secondary minimum or maximum sees 32 bits of sums and differences, with sign; it compares without sign if d has none.
uint32_t secondary(const Form &form, int64_t value, uint32_t c) {
  if (form.second == Second::None || form.second == Second::Add)
    return static_cast<uint32_t>(value) + (form.second == Second::Add ? c : 0);
  if (form.operation == Operation::Add || form.operation == Operation::Sub)
    value = static_cast<int32_t>(value);
  int64_t other = extend(c, 0, 32, form.signedD);
  bool isLess =
      form.signedD ? value < other : static_cast<uint64_t>(value) < static_cast<uint64_t>(other);
  return isLess == (form.second == Second::Min) ? static_cast<uint32_t>(value) : c;
}

// The secondary operation combines the result with c, or the result takes a part's place in c.
uint32_t whole(const Form &form, const ScalarParts &parts, uint32_t a, uint32_t b, uint32_t c) {
  int64_t value = saturatedWhole(
      form, parts.d,
      apply(form, selected(a, parts.a, form.signedA), selected(b, parts.b, form.signedB)));
  return parts.d != Part::Whole ? merged(static_cast<uint32_t>(value), parts.d, c)
                                : secondary(form, value, c);
}

// Puts the results of several parts in their places, c's where the mask has none; or adds those in the mask to c.
uint32_t partwise(const Form &form, const SimdParts &parts, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t ones = (1u << form.bits()) - 1, result = c;
  for (unsigned part = 0; part < form.parts; ++part) {
    if (!(parts.mask >> part & 1))
      continue;
    auto value = static_cast<uint32_t>(
        saturated(form,
                  apply(form, SimdParts::of(parts.a(), part, form.parts, a, b, form.signedA),
                        SimdParts::of(parts.b(), part, form.parts, a, b, form.signedB)),
                  form.bits()));
    uint32_t place = ones << (part * form.bits());
    if (form.second == Second::Add)
      result += value;
    else
      result = (result & ~place) | (value << (part * form.bits()) & place);
  }
  return result;
}

// Rows: d, a, b, c.
template <class VideoForm, auto compute> void runVideo(Warp &warp, const Op &op) {
  auto [form, parts] = formOf<VideoForm>(op);
  const uint32_t *a = warp.row<uint32_t>(op.rows[1]), *b = warp.row<uint32_t>(op.rows[2]),
                 *c = warp.row<uint32_t>(op.rows[3]);
  uint32_t *d = warp.row<uint32_t>(op.rows[0]);
  forLanes(warp.mask,
           [&](unsigned lane) { d[lane] = compute(form, parts, a[lane], b[lane], c[lane]); });
}

bool takeSign(Decoder &decoder, Suffixes &suffixes) {
  std::string_view type = suffixes.takeOneOf({"u32", "s32"});
  if (type.empty())
    decoder.unsupported("expected types .u32 or .s32");
  return type == "s32";
}

void takeShiftMode(Decoder &decoder, Suffixes &suffixes, Form &form) {
  std::string_view mode = suffixes.takeOneOf({"clamp", "wrap"});
  if (mode.empty() || form.signedB)
    decoder.unsupported("a shift takes its count as .u32 and says .clamp or .wrap");
  form.wraps = mode == "wrap";
}

Operation takeComparison(Decoder &decoder, Suffixes &suffixes) {
  for (auto [name, operation] : {std::pair("eq", Operation::Eq), std::pair("ne", Operation::Ne),
                                 std::pair("lt", Operation::Lt), std::pair("le", Operation::Le),
                                 std::pair("gt", Operation::Gt), std::pair("ge", Operation::Ge)})
    if (suffixes.take(name))
      return operation;
  decoder.unsupported("expected a comparison .eq, .ne, .lt, .le, .gt or .ge");
}

Second takeSecond(Suffixes &suffixes, unsigned parts) {
  if (suffixes.take("add"))
    return Second::Add;
  if (parts == 1 && suffixes.take("min"))
    return Second::Min;
  return parts == 1 && suffixes.take("max") ? Second::Max : Second::None;
}

// vset is registered as a comparison, Eq; which one it is the suffixes say, and `takeComparison` reads.
template <Operation operation, unsigned parts = 1>
void decodeVideo(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  Form form;
  form.parts = parts;
  form.operation = operation;
  constexpr bool compares = operation == Operation::Eq;
  form.signedD = !compares && takeSign(decoder, suffixes);
  form.signedA = takeSign(decoder, suffixes);
  form.signedB = takeSign(decoder, suffixes);
  form.saturates = suffixes.take("sat");
  if (isShift(form.operation))
    takeShiftMode(decoder, suffixes, form);
  if (compares)
    form.operation = takeComparison(decoder, suffixes);
  form.second = takeSecond(suffixes, form.parts);
  if (form.parts > 1 && form.second == Second::Add && form.saturates)
    decoder.unsupported(".add does not go with .sat");
  bool isSimd = form.parts > 1, merges = isSimd;
  ScalarParts scalar;
  SimdParts simd;
  if (isSimd) {
    simd = takeSimdParts(decoder, instruction, form.parts);
  } else {
    scalar = takeScalarParts(decoder, instruction);
    merges = scalar.d != Part::Whole;
    if (merges && form.second != Second::None)
      decoder.malformed("a part of the result does not go with a secondary operation");
  }
  bool hasC = merges || form.second != Second::None;
  decoder.wantOperands(instruction, 3u + hasC);
  auto source = [&](size_t i) { return decoder.source(instruction.operands[i], ScalarType::B32); };
  uint32_t a = source(1), b = source(2);
  // c counts only where something of it stays.
  bool readsC =
      hasC && (!isSimd || form.second != Second::None || simd.mask != (1u << form.parts) - 1);
  uint32_t c = readsC ? source(3) : decoder.constant(0, 4);
  uint32_t d = decoder.target(instruction.operands[0], ScalarType::B32);
  if (isSimd)
    decoder.emit(runVideo<SimdForm, partwise>, {d}, {a, b, c}, 0, SimdForm{form, simd});
  else
    decoder.emit(runVideo<ScalarForm, whole>, {d}, {a, b, c}, 0, ScalarForm{form, scalar});
}

const OpcodeInfo kOpcodes[] = {
    {"vadd", decodeVideo<Operation::Add>},
    {"vadd2", decodeVideo<Operation::Add, 2>},
    {"vadd4", decodeVideo<Operation::Add, 4>},
    {"vsub", decodeVideo<Operation::Sub>},
    {"vsub2", decodeVideo<Operation::Sub, 2>},
    {"vsub4", decodeVideo<Operation::Sub, 4>},
    {"vabsdiff", decodeVideo<Operation::AbsDiff>},
    {"vabsdiff2", decodeVideo<Operation::AbsDiff, 2>},
    {"vabsdiff4", decodeVideo<Operation::AbsDiff, 4>},
    {"vmin", decodeVideo<Operation::Min>},
    {"vmin2", decodeVideo<Operation::Min, 2>},
    {"vmin4", decodeVideo<Operation::Min, 4>},
    {"vmax", decodeVideo<Operation::Max>},
    {"vmax2", decodeVideo<Operation::Max, 2>},
    {"vmax4", decodeVideo<Operation::Max, 4>},
    {"vset", decodeVideo<Operation::Eq>},
    {"vset2", decodeVideo<Operation::Eq, 2>},
    {"vset4", decodeVideo<Operation::Eq, 4>},
    {"vavrg2", decodeVideo<Operation::Average, 2>},
    {"vavrg4", decodeVideo<Operation::Average, 4>},
    {"vshl", decodeVideo<Operation::ShiftLeft>},
    {"vshr", decodeVideo<Operation::ShiftRight>},
    {"vmad", decodeVideoMad},
};

} // namespace

OpcodeRows videoOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
