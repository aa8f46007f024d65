// The syntax of mbarrier's instructions.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/async/MbarrierForm.h"
#include "runtime/vgpu/ptx/ModifierWords.h"

namespace tile::vgpu {
namespace {

struct PendingCount {
  uint32_t operator()(uint64_t state) const { return state & Mbarrier::kMaxCount; }
};

void takeSpace(Decoder &decoder, Suffixes &suffixes, MbarrierForm &form) {
  std::string_view space = suffixes.takeOneOf({"shared::cta", "shared::cluster", "shared"});
  form.generic = space.empty();
  form.remote = form.generic || space == "shared::cluster";
  if (suffixes.takeType() != ScalarType::B64)
    decoder.unsupported("an mbarrier is .b64");
}

// A variable that is named is in shared memory.
Decoder::Address takeAddress(Decoder &decoder, const Operand &operand, MbarrierForm &form) {
  Decoder::Address address = decoder.address(operand);
  form.wide = address.bytes == 8;
  form.generic &= !address.known;
  return address;
}

void takeOrder(Suffixes &suffixes, MbarrierForm &form) {
  form.relaxed = suffixes.take("relaxed");
  suffixes.takeOneOf({"release", "acquire"});
  suffixes.takeOneOf({"cta", "cluster"});
}

void emitUpdate(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                MbarrierForm form) {
  takeOrder(suffixes, form);
  takeSpace(decoder, suffixes, form);
  bool hasOperand = form.action != MbarrierAction::Invalidate;
  decoder.wantOperands(instruction, 1u + hasOperand);
  Decoder::Address address = takeAddress(decoder, instruction.operands[0], form);
  std::vector<uint32_t> sources = {address.row};
  if (hasOperand)
    sources.push_back(decoder.source(instruction.operands[1], ScalarType::U32));
  decoder.emitWide(updateMbarrier, {}, sources, address.offset, form, kOwnValidity);
}

void emitArrive(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                MbarrierForm form) {
  form.expects = suffixes.take("expect_tx");
  form.noComplete = suffixes.take("noComplete");
  decoder.program().releases = true;
  takeOrder(suffixes, form);
  takeSpace(decoder, suffixes, form);
  // The first operand is the state, or _ where the program does not want it; a barrier in another block has none.
  const auto &operands = instruction.operands;
  if (operands.empty() || operands[0].kind == Operand::Kind::Address)
    decoder.malformed("expected a register for the state, or _");
  bool hasState = operands[0].kind != Operand::Kind::Sink;
  if (hasState && form.remote && !form.generic)
    decoder.malformed("with .shared::cluster the state must be _");
  constexpr size_t at = 1;
  bool needsOperand = form.expects || form.noComplete;
  decoder.wantOperands(instruction, at + 1 + needsOperand, at + 2);
  if (!needsOperand && operands.size() > at + 1)
    decoder.require(90, 78, "a count");
  Decoder::Address address = takeAddress(decoder, operands[at], form);
  uint32_t operand = operands.size() > at + 1 ? decoder.source(operands[at + 1], ScalarType::U32)
                                              : decoder.constant(1, 4);
  uint32_t state = hasState ? decoder.target(operands[0], ScalarType::B64) : decoder.sink(8);
  decoder.emit(arriveAtMbarrier, {state}, {address.row, operand}, address.offset, form,
               kOwnValidity);
}

void emitWait(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
              MbarrierForm form) {
  form.parity = suffixes.take("parity");
  takeOrder(suffixes, form);
  takeSpace(decoder, suffixes, form);
  form.remote = false;
  decoder.wantOperands(instruction, 3, form.action == MbarrierAction::TryWait ? 4 : 3);
  const auto &operands = instruction.operands;
  Decoder::Address address = takeAddress(decoder, operands[1], form);
  uint32_t wanted = decoder.source(operands[2], form.parity ? ScalarType::U32 : ScalarType::B64);
  if (operands.size() > 3)
    decoder.source(operands[3], ScalarType::U32); // the time limit: any time is as good
  decoder.emit(waitForMbarrier, {decoder.target(operands[0], ScalarType::Pred)},
               {address.row, wanted}, address.offset, form, kOwnValidity);
}

void decodeMbarrier(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  MbarrierForm form;
  static constexpr std::pair<std::string_view, MbarrierAction> updates[] = {
      {"init", MbarrierAction::Init},
      {"inval", MbarrierAction::Invalidate},
      {"complete_tx", MbarrierAction::Complete},
  };
  for (auto [name, action] : updates)
    if (suffixes.take(name)) {
      form.action = action;
      return emitUpdate(decoder, instruction, suffixes, form);
    }
  for (auto [name, action] :
       {std::pair("arrive", MbarrierAction::Arrive), {"arrive_drop", MbarrierAction::Drop}})
    if (suffixes.take(name)) {
      form.action = action;
      return emitArrive(decoder, instruction, suffixes, form);
    }
  for (auto [name, action] :
       {std::pair("test_wait", MbarrierAction::Test), {"try_wait", MbarrierAction::TryWait}})
    if (suffixes.take(name)) {
      form.action = action;
      return emitWait(decoder, instruction, suffixes, form);
    }
  if (suffixes.take("expect_tx")) {
    form.action = MbarrierAction::Expect;
    return emitUpdate(decoder, instruction, suffixes, form);
  }
  if (!suffixes.take("pending_count") || suffixes.takeType() != ScalarType::B64)
    decoder.unsupported("expected init, inval, arrive, arrive_drop, expect_tx, complete_tx, "
                        "test_wait, try_wait or pending_count");
  decoder.wantOperands(instruction, 2);
  decoder.emit(laneOp<PendingCount, uint32_t, uint64_t>,
               {decoder.target(instruction.operands[0], ScalarType::U32)},
               {decoder.source(instruction.operands[1], ScalarType::B64)});
}

TimeForm timeOfMbarrier(const Instruction &instruction) {
  TimeForm form = {.cost = Cost::Issue, .pipe = Pipe::Sync};
  form.hasClusterScope = hasWord(instruction, "cluster");
  form.flag = hasWord(instruction, "expect_tx");
  for (auto [word, kind] : {std::pair("init", TimeKind::MbarrierInit),
                            {"arrive", TimeKind::MbarrierArrive},
                            {"arrive_drop", TimeKind::MbarrierArrive},
                            {"try_wait", TimeKind::MbarrierWait},
                            {"test_wait", TimeKind::MbarrierWait}})
    if (instruction.suffix.front() == word)
      form.kind = kind;
  if (instruction.suffix.front() == "expect_tx")
    form.kind = TimeKind::MbarrierExpect;
  return form;
}

const OpcodeInfo kOpcodes[] = {
    {.name = "mbarrier",
     .decode = decodeMbarrier,
     .time = timeOfMbarrier,
     .kind = always<InstructionClass::Barrier>,
     .forms = {{.where = "cta cluster", .needs = "relaxed release acquire"},
               {.where = "relaxed release acquire", .needs = "cta cluster"},
               {.where = "noComplete",
                .never = "expect_tx relaxed acquire cluster shared::cluster"},
               {.never = "shared::cluster relaxed acquire release",
                .of = "mbarrier.init mbarrier.inval"},
               {.never = "acquire", .of = "mbarrier.arrive mbarrier.arrive_drop"},
               {.never = "acquire release", .of = "mbarrier.expect_tx mbarrier.complete_tx"},
               {.never = "release shared::cluster", .of = "mbarrier.test_wait mbarrier.try_wait"}},
     .orders =
         {{"init inval arrive arrive_drop expect_tx complete_tx test_wait try_wait pending_count > "
           "expect_tx parity > noComplete | relaxed acquire release" TILE_SCOPE_LIST TILE_SHARED
           " | b64"}},
     .requirements = {{"", 80, 70},
                      {"shared::cta", 80, 78},
                      {"shared::cluster", 90, 80},
                      {"cta", 80, 80},
                      {"cluster", 90, 80},
                      {"expect_tx", 90, 80},
                      {"complete_tx", 90, 80},
                      {"test_wait.parity", 80, 71},
                      {"try_wait", 90, 78},
                      {"arrive.relaxed", 90, 86},
                      {"arrive_drop.relaxed", 90, 86},
                      {"test_wait.relaxed", 90, 86},
                      {"try_wait.relaxed", 90, 86}}},
};

} // namespace

OpcodeRows mbarrierOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
