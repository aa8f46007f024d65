// Operands to rows, and what an instruction may not have as operands.
#include "runtime/vgpu/decode/OperandReader.h"

#include "runtime/vgpu/decode/BitShadow.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/ptx/PtxLexer.h"

#include <algorithm>

namespace tile::vgpu {

namespace {

// A narrower view of a 64-bit register, and back. The pieces have 32-bit lanes.
struct Narrow {
  uint32_t operator()(uint64_t value) const { return static_cast<uint32_t>(value); }
};
struct WidenUnsigned {
  uint64_t operator()(uint32_t value) const { return value; }
};
struct WidenSigned {
  int64_t operator()(int32_t value) const { return value; }
};

struct AddOffset {
  uint64_t operator()(uint64_t base, uint64_t offset) const { return base + offset; }
};

void invertPredicate(Warp &warp, const Op &op) {
  mergeMask(warp.predicate(op.rows[0]), ~warp.predicate(op.rows[1]), warp.mask);
}

} // namespace

void OperandReader::checkRegister(const Operand &operand, ScalarType type) const {
  const PtxType &own = frame_->function->registers[operand.reg];
  unsigned wanted = bytesOf(type);
  bool mayBeWider = opcode_->takesWiderRegisters && !std::ranges::count(current_->suffix, "bf16");
  if (own.bytes > wanted && wanted > 0 && !mayBeWider)
    malformed("'" + std::string(operand.name) + "' is " + std::to_string(8 * own.bytes) +
              " bits wide, the instruction uses " + std::to_string(8 * wanted));
  bool isPair = type == ScalarType::F16x2 || type == ScalarType::BF16x2;
  if (own.isFloat && (isPair || isInteger(type)))
    malformed("'" + std::string(operand.name) + "' is declared as .f" +
              std::to_string(8 * own.bytes) + ", the instruction uses " +
              (isPair ? "pairs of halves" : "integers"));
}

uint32_t OperandReader::source(const Operand &operand, ScalarType type) {
  unsigned bytes = 0;
  uint32_t row = sourceAnyWidth(operand, type, bytes);
  unsigned wanted = bytesOf(type);
  if (operand.kind == Operand::Kind::Register)
    checkRegister(operand, type);
  if (bytes == 8 && wanted < 8 && wanted > 0) {
    uint32_t narrow = temporary(4);
    emit(bitOp<Narrow, 1, uint32_t, uint64_t>(), {narrow}, {row});
    return narrow;
  }
  if (bytes < wanted && bytes != 0)
    malformed("operand '" + std::string(operand.name) + "' is " + std::to_string(8 * bytes) +
              " bits wide, the instruction needs " + std::to_string(8 * wanted));
  if ((bytes == 0) != (wanted == 0))
    malformed(wanted == 0 ? "expected a predicate" : "a predicate is no operand here");
  return row;
}

uint32_t OperandReader::wideAddress(const Operand &operand) {
  Address place = address(operand);
  if (place.bytes == 8 && place.offset == 0)
    return place.row;
  uint32_t row = temporary(8), offset = constant(static_cast<uint64_t>(place.offset), 8);
  emit(place.bytes == 8 ? laneOp<AddOffset, uint64_t, uint64_t, uint64_t>
                        : laneOp<AddOffset, uint64_t, uint32_t, uint64_t>,
       {row}, {place.row, offset});
  return row;
}

// A literal has the type of the instruction: for f32 doubles are narrowed, for f64 singles widened. Bits have the width of
// their type.
uint64_t OperandReader::floatLiteral(const Operand &operand, ScalarType type) const {
  bool converts = type == ScalarType::F32 || type == ScalarType::F64;
  bool isWord = type == ScalarType::B32 || type == ScalarType::B64;
  if (!converts && !(isWord && operand.floatBytes == bytesOf(type)))
    malformed("a float of " + std::to_string(8 * operand.floatBytes) + " bits is no operand here");
  return floatBits(operand.value, operand.floatBytes, bytesOf(type));
}

uint32_t OperandReader::sourceAnyWidth(const Operand &operand, ScalarType type, unsigned &bytes) {
  unsigned wanted = bytesOf(type);
  bytes = wanted == 8 ? 8 : wanted == 0 ? 0 : 4;
  switch (operand.kind) {
  case Operand::Kind::Register:
    if (operand.negated && !frame_->function->registers[operand.reg].isPredicate())
      malformed("'!' needs a predicate");
    bytes = frame_->function->registers[operand.reg].bytes;
    if (bytes == 16)
      malformed("'" + std::string(operand.name) + "' is 128 bits wide");
    return operand.negated ? predicate(operand) : frame_->rows[operand.reg];
  case Operand::Kind::Immediate:
    if (wanted == 0)
      return constant(operand.value ? kFullMask : 0, 0);
    if (isFloat(type))
      malformed("a number of a float instruction is a float such as 1.0 or 0f3f800000");
    return constant(wanted == 8 ? operand.value : static_cast<uint32_t>(operand.value), wanted);
  case Operand::Kind::Float:
    return constant(floatLiteral(operand, type), wanted);
  case Operand::Kind::Special: {
    uint32_t row = specialRow(operand);
    if (wanted != 8)
      return row;
    uint32_t wide = temporary(8);
    emit(bitOp<WidenUnsigned, 1, uint64_t, uint32_t>(), {wide}, {row});
    return wide;
  }
  case Operand::Kind::Symbol: {
    std::optional<Space> space;
    uint64_t address = symbolAddress(operand, space);
    return addressConstant(address, space, wanted);
  }
  default:
    malformed("operand form is not allowed here");
  }
}

uint32_t OperandReader::target(const Operand &operand, ScalarType type) {
  unsigned wanted = bytesOf(type);
  if (operand.kind == Operand::Kind::Sink)
    return sink(wanted);
  if (operand.kind != Operand::Kind::Register)
    malformed("the result '" + std::string(operand.name) + "' is not a declared register");
  unsigned bytes = frame_->function->registers[operand.reg].bytes;
  if ((bytes == 0) != (wanted == 0))
    malformed("result '" + std::string(operand.name) + "' has the wrong kind of register");
  if (bytes == 16)
    malformed("result '" + std::string(operand.name) + "' is 128 bits wide");
  if (bytes < wanted)
    malformed("result '" + std::string(operand.name) + "' is " + std::to_string(8 * bytes) +
              " bits wide, the instruction writes " + std::to_string(8 * wanted));
  checkRegister(operand, type);
  uint32_t row = frame_->rows[operand.reg];
  if (bytes == 8 && wanted < 8) {
    uint32_t narrow = temporary(4);
    widenings_.push_back({row, narrow, type});
    return narrow;
  }
  return row;
}

void OperandReader::widenResults() {
  for (const Widening &widening : widenings_)
    emit(isSigned(widening.type) ? bitOp<WidenSigned, 1, int64_t, int32_t>()
                                 : bitOp<WidenUnsigned, 1, uint64_t, uint32_t>(),
         {widening.wide}, {widening.narrow});
}

std::array<uint32_t, 2> OperandReader::halves(const Operand &operand) {
  if (operand.kind == Operand::Kind::Sink)
    return {sink(8), sink(8)};
  if (operand.kind != Operand::Kind::Register ||
      frame_->function->registers[operand.reg].bytes != 16)
    malformed("'" + std::string(operand.name) + "' is no .b128 register");
  uint32_t row = frame_->rows[operand.reg];
  return {row, row + 2 * kRowBytes};
}

uint32_t OperandReader::predicate(const Operand &operand) {
  if (operand.kind != Operand::Kind::Register) {
    unsigned bytes = 0;
    return sourceAnyWidth(operand, ScalarType::Pred, bytes);
  }
  if (!frame_->function->registers[operand.reg].isPredicate())
    malformed("'" + std::string(operand.name) + "' is not a predicate");
  uint32_t row = frame_->rows[operand.reg];
  if (!operand.negated)
    return row;
  uint32_t inverted = temporary(0);
  emit(invertPredicate, {inverted}, {row});
  return inverted;
}

bool OperandReader::isPredicate(const Operand &operand) const {
  return operand.kind == Operand::Kind::Register &&
         frame_->function->registers[operand.reg].isPredicate();
}

OperandReader::Address OperandReader::address(const Operand &operand) {
  if (operand.kind != Operand::Kind::Address)
    malformed("expected an address in brackets");
  if (operand.parts.size() != 1)
    unsupported("an address with coordinates");
  const Operand &base = operand.parts[0];
  Address result;
  result.offset = static_cast<int64_t>(operand.value);
  switch (base.kind) {
  case Operand::Kind::Register:
    result.row = frame_->rows[base.reg];
    result.bytes = frame_->function->registers[base.reg].bytes;
    if (result.bytes < 4)
      malformed("address register '" + std::string(base.name) + "' is narrower than 32 bits");
    return result;
  case Operand::Kind::Immediate:
    result.always = base.value;
    break;
  case Operand::Kind::Symbol:
    result.always = symbolAddress(base, result.known);
    break;
  default:
    malformed("this form of address is not understood");
  }
  result.row = addressConstant(*result.always, result.known, 8);
  *result.always += static_cast<uint64_t>(result.offset);
  return result;
}

Space OperandReader::spaceOf(Space written, const Address &address) const {
  Space own = address.known.value_or(written);
  if (own == Space::Param && written != own)
    malformed("a parameter of the kernel is read by ld.param");
  if (written == Space::Generic)
    return own;
  // Variables named `.param` in a function body live in local memory; a kernel's own are parameters.
  bool isLocalParam = written == Space::Param && own == Space::Local;
  bool isConstant = written == Space::Global && own == Space::Const;
  if (own != written && !isLocalParam && !isConstant)
    malformed("the variable is in ." + std::string(nameOf(own)) + " memory, not in ." +
              nameOf(written));
  return own;
}

void OperandReader::wantOperandsAndPolicy(const Instruction &instruction, size_t count,
                                          bool hasPolicy) const {
  wantOperands(instruction, count + hasPolicy);
  if (!hasPolicy)
    return;
  const Operand &policy = instruction.operands.back();
  if (policy.kind != Operand::Kind::Register ||
      frame_->function->registers[policy.reg].bytes != sizeof(uint64_t))
    malformed("the last operand of .L2::cache_hint is the policy, a register of 64 bits");
}

} // namespace tile::vgpu
