// Calls: functions are inlined where they are called. A call through a register tries, one after the other, all functions
// it may mean.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/Stack.h"
#include "runtime/vgpu/decode/SystemCalls.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/InitCheck.h"

#include <algorithm>
#include <bit>

namespace tile::vgpu {
namespace {

constexpr size_t kMaxCallDepth = 64;
constexpr uint8_t kJump = kOwnGuard | kOwnValidity | kControl | kJumps;

// The condition is checked here, since no wrapper is around the operations of a call.
void skipUnlessGuard(Warp &warp, const Op &op) {
  if (warp.shadow)
    checkCondition(warp, op, op.guardRow);
  uint32_t calls = warp.predicate(op.guardRow) ^ (0u - op.guardFlip);
  splitWarp(warp, warp.mask & ~calls, static_cast<uint32_t>(op.imm));
}

// Op::a: the function, by its number.
void skipUnlessFunction(Warp &warp, const Op &op) {
  const uint64_t *pointer = warp.row<uint64_t>(op.rows[0]);
  uint32_t others = 0;
  forLanes(warp.mask, [&](unsigned lane) {
    others |= uint32_t{pointer[lane] != functionAddress(op.a)} << lane;
  });
  splitWarp(warp, others, static_cast<uint32_t>(op.imm));
}

void checkPointer(Warp &warp, const Op &op) {
  if (warp.shadow)
    checkAddress(warp, op, op.rows[0]);
}

void jumpPast(Warp &warp, const Op &op) { warp.jump(static_cast<uint32_t>(op.imm)); }

void noFunction(Warp &warp, const Op &op) {
  auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx",
                static_cast<unsigned long long>(warp.row<uint64_t>(op.rows[0])[lane]));
  warp.stop(op, FindingKind::Trap, lane,
            std::string("a call to ") + text +
                ", where no function with these parameters and results begins");
}

bool sameSizes(const std::vector<const Variable *> &a, const std::vector<const Variable *> &b) {
  return std::ranges::equal(a, b, {}, &Variable::bytes, &Variable::bytes);
}

} // namespace

uint32_t Decoder::argumentOffset(const Operand &argument) {
  if (!argument.variable)
    unsupported("call arguments other than .param variables");
  return localVariable(*argument.variable);
}

Decoder::Call Decoder::readCall(const Instruction &instruction) const {
  Call call;
  for (const Operand &operand : instruction.operands) {
    if (operand.kind == Operand::Kind::List)
      (call.callee ? call.arguments : call.results) = &operand;
    else if (!call.callee)
      call.callee = &operand;
    else
      call.prototype = &operand;
  }
  if (!call.callee)
    malformed("the callee is missing");
  return call;
}

void Decoder::decodeCall(const Instruction &instruction) {
  Call call = readCall(instruction);
  std::optional<size_t> skip;
  if (instruction.guard >= 0) {
    skip = program_->code.size();
    Op &op = emit(skipUnlessGuard, {}, {}, 0, 0, 0, kJump | kHasGuard);
    op.guardRow = guardRow(instruction);
    op.guardFlip = instruction.guardNegated;
  }
  if (call.callee->kind == Operand::Kind::Register)
    callThroughPointer(call);
  else
    callByName(call);
  if (skip)
    program_->code[*skip].imm = static_cast<int64_t>(program_->code.size());
}

void Decoder::callByName(const Call &call) {
  std::string name(call.callee->name);
  auto found = program_->module->byName.find(call.callee->name);
  if (found == program_->module->byName.end())
    unsupported("no function '" + name + "' is in this module");
  const Function &callee = *found->second;
  if (!callee.hasBody &&
      emitSystemCall(*this, callee.name,
                     call.arguments ? call.arguments->parts : std::vector<Operand>()))
    return;
  if (!callee.hasBody)
    unsupported("function '" + name + "' has no body in this module");
  if (std::ranges::count(callStack_, &callee))
    return recurse(callee, call);
  if (isBeingInlined(callee))
    unsupported("calls are nested more than " + std::to_string(kMaxCallDepth) + " deep");
  inlineFunction(callee, call);
}

bool Decoder::isBeingInlined(const Function &function) const {
  return std::ranges::count(callStack_, &function) || callStack_.size() > kMaxCallDepth;
}

// Candidates are the functions of the prototype's sizes whose address is taken somewhere, or those that .calltargets lists.
std::vector<const Function *> Decoder::candidates(const Prototype &prototype) const {
  std::vector<const Function *> result;
  const Module &module = *program_->module;
  for (const Function &function : module.functions) {
    if (!function.hasBody || function.isEntry)
      continue;
    bool fits = prototype.isTargetList ? std::ranges::count(prototype.targets, function.name) > 0
                                       : module.addressTaken.contains(function.name) &&
                                             sameSizes(function.params, prototype.params) &&
                                             sameSizes(function.results, prototype.results);
    if (fits)
      result.push_back(&function);
  }
  return result;
}

