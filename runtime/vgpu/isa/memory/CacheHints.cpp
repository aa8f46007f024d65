// The instructions by which programs advise the second-level cache: createpolicy, applypriority, discard.
//
// Policies and priorities change speed alone. discard does more: the bytes have no value until they are written again.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/InitCheck.h"

namespace tile::vgpu {
namespace {

constexpr uint32_t kDiscardBytes = 128;

void noPolicy(Warp &warp, const Op &op) {
  forLanes(warp.mask, [&](unsigned lane) { warp.row<uint64_t>(op.rows[0])[lane] = 0; });
}

// A policy is a word that only cache hints take: zero will do.
void decodeCreatePolicy(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view form = suffixes.takeOneOf({"fractional", "range", "cvt"});
  size_t sources = 1;
  if (form == "cvt") {
    if (!suffixes.take("L2"))
      decoder.unsupported("expected createpolicy.cvt.L2");
  } else {
    if (form.empty() || suffixes.takePrefix("L2::evict_").empty())
      decoder.unsupported("expected .fractional or .range with .L2::evict_...");
    suffixes.takePrefix("L2::evict_");
    sources = form == "range" ? 3 : instruction.operands.size() == 2;
    if (form == "range")
      suffixes.take("global");
  }
  if (suffixes.takeType() != ScalarType::B64)
    decoder.malformed("a cache policy has type .b64");
  decoder.wantOperands(instruction, 1 + sources);
  if (form == "range") {
    decoder.address(instruction.operands[1]);
    decoder.source(instruction.operands[2], ScalarType::U32);
    decoder.source(instruction.operands[3], ScalarType::U32);
  } else if (sources) {
    decoder.source(instruction.operands[1], form == "cvt" ? ScalarType::B64 : ScalarType::F32);
  }
  decoder.emit(noPolicy, {decoder.target(instruction.operands[0], ScalarType::B64)}, {});
}

void wantDiscardSize(Decoder &decoder, const Instruction &instruction) {
  decoder.wantOperands(instruction, 2);
  const Operand &size = instruction.operands[1];
  if (size.kind != Operand::Kind::Immediate || size.value != kDiscardBytes)
    decoder.malformed("the size must be 128");
}

void decodeApplyPriority(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  suffixes.take("global");
  if (!suffixes.take("L2::evict_normal"))
    decoder.unsupported("expected applypriority{.global}.L2::evict_normal");
  wantDiscardSize(decoder, instruction);
  decoder.address(instruction.operands[0]);
}

struct DiscardForm {
  bool hasWideAddress = false;
};

void discard(Warp &warp, const Op &op) {
  Access all;
  all.space = Space::Global;
  all.mask = warp.mask;
  all.bytes = kDiscardBytes;
  all.kind = AccessKind::Write;
  readAddresses(warp, op.rows[0], formOf<DiscardForm>(op).hasWideAddress, op.imm, all.address);
  if (warp.shadow)
    checkAddress(warp, op, op.rows[0]);
  resolve(warp, op, all);
  checkRaces(warp, op, all, 0);
  if (warp.shadow)
    forLanes(all.mask, [&](unsigned lane) {
      uint64_t bit = 0;
      validBits(warp, Space::Global, all.address[lane], lane, bit)
          ->setRange(bit, kDiscardBytes, false);
    });
}

void decodeDiscard(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  suffixes.take("global");
  if (!suffixes.take("L2"))
    decoder.unsupported("expected discard{.global}.L2");
  wantDiscardSize(decoder, instruction);
  Decoder::Address address = decoder.address(instruction.operands[0]);
  decoder.emit(discard, {}, {address.row}, address.offset, DiscardForm{address.bytes == 8},
               kOwnValidity);
}

const OpcodeInfo kOpcodes[] = {
    {.name = "createpolicy",
     .decode = decodeCreatePolicy,
     .time = alwaysCosts<Cost::Alu>,
     .kind = always<InstructionClass::Other>,
     .orders = {{"fractional range cvt > L2 L2::* > L2::evict_first L2::evict_unchanged | b64"}},
     .requirements = {{"", 80, 74}}},
    {.name = "applypriority",
     .decode = decodeApplyPriority,
     .time = alwaysCosts<Cost::Issue>,
     .kind = always<InstructionClass::Other>,
     .requirements = {{"", 80, 74}}},
    {.name = "discard",
     .decode = decodeDiscard,
     .time = alwaysCosts<Cost::Issue>,
     .kind = always<InstructionClass::Other>,
     .requirements = {{"", 80, 74}}},
};

} // namespace

OpcodeRows cacheHintsOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
