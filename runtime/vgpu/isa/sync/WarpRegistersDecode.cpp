// The syntax of setmaxnreg.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/machine/WarpRegisters.h"

namespace tile::vgpu {

static void decodeSetmaxnreg(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view direction = suffixes.takeOneOf({"inc", "dec"});
  bool whole = suffixes.take("sync") && suffixes.take("aligned");
  if (direction.empty() || !whole || suffixes.takeType() != ScalarType::U32)
    decoder.unsupported("expected setmaxnreg.{inc,dec}.sync.aligned.u32");
  decoder.wantOperands(instruction, 1);
  const Operand &count = instruction.operands[0];
  if (count.kind != Operand::Kind::Immediate || count.value < 24 || count.value > 256 ||
      count.value % kRegisterStep)
    decoder.malformed("the number of registers must be a constant multiple of 8 from 24 to 256");
  decoder.emit(setRegisters, {}, {}, static_cast<int64_t>(count.value),
               RegisterChange{direction == "inc"});
}

static const OpcodeInfo kOpcodes[] = {
    {.name = "setmaxnreg",
     .decode = decodeSetmaxnreg,
     .time = alwaysTakes<TimeKind::ChangeRegisters, Cost::Issue>,
     .kind = always<InstructionClass::Other>,
     .orders = {{"inc dec > sync | aligned | u32"}},
     .requirements = {{"", 90, 80, true}}},
};

OpcodeRows warpRegistersOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
