// mov.b128, atom.exch.b128, atom.cas.b128.
#include "runtime/vgpu/isa/alu/WideRegisters.h"

#include "runtime/vgpu/decode/BitShadow.h"
#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/InitCheck.h"

namespace tile::vgpu {
namespace {

struct Copy {
  uint64_t operator()(uint64_t value) const { return value; }
};

using Halves = std::array<uint32_t, 2>;

constexpr uint32_t kHalfBytes = 8;

// The old value is initialised if the memory is, and the memory afterwards if all that takes part is.
template <bool Compares>
void updateValidity(Warp &warp, const Op &op, const Access &access, unsigned lane) {
  uint64_t bit = 0;
  ValidBits *bits = validBits(warp, access.space, access.address[lane], lane, bit);
  bool wasGood = !bits || (bits->get(bit, kHalfBytes) & bits->get(bit + kHalfBytes, kHalfBytes)) ==
                              (1u << kHalfBytes) - 1;
  bool good = wasGood || !Compares;
  for (unsigned i = 3; i < op.targets + op.sources; ++i)
    good &= warp.shadow.whole(op.rows[i]) >> lane & 1;
  if (!good && access.space == Space::Global)
    warp.report(op, FindingKind::Uninitialised, lane,
                unwrittenText(warp, "an atomic operation on global memory"));
  if (bits)
    bits->setRange(bit, 2 * kHalfBytes, good || access.space == Space::Global);
  for (unsigned half = 0; half < 2; ++half)
    warp.shadow.set(op.rows[half], wasGood ? kFullMask : 0, 1u << lane);
}

// Rows: old value, address, b{, c}: halves, the low one first.
template <bool Compares> void wideAtomic(Warp &warp, const Op &op) {
  constexpr unsigned kAddress = 2, kB = 3, kLast = Compares ? 5 : 3;
  Access all;
  auto form = formOf<AtomicForm>(op);
  all.space = form.space;
  all.mask = warp.mask;
  all.bytes = 2 * kHalfBytes;
  all.kind = form.kind();
  all.order = form.order;
  readAddresses(warp, op.rows[kAddress], form.isWide, op.imm, all.address);
  if (warp.shadow)
    checkAddress(warp, op, op.rows[kAddress]);
  auto pairAt = [&](unsigned row, unsigned lane) {
    return std::array{warp.row<uint64_t>(op.rows[row])[lane],
                      warp.row<uint64_t>(op.rows[row + 1])[lane]};
  };
  forSpaces(warp, op, all, [&](Access &access) {
    checkRaces(warp, op, access, 0);
    bool changes = false;
    forLanes(access.mask, [&](unsigned lane) {
      std::array<uint64_t, 2> old, expected = pairAt(kB, lane), wanted = pairAt(kLast, lane);
      std::memcpy(&old, access.host[lane], sizeof old);
      if (warp.shadow)
        updateValidity<Compares>(warp, op, access, lane);
      if (!Compares || old == expected) {
        std::memcpy(access.host[lane], &wanted, sizeof wanted);
        changes |= wanted != old;
      }
      for (unsigned half = 0; half < 2; ++half)
        warp.row<uint64_t>(op.rows[half])[lane] = old[half];
    });
    if (!changes) // a lock that is taken: whoever waits for it learns nothing new
      takeBackWrite(warp, access);
  });
}

// The rows of a register, or of two in braces.
template <class RowOf> Halves halvesOf(Decoder &decoder, const Operand &operand, RowOf rowOf) {
  if (operand.kind != Operand::Kind::Vector)
    return decoder.halves(operand);
  if (operand.parts.size() != 2)
    decoder.unsupported("128 bits in other parts than two of 64");
  return {rowOf(operand.parts[0]), rowOf(operand.parts[1])};
}

} // namespace

void decodeWideMove(Decoder &decoder, const Instruction &instruction) {
  Halves from = halvesOf(decoder, instruction.operands[1], [&](const Operand &part) {
    return decoder.source(part, ScalarType::B64);
  });
  Halves to = halvesOf(decoder, instruction.operands[0],
                       [&](const Operand &part) { return decoder.target(part, ScalarType::B64); });
  for (unsigned half = 0; half < 2; ++half)
    decoder.emit(bitOp<Copy, 1, uint64_t, uint64_t>(), {to[half]}, {from[half]});
}

void emitWideAtomic(Decoder &decoder, const Instruction &instruction, WideAtomic form) {
  bool compares = form.operation == "cas";
  if (!form.returns || (!compares && form.operation != "exch"))
    decoder.unsupported("of .b128 there are atom.exch and atom.cas");
  decoder.wantOperandsAndPolicy(instruction, 3u + compares, form.hasPolicy);
  const auto &operands = instruction.operands;
  Decoder::Address address = decoder.address(operands[1]);
  form.atomic.space = decoder.spaceOf(form.atomic.space, address);
  form.atomic.isWide = address.bytes == 8;
  std::vector<uint32_t> sources = {address.row};
  for (size_t i = 2; i < 3u + compares; ++i)
    for (uint32_t row : decoder.halves(operands[i]))
      sources.push_back(row);
  if (form.atomic.space != Space::Shared)
    decoder.program().usesGlobalAtomics = true;
  decoder.emitWide(compares ? wideAtomic<true> : wideAtomic<false>, decoder.halves(operands[0]),
                   sources, address.offset, form.atomic, kOwnValidity);
}

} // namespace tile::vgpu
