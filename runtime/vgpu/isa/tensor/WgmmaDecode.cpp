// The forms of wgmma: shapes, types, operands.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/isa/tensor/WgmmaForm.h"
#include "runtime/vgpu/ptx/ModifierWords.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

struct TypeRow {
  std::string_view name;
  TensorElement element;
};
constexpr TypeRow kElements[] = {{"f16", TensorElement::F16},   {"bf16", TensorElement::BF16},
                                 {"tf32", TensorElement::TF32}, {"e4m3", TensorElement::E4M3},
                                 {"e5m2", TensorElement::E5M2}, {"u8", TensorElement::U8},
                                 {"s8", TensorElement::S8}};

TensorElement takeElement(Decoder &decoder, Suffixes &suffixes) {
  // In the order of the text: D's type has been taken.
  std::string_view name = suffixes.takeOneOf({"f16", "bf16", "tf32", "e4m3", "e5m2", "u8", "s8"});
  auto row = std::ranges::find(kElements, name, &TypeRow::name);
  if (row == std::end(kElements))
    decoder.unsupported("expected element types f16, bf16, tf32, e4m3, e5m2, u8, s8 or b1");
  return row->element;
}

bool isInteger(TensorElement element) {
  return element == TensorElement::U8 || element == TensorElement::S8;
}
bool isFp8(TensorElement element) {
  return element == TensorElement::E4M3 || element == TensorElement::E5M2;
}

// m64nNkK: N by steps of 8, of integers 8, 16, 24, 32 and then steps of 16; K is 32 bytes.
void takeShape(Decoder &decoder, Suffixes &suffixes, WgmmaForm &form, std::string_view shape) {
  size_t n = shape.find('n'), k = shape.find('k');
  unsigned columns = 0, depth = 0;
  if (n != shape.npos && k != shape.npos && shape.starts_with("m64n")) {
    columns = static_cast<unsigned>(std::atoi(std::string(shape.substr(n + 1, k - n - 1)).c_str()));
    depth = static_cast<unsigned>(std::atoi(std::string(shape.substr(k + 1)).c_str()));
  }
  bool integers = isInteger(form.a);
  bool known = columns >= 8 && columns <= 256 && columns % 8 == 0 &&
               (!integers || columns <= 32 || columns % 16 == 0);
  constexpr unsigned kBitsOfByte = 8;
  if (!known || depth != form.product().depth() * (form.isBits     ? kBitsOfByte
                                                   : form.isSparse ? 2
                                                                   : 1))
    decoder.unsupported("this shape with these types");
  form.blocks = static_cast<uint8_t>(columns / kBlockColumns);
}

void takeTypes(Decoder &decoder, Suffixes &suffixes, WgmmaForm &form) {
  std::string_view d = suffixes.takeOneOf({"f32", "f16", "s32"});
  if (suffixes.take("b1")) {
    if (d != "s32" || !suffixes.take("b1") || !suffixes.take("and") || !suffixes.take("popc"))
      decoder.unsupported("expected .s32.b1.b1.and.popc");
    form.isBits = true;
    form.a = form.b = TensorElement::U8;
    form.sum = SumType::S32;
    return;
  }
  form.a = takeElement(decoder, suffixes);
  form.b = takeElement(decoder, suffixes);
  TensorElement a = form.a, b = form.b;
  bool saturates = suffixes.take("satfinite");
  form.sum = d == "f32"   ? SumType::F32
             : d == "f16" ? SumType::F16
             : saturates  ? SumType::S32Saturated
                          : SumType::S32;
  bool matches = a == b || (isFp8(a) && isFp8(b)) || (isInteger(a) && isInteger(b));
  bool sumMatches = isInteger(a) ? d == "s32"
                    : d == "f16" ? a == TensorElement::F16 || isFp8(a)
                                 : d == "f32";
  if (!matches || !sumMatches || (saturates && !isInteger(a)))
    decoder.unsupported("this combination of types");
}

bool constantFlag(Decoder &decoder, const Operand &operand, const char *what) {
  if (operand.kind != Operand::Kind::Immediate || operand.value > 1)
    decoder.malformed(std::string(what) + " must be the constant 0 or 1");
  return operand.value;
}

bool isNegative(Decoder &decoder, const Operand &operand) {
  auto value = static_cast<int64_t>(operand.value);
  if (operand.kind != Operand::Kind::Immediate ||
      (static_cast<int32_t>(value) != 1 && static_cast<int32_t>(value) != -1))
    decoder.malformed("imm-scale must be the constant 1 or -1");
  return static_cast<int32_t>(value) == -1;
}

