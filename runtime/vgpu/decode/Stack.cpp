// alloca, stacksave, stackrestore: a stack for each thread at the bottom of its local memory, which grows down.
#include "runtime/vgpu/decode/Stack.h"

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/InitCheck.h"

#include <algorithm>
#include <bit>

namespace tile::vgpu {
namespace {

// The bytes of a thread's stack. CUDA's limit is its cudaLimitStackSize, 1 KiB unless a program asks for more; here no
// program can ask.
constexpr uint32_t kStackBytes = 16384, kLeastAlignment = 8;

// Rows: the result, where the stack ends, the size. Op::imm: the alignment.
template <class T> void allocate(Warp &warp, const Op &op) {
  uint64_t *stack = warp.row<uint64_t>(op.rows[1]);
  T *pointer = warp.row<T>(op.rows[0]);
  const T *size = warp.row<T>(op.rows[2]);
  if (warp.shadow)
    checkAddress(warp, op, op.rows[2]);
  forLanes(warp.mask, [&](unsigned lane) {
    uint64_t before = stack[lane];
    uint64_t after = (before - size[lane]) & ~(static_cast<uint64_t>(op.imm) - 1);
    if (size[lane] > before || after > before)
      warp.stop(op, FindingKind::OutOfBounds, lane,
                "alloca of " + std::to_string(size[lane]) + " bytes where " +
                    std::to_string(before) + " of the thread's stack of " +
                    std::to_string(kStackBytes) + " are left");
    stack[lane] = after;
    pointer[lane] = static_cast<T>(after);
    uint64_t bit = 0;
    if (warp.shadow) // what it held before is gone
      validBits(warp, Space::Local, after, lane, bit)->setRange(bit, before - after, false);
  });
  if (warp.shadow)
    for (uint32_t row : {op.rows[0], op.rows[1]})
      warp.shadow.set(row, kFullMask, warp.mask);
}

template <class T> void save(Warp &warp, const Op &op) {
  const uint64_t *stack = warp.row<uint64_t>(op.rows[1]);
  forLanes(warp.mask,
           [&](unsigned lane) { warp.row<T>(op.rows[0])[lane] = static_cast<T>(stack[lane]); });
}

template <class T> void restore(Warp &warp, const Op &op) {
  if (warp.shadow)
    checkAddress(warp, op, op.rows[1]);
  uint64_t *stack = warp.row<uint64_t>(op.rows[0]);
  const T *value = warp.row<T>(op.rows[1]);
  if (warp.shadow)
    warp.shadow.set(op.rows[0], kFullMask, warp.mask);
  forLanes(warp.mask, [&](unsigned lane) {
    if (value[lane] > kStackBytes)
      warp.stop(op, FindingKind::OutOfBounds, lane,
                "stackrestore of " + std::to_string(value[lane]) +
                    ", which no stacksave has given: the stack has " + std::to_string(kStackBytes) +
                    " bytes");
    stack[lane] = value[lane];
  });
}

ScalarType takeWidth(Decoder &decoder, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (type != ScalarType::U32 && type != ScalarType::U64)
    decoder.unsupported("expected .u32 or .u64");
  return type;
}

void decodeAlloca(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = takeWidth(decoder, suffixes);
  decoder.wantOperands(instruction, 2, 3);
  uint64_t alignment = kLeastAlignment;
  if (instruction.operands.size() == 3) {
    constexpr uint64_t kMostAlignment = 1 << 23;
    const Operand &operand = instruction.operands[2];
    if (operand.kind != Operand::Kind::Immediate || !std::has_single_bit(operand.value) ||
        operand.value > kMostAlignment)
      decoder.malformed("the alignment must be a constant power of two up to 8388608");
    alignment = std::max(alignment, operand.value);
  }
  uint32_t size = decoder.source(instruction.operands[1], type),
           pointer = decoder.target(instruction.operands[0], type);
  decoder.emit(type == ScalarType::U64 ? allocate<uint64_t> : allocate<uint32_t>,
               {pointer, decoder.stackPointer()}, {size}, static_cast<int64_t>(alignment), 0, 0,
               kOwnValidity | kAccumulates);
}

void decodeSave(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = takeWidth(decoder, suffixes);
  decoder.wantOperands(instruction, 1);
  decoder.emit(type == ScalarType::U64 ? save<uint64_t> : save<uint32_t>,
               {decoder.target(instruction.operands[0], type)}, {decoder.stackPointer()});
}

void decodeRestore(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = takeWidth(decoder, suffixes);
  decoder.wantOperands(instruction, 1);
  decoder.emit(type == ScalarType::U64 ? restore<uint64_t> : restore<uint32_t>,
               {decoder.stackPointer()}, {decoder.source(instruction.operands[0], type)}, 0, 0, 0,
               kOwnValidity);
}

void copyPointer(Warp &warp, const Op &op) {
  if (warp.shadow)
    warp.shadow.set(op.rows[0], kFullMask, warp.mask);
  forLanes(warp.mask, [&](unsigned lane) {
    warp.row<uint64_t>(op.rows[0])[lane] = warp.row<uint64_t>(op.rows[1])[lane];
  });
}

const OpcodeInfo kOpcodes[] = {
    {.name = "alloca", .decode = decodeAlloca, .requirements = {{"", 52, 73}}},
    {.name = "stacksave", .decode = decodeSave, .requirements = {{"", 52, 73}}},
    {.name = "stackrestore", .decode = decodeRestore, .requirements = {{"", 52, 73}}},
};

} // namespace

bool usesStack(const Function &function) {
  return std::ranges::any_of(function.body, [](const Instruction &instruction) {
    return std::ranges::count(kOpcodes, instruction.opcode, &OpcodeInfo::name) > 0;
  });
}

void beginStack(Decoder &decoder) {
  if (std::ranges::none_of(decoder.program().module->functions, usesStack))
    return;
  Program &program = decoder.program();
  program.localBytes = kStackBytes;
  program.lines.push_back({program.entry->line, {}, program.entry->name});
  decoder.emit(copyPointer, {decoder.stackPointer()}, {decoder.constant(kStackBytes, 8)});
}

uint32_t keepStack(Decoder &decoder) {
  uint32_t kept = decoder.temporary(8);
  decoder.emit(copyPointer, {kept}, {decoder.stackPointer()});
  return kept;
}

void giveBackStack(Decoder &decoder, uint32_t kept) {
  decoder.emit(copyPointer, {decoder.stackPointer()}, {kept});
}

OpcodeRows stackOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