void Decoder::callThroughPointer(const Call &call) {
  if (!call.prototype || current_->prototype < 0)
    malformed("a call through a register needs a .callprototype or .calltargets");
  const Prototype &prototype =
      frame_->function->prototypes[static_cast<size_t>(current_->prototype)];
  uint32_t pointer = source(*call.callee, ScalarType::B64);
  emit(checkPointer, {}, {pointer}, 0, 0, 0, kOwnValidity);
  std::vector<size_t> exits;
  // Behind an inlined function, operations still belong to the call.
  auto place = static_cast<uint32_t>(program_->lines.size() - 1);
  for (const Function *function : candidates(prototype)) {
    if (isBeingInlined(*function))
      continue; // a recursive call ends in noFunction
    size_t test = program_->code.size();
    emit(skipUnlessFunction, {}, {pointer}, 0, *program_->module->functionNumber(function->name), 0,
         kJump)
        .instruction = place;
    inlineFunction(*function, call);
    exits.push_back(program_->code.size());
    emit(jumpPast, {}, {}, 0, 0, 0, kJump).instruction = place;
    program_->code[test].imm = static_cast<int64_t>(program_->code.size());
  }
  emit(noFunction, {}, {pointer}, 0, 0, 0, kOwnValidity).instruction = place;
  for (size_t exit : exits)
    program_->code[exit].imm = static_cast<int64_t>(program_->code.size());
}

// A load or store of a parameter, as if the program had it.
void Decoder::transfer(const Variable &parameter, const Operand &value, bool loads) {
  constexpr std::string_view kTypes[] = {"b8", "b16", "b32", "b64"};
  const Instruction *call = current_;
  auto log2 = static_cast<size_t>(std::countr_zero(parameter.bytes));
  if (!std::has_single_bit(parameter.bytes) || log2 >= std::size(kTypes))
    malformed("a parameter of " + std::to_string(parameter.bytes) +
              " bytes is passed in a .param variable");
  Operand symbol, address;
  symbol.kind = Operand::Kind::Symbol;
  symbol.name = parameter.name;
  symbol.variable = &parameter;
  address.kind = Operand::Kind::Address;
  address.parts.push_back(symbol);
  Instruction &instruction = transferred_.emplace_back();
  instruction.opcode = loads ? "ld" : "st";
  bool isFloat = value.kind == Operand::Kind::Float;
  instruction.suffix = {"param", isFloat ? (log2 == 3 ? "f64" : "f32") : kTypes[log2]};
  instruction.spelling = call->spelling;
  instruction.line = call->line;
  instruction.source = call->source;
  instruction.operands = loads ? std::vector{value, address} : std::vector{address, value};
  decodeInstruction(instruction);
  current_ = call;
}

// Parameters in registers are passed in memory, from which a function takes them, and to which it gives its results.
void Decoder::transferRegisters(const std::vector<const Variable *> &formals, bool loads) {
  for (const Variable *formal : formals) {
    if (formal->reg < 0)
      continue;
    Operand own;
    own.kind = Operand::Kind::Register;
    own.name = formal->name;
    own.reg = formal->reg;
    transfer(*formal, own, loads);
  }
}

// Finds the local memory of an argument: that of the variable it names, or new memory for a value.
uint32_t Decoder::argumentPlace(const Operand &argument, const Variable &formal) {
  if (argument.variable && argument.kind == Operand::Kind::Symbol)
    return argumentOffset(argument);
  Variable &passed = passed_.emplace_back(formal);
  passed.reg = -1;
  return localVariable(passed);
}

// Parameters of a call are .param variables; the callee's formal names become other names for the caller's variables.
// Ends a local variable of a function that returns: its bytes become uninitialised. Op::imm: where it is, Op::a: its bytes.
static void endVariable(Warp &warp, const Op &op) {
  if (warp.shadow)
    forLanes(warp.mask, [&](unsigned lane) {
      uint64_t bit = 0;
      validBits(warp, Space::Local, static_cast<uint64_t>(op.imm), lane, bit)
          ->setRange(bit, op.a, false);
    });
}

void Decoder::inlineFunction(const Function &callee, const Call &call) {
  const Instruction *instruction = current_;
  Frame frame;
  frame.function = &callee;
  struct Value {
    const Variable *place;
    const Operand *actual;
  };
  std::vector<Value> results;
  auto bind = [&](const Operand *actual, const std::vector<const Variable *> &formal,
                  bool isResult) {
    size_t count = actual ? actual->parts.size() : 0;
    if (count != formal.size())
      malformed("'" + std::string(callee.name) + "' has " + std::to_string(formal.size()) +
                " parameters or results where the call has " + std::to_string(count));
    for (size_t i = 0; i < count; ++i) {
      const Operand &part = actual->parts[i];
      size_t before = passed_.size();
      frame.localOffsets[formal[i]] = argumentPlace(part, *formal[i]);
      if (passed_.size() == before)
        continue;
      if (!isResult)
        transfer(passed_.back(), part, false);
      else if (part.kind != Operand::Kind::Sink)
        results.push_back({&passed_.back(), &part});
    }
  };
  bind(call.results, callee.results, true);
  bind(call.arguments, callee.params, false);
  std::optional<uint32_t> stack;
  if (usesStack(callee))
    stack = keepStack(*this);
  callStack_.push_back(&callee);
  decodeBody(frame);
  callStack_.pop_back();
  current_ = instruction;
  for (const Variable *variable : callee.variables)
    if (auto place = frame.localOffsets.find(variable);
        place != frame.localOffsets.end() && variable->space == Space::Local)
      emit(endVariable, {}, {}, place->second, static_cast<uint32_t>(variable->bytes), 0,
           kOwnValidity);
  for (const Value &result : results)
    transfer(*result.place, *result.actual, true);
  if (stack)
    giveBackStack(*this, *stack);
}

} // namespace tile::vgpu
