// The syntax of the barriers of warps, blocks and clusters.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/machine/BarrierForm.h"
#include "runtime/vgpu/machine/ClusterBarrier.h"

namespace tile::vgpu {
namespace {

void decodeClusterBarrier(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  decoder.wantOperands(instruction, 0);
  bool arrives = suffixes.take("arrive");
  if (!arrives && !suffixes.take("wait"))
    decoder.unsupported("expected barrier.cluster.arrive or .wait");
  ClusterBarrierForm form;
  form.isRelaxed = suffixes.take("relaxed") && arrives;
  suffixes.take(arrives ? "release" : "acquire");
  form.isAligned = suffixes.take("aligned");
  decoder.emit(arrives ? clusterArrive : clusterWait, {}, {}, 0, form);
}

BarrierAction takeAction(Decoder &decoder, Suffixes &suffixes) {
  if (suffixes.take("arrive"))
    return BarrierAction::Arrive;
  if (suffixes.take("sync"))
    return BarrierAction::Sync;
  if (!suffixes.take("red"))
    decoder.unsupported("expected sync, arrive or red");
  std::string_view reduction = suffixes.takeOneOf({"popc", "and", "or"});
  ScalarType type = suffixes.takeType();
  if (reduction.empty() || type != (reduction == "popc" ? ScalarType::U32 : ScalarType::Pred))
    decoder.unsupported("expected bar.red.popc.u32, bar.red.and.pred or bar.red.or.pred");
  return reduction == "popc"  ? BarrierAction::RedPopc
         : reduction == "and" ? BarrierAction::RedAnd
                              : BarrierAction::RedOr;
}

void decodeBlockBarrier(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                        bool isAligned) {
  BarrierForm form;
  form.isAligned = isAligned;
  form.action = takeAction(decoder, suffixes);
  const auto &operands = instruction.operands;
  bool reduces = form.reduces();
  size_t fewest = reduces ? 3 : form.waits() ? 1 : 2;
  decoder.wantOperands(instruction, fewest, reduces ? 4 : 2);
  size_t at = reduces ? 1 : 0;
  form.hasCount = operands.size() - at - reduces == 2;
  std::vector<uint32_t> targets, sources;
  if (reduces)
    targets.push_back(decoder.target(
        operands[0], form.action == BarrierAction::RedPopc ? ScalarType::U32 : ScalarType::Pred));
  if (operands[at].kind == Operand::Kind::Immediate && operands[at].value >= kNumBarriers)
    decoder.malformed("the barriers of a block are 0 to 15, found " +
                      std::to_string(operands[at].value));
  sources.push_back(decoder.source(operands[at], ScalarType::U32));
  if (form.hasCount)
    sources.push_back(decoder.source(operands[at + 1], ScalarType::U32));
  if (reduces)
    sources.push_back(decoder.predicate(operands.back()));
  if (form.isAligned) {
    decoder.emitWide(runBarrier, targets, sources, 0, form);
    return;
  }
  decoder.program().releases = true;
  Op &op = decoder.emitWide(runFreeBarrier, targets, sources, 0, form,
                            kOwnGuard | kOwnValidity | kControl);
  if (instruction.guard >= 0)
    attachGuard(instruction, op, decoder.guardRow(instruction));
}

void decodeWarpBarrier(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (!suffixes.take("sync"))
    decoder.unsupported("expected bar.warp.sync");
  decoder.wantOperands(instruction, 1);
  decoder.emit(warpSync, {}, {decoder.source(instruction.operands[0], ScalarType::U32)});
}

// PTX: bar is barrier.aligned of a block or warp.
void decodeBar(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("warp"))
    return decodeWarpBarrier(decoder, instruction, suffixes);
  suffixes.take("cta");
  decodeBlockBarrier(decoder, instruction, suffixes, true);
}

void decodeBarrier(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("warp"))
    return decodeWarpBarrier(decoder, instruction, suffixes);
  if (suffixes.take("cluster"))
    return decodeClusterBarrier(decoder, instruction, suffixes);
  suffixes.take("cta");
  decodeBlockBarrier(decoder, instruction, suffixes, suffixes.take("aligned"));
}

TimeForm timeOfBarrier(const Instruction &instruction) {
  bool arrives = hasWord(instruction, "arrive");
  TimeForm form = {.cost = Cost::Issue, .pipe = Pipe::Sync};
  if (hasWord(instruction, "warp"))
    form.kind = TimeKind::WarpBarrier;
  else if (hasWord(instruction, "cluster"))
    form.kind = arrives ? TimeKind::ClusterArrive : TimeKind::ClusterWait;
  else
    form.kind = arrives ? TimeKind::BarrierArrive : TimeKind::BarrierSync;
  return form;
}

const OpcodeInfo kOpcodes[] = {
    {.name = "bar",
     .decode = decodeBar,
     .time = timeOfBarrier,
     .kind = always<InstructionClass::Barrier>,
     .forms = {{.never = "aligned"}},
     .orders = {{"warp cta cluster > sync arrive red wait aligned > sync arrive red wait | popc "
                 "and or | relaxed acquire release | aligned | pred u32"}},
     .requirements = {{"warp", 30, 60}, {"cta", 0, 78}}},
    {.name = "barrier",
     .decode = decodeBarrier,
     .time = timeOfBarrier,
     .kind = always<InstructionClass::Barrier>,
     .forms = {{.where = "wait", .never = "relaxed release", .of = "barrier.cluster"},
               {.where = "arrive", .never = "acquire", .of = "barrier.cluster"}},
     .orders = {{"cluster > arrive wait > relaxed acquire release | aligned", "barrier.cluster"},
                {"warp cta cluster > sync arrive red wait aligned > sync arrive red wait | popc "
                 "and or | relaxed acquire release | aligned | pred u32"}},
     .requirements = {{"cta", 0, 78},
                      {"cluster", 90, 78},
                      {"cluster.acquire", 90, 80},
                      {"cluster.release", 90, 80},
                      {"cluster.relaxed", 90, 80}}},
};

} // namespace

OpcodeRows barrierOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