// Operands: D, A, B{, metadata, selector}, scale-d{, imm-scale-a, imm-scale-b{, imm-trans-a}{, imm-trans-b}}.
void decodeMatrix(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  WgmmaForm form;
  form.isSparse = suffixes.take("sp");
  bool whole = suffixes.take("sync") && suffixes.take("aligned");
  if (!whole || suffixes.empty())
    decoder.unsupported("expected wgmma.mma_async.sync.aligned.SHAPE.TYPES");
  std::string_view shape = suffixes.takePrefix("m64n");
  takeTypes(decoder, suffixes, form);
  takeShape(decoder, suffixes, form, shape);
  const auto &operands = instruction.operands;
  size_t after = form.isSparse ? 5 : 3; // where scale-d is
  decoder.wantOperands(instruction, after + 1, after + 5);
  form.aInRegisters = operands[1].kind == Operand::Kind::Vector;
  bool scales = !isInteger(form.a);
  bool transposes = form.a == TensorElement::F16 || form.a == TensorElement::BF16;
  size_t transposable = transposes ? (form.aInRegisters ? 1 : 2) : 0;
  decoder.wantOperands(instruction, after + 1 + 2 * scales + transposable);
  if (form.isSparse)
    form.selector = takeSelector(decoder, operands[4], form.sparsity());
  if (scales)
    form.negates =
        isNegative(decoder, operands[after + 1]) != isNegative(decoder, operands[after + 2]);
  if (transposable == 2)
    form.transA = constantFlag(decoder, operands[after + 3], "imm-trans-a");
  if (transposable)
    form.transB = constantFlag(decoder, operands[after + 2 + transposable], "imm-trans-b");
  unsigned perBlock = form.sum == SumType::F16 ? 2 : 4;
  if (operands[0].parts.size() != form.blocks * perBlock)
    decoder.malformed("D has " + std::to_string(operands[0].parts.size()) + " registers, " +
                      std::string(shape) + " needs " + std::to_string(form.blocks * perBlock));
  std::vector<uint32_t> targets, sources;
  for (const Operand &part : operands[0].parts)
    targets.push_back(decoder.target(part, ScalarType::B32));
  if (form.aInRegisters) {
    if (operands[1].parts.size() != kRegistersOfA)
      decoder.malformed("A in registers needs 4 of them");
    for (const Operand &part : operands[1].parts)
      sources.push_back(decoder.source(part, ScalarType::B32));
  } else {
    sources.push_back(decoder.source(operands[1], ScalarType::B64));
  }
  if (form.isSparse)
    sources.push_back(decoder.source(operands[3], ScalarType::B32));
  sources.push_back(decoder.source(operands[2], ScalarType::B64));
  const Operand &scale = operands[after];
  sources.push_back(scale.kind == Operand::Kind::Immediate
                        ? decoder.constant(scale.value ? kFullMask : 0, 0)
                        : decoder.predicate(scale));
  decoder.emitWide(runWgmma, targets, sources, 0, form, kOwnValidity | kControl | kAccumulates);
  decoder.program().usesWgmma = true;
}

void decodeWgmma(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("mma_async"))
    return decodeMatrix(decoder, instruction, suffixes);
  Handler handler = suffixes.take("fence")          ? runWgmmaFence
                    : suffixes.take("commit_group") ? runWgmmaCommit
                    : suffixes.take("wait_group")   ? runWgmmaWait
                                                    : nullptr;
  bool whole = suffixes.take("sync") && suffixes.take("aligned");
  if (!handler || !whole)
    decoder.unsupported("expected wgmma.mma_async, .fence, .commit_group or .wait_group with "
                        ".sync.aligned");
  int64_t groups = 0;
  decoder.wantOperands(instruction, handler == runWgmmaWait ? 1 : 0);
  if (handler == runWgmmaWait) {
    if (instruction.operands[0].kind != Operand::Kind::Immediate)
      decoder.malformed("the number of groups must be a constant");
    groups = static_cast<int64_t>(instruction.operands[0].value);
  }
  decoder.emit(handler, {}, {}, groups, 0, 0, kOwnValidity);
}

TimeForm timeOfWgmma(const Instruction &instruction) {
  TimeForm form = {.kind = TimeKind::Wgmma, .cost = Cost::Issue, .makesFloats = true};
  if (hasWord(instruction, "mma_async")) {
    form.pipe = Pipe::Tensor;
    for (std::string_view word : instruction.suffix)
      if (word.starts_with("m64n"))
        form.number = static_cast<uint16_t>(std::atoi(std::string(word.substr(4)).c_str()));
    form.flag =
        instruction.operands.size() > 1 && instruction.operands[1].kind == Operand::Kind::Vector;
    return form;
  }
  form.pipe = Pipe::Sync;
  form.kind = hasWord(instruction, "fence")          ? TimeKind::WgmmaFence
              : hasWord(instruction, "commit_group") ? TimeKind::WgmmaCommit
                                                     : TimeKind::WgmmaWait;
  if (form.kind == TimeKind::WgmmaWait && !instruction.operands.empty())
    form.number = static_cast<uint16_t>(instruction.operands[0].value);
  return form;
}

const OpcodeInfo kOpcodes[] = {
    {.name = "wgmma",
     .decode = decodeWgmma,
     .time = timeOfWgmma,
     .kind = always<InstructionClass::Tensor>,
     .orders = {{"fence commit_group wait_group mma_async > sp > sync | aligned | m* | satfinite | "
                 "f16 f32 s32 > " TILE_FRAGMENTS " > " TILE_FRAGMENTS " > and > popc | satfinite"}},
     .requirements = {{"", 90, 80, true},
                      {"sp", 90, 82, true},
                      {"s8.u8", 90, 84, true},
                      {"u8.s8", 90, 84, true}},
     .warps = kWarpsOfGroup},
};

} // namespace

OpcodeRows wgmmaOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
