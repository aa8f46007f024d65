// Functions that call themselves, directly or by others.
//
// Calls are inlined. One that is in the middle of being inlined is entered once more: each lane keeps what the activation has
// in registers and local memory, goes to the function's first operation, and takes it back when it returns. So local
// variables of all activations have one address, and a function that takes such an address is refused.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"

#include <algorithm>
#include <map>
#include <set>

namespace tile::vgpu {
namespace {

// The limits of a thread: its activations, and the bytes that they keep, as much as a GPU's threads have local memory.
constexpr size_t kMaxActivations = 1024;
constexpr uint32_t kMaxKeptBytes = 512 << 10;
constexpr uint8_t kOwnFlow = kOwnGuard | kOwnValidity | kControl;

// A lane's registers and local memory.
class Lane {
public:
  Lane(Warp &warp, unsigned lane) : warp_(warp), lane_(lane) {
    const Program &program = warp.cta->launch->program();
    local_ = warp.cta->local.data() +
             (size_t{warp.index} * kLanes + lane) * size_t{program.localStride()};
  }

  void save(const Recursion &recursion, Activation &to) {
    for (const Recursion::Row &row : recursion.rows) {
      to.rows.push_back(read(row));
      if (warp_.shadow)
        to.undefined.push_back(undefined(row));
    }
    for (const Recursion::Range &range : recursion.local)
      for (uint32_t at = range.offset; at < range.offset + range.bytes; ++at) {
        to.local.push_back(local_[at]);
        if (warp_.shadow)
          to.isValid.push_back(isValid(at));
      }
  }

  void restore(const Recursion &recursion, const Activation &from) {
    for (size_t i = 0; i < recursion.rows.size(); ++i) {
      write(recursion.rows[i], from.rows[i]);
      if (warp_.shadow)
        setUndefined(recursion.rows[i], from.undefined[i]);
    }
    size_t next = 0;
    for (const Recursion::Range &range : recursion.local)
      for (uint32_t at = range.offset; at < range.offset + range.bytes; ++at, ++next)
        put(at, from.local[next], !warp_.shadow || from.isValid[next]);
  }

  /// As a new activation finds them.
  void forget(const Recursion &recursion) {
    if (!warp_.shadow)
      return;
    for (const Recursion::Row &row : recursion.rows)
      setUndefined(row, ~uint64_t{0});
    for (const Recursion::Range &range : recursion.local)
      for (uint32_t at = range.offset; at < range.offset + range.bytes; ++at)
        put(at, local_[at], false);
  }

  struct Byte {
    uint8_t value;
    bool isValid;
  };
  std::vector<Byte> take(const std::vector<RecursiveCall::Move> &moves) {
    std::vector<Byte> bytes;
    for (const RecursiveCall::Move &move : moves)
      for (uint32_t i = 0; i < move.bytes; ++i)
        bytes.push_back({local_[move.from + i], !warp_.shadow || isValid(move.from + i)});
    return bytes;
  }
  void give(const std::vector<RecursiveCall::Move> &moves, const std::vector<Byte> &bytes) {
    size_t next = 0;
    for (const RecursiveCall::Move &move : moves)
      for (uint32_t i = 0; i < move.bytes; ++i, ++next)
        put(move.to + i, bytes[next].value, bytes[next].isValid);
  }

private:
  uint64_t read(const Recursion::Row &row) {
    return row.isPredicate ? warp_.predicate(row.row) >> lane_ & 1
           : row.isWide    ? warp_.row<uint64_t>(row.row)[lane_]
                           : warp_.row<uint32_t>(row.row)[lane_];
  }
  void write(const Recursion::Row &row, uint64_t value) {
    if (row.isPredicate)
      mergeMask(warp_.predicate(row.row), value ? kFullMask : 0, 1u << lane_);
    else if (row.isWide)
      warp_.row<uint64_t>(row.row)[lane_] = value;
    else
      warp_.row<uint32_t>(row.row)[lane_] = static_cast<uint32_t>(value);
  }
  uint64_t undefined(const Recursion::Row &row) {
    return row.isWide ? warp_.shadow.undefined<uint64_t>(row.row, lane_)
                      : warp_.shadow.undefined<uint32_t>(row.row, lane_);
  }
  void setUndefined(const Recursion::Row &row, uint64_t bits) {
    if (row.isWide)
      warp_.shadow.setUndefined<uint64_t>(row.row, lane_, bits);
    else
      warp_.shadow.setUndefined<uint32_t>(row.row, lane_, static_cast<uint32_t>(bits));
  }
  bool isValid(uint32_t at) {
    uint64_t bit = 0;
    ValidBits *valid = validBits(warp_, Space::Local, at, lane_, bit);
    return valid->get(bit, 1);
  }
  void put(uint32_t at, uint8_t value, bool valid) {
    local_[at] = value;
    if (!warp_.shadow)
      return;
    uint64_t bit = 0;
    ValidBits *bits = validBits(warp_, Space::Local, at, lane_, bit);
    bits->set(bit, 1, valid);
  }

  Warp &warp_;
  unsigned lane_;
  uint8_t *local_;
};

std::vector<Activation> &activationsOf(Warp &warp, uint32_t recursion, unsigned lane) {
  return warp.activations[size_t{recursion} * kLanes + lane];
}

// The bytes that an activation keeps: registers, 8 each, and local memory.
uint32_t keptBytes(const Recursion &recursion) {
  auto bytes = static_cast<uint32_t>(8 * recursion.rows.size());
  for (const Recursion::Range &range : recursion.local)
    bytes += range.bytes;
  return bytes;
}

// Op::a: the call.
void enter(Warp &warp, const Op &op) {
  const Program &program = warp.cta->launch->program();
  const RecursiveCall &call = program.recursiveCalls[op.a];
  const Recursion &recursion = program.recursions[call.recursion];
  forLanes(warp.mask, [&](unsigned lane) {
    std::vector<Activation> &activations = activationsOf(warp, call.recursion, lane);
    if (activations.size() >= kMaxActivations)
      warp.stop(op, FindingKind::StepLimit, lane,
                "a function has called itself " + std::to_string(kMaxActivations) +
                    " times without returning");
    warp.keptBytes[lane] += keptBytes(recursion);
    if (warp.keptBytes[lane] > kMaxKeptBytes)
      warp.stop(op, FindingKind::StepLimit, lane,
                "a function has called itself " + std::to_string(activations.size()) +
                    " times without returning: with " + std::to_string(keptBytes(recursion)) +
                    " bytes a call, the " + std::to_string(kMaxKeptBytes) +
                    " bytes of local memory that a thread may have are full");
    Lane state(warp, lane);
    std::vector<Lane::Byte> arguments = state.take(call.arguments);
    Activation &kept = activations.emplace_back();
    kept.returnTo = warp.pc;
    kept.call = op.a;
    for (uint32_t inner = call.recursion + 1; inner < recursion.nested; ++inner)
      kept.nested.push_back(std::exchange(activationsOf(warp, inner, lane), {}));
    state.save(recursion, kept);
    state.forget(recursion);
    state.give(call.arguments, arguments);
  });
  ++*warp.cta->cluster->events;
  warp.jump(recursion.entry);
}

// At a function's end, Op::a: its recursion. Lanes of its first activation go on.
void leave(Warp &warp, const Op &op) {
  const Program &program = warp.cta->launch->program();
  const Recursion &recursion = program.recursions[op.a];
  std::map<uint32_t, uint32_t> places; // lanes by where they return to
  forLanes(warp.mask, [&](unsigned lane) {
    std::vector<Activation> &activations = activationsOf(warp, op.a, lane);
    if (activations.empty())
      return;
    Activation kept = std::move(activations.back());
    activations.pop_back();
    warp.keptBytes[lane] -= keptBytes(recursion);
    const RecursiveCall &call = program.recursiveCalls[kept.call];
    Lane state(warp, lane);
    std::vector<Lane::Byte> results = state.take(call.results);
    state.restore(recursion, kept);
    state.give(call.results, results);
    for (size_t i = 0; i < kept.nested.size(); ++i)
      activationsOf(warp, op.a + 1 + static_cast<uint32_t>(i), lane) = std::move(kept.nested[i]);
    places[kept.returnTo] |= 1u << lane;
  });
  if (places.empty())
    return;
  ++*warp.cta->cluster->events;
  for (auto [place, lanes] : places) {
    warp.splits.push_back({place, lanes, false});
    warp.mask &= ~lanes;
  }
  warp.limit = 0;
}

void findCallees(const Module &module, const Function &function,
                 std::set<const Function *> &found) {
  for (const Instruction &instruction : function.body) {
    if (instruction.flow != Flow::Call)
      continue;
    for (const Operand &operand : instruction.operands) {
      auto callee = operand.kind == Operand::Kind::Symbol ? module.byName.find(operand.name)
                                                          : module.byName.end();
      if (callee != module.byName.end() && found.insert(callee->second).second)
        findCallees(module, *callee->second, found);
    }
  }
}

bool callsItself(const Module &module, const Function &function) {
  std::set<const Function *> callees;
  findCallees(module, function, callees);
  return callees.contains(&function);
}

bool takesAddresses(const Function &function) {
  return std::ranges::any_of(function.body, [&](const Instruction &instruction) {
    return instruction.flow != Flow::Call &&
           std::ranges::any_of(instruction.operands, [&](const Operand &operand) {
             return operand.kind == Operand::Kind::Symbol && operand.variable &&
                    (operand.variable->space == Space::Local ||
                     operand.variable->space == Space::Param);
           });
  });
}

} // namespace

void Decoder::recurse(const Function &callee, const Call &call) {
  auto at = std::ranges::find(frames_, &callee, &Frame::function);
  if (!(*at)->recursion)
    unsupported("recursive call of '" + std::string(callee.name) + "' by a pointer");
  for (auto between = at; between != frames_.end(); ++between)
    if (takesAddresses(*(*between)->function))
      unsupported("recursion of '" + std::string((*between)->function->name) +
                  "', which takes the address of a local variable or parameter");
  RecursiveCall record;
  record.recursion = *(*at)->recursion;
  std::vector<std::pair<const Variable *, const Operand *>> values;
  auto bind = [&](const Operand *actual, const std::vector<const Variable *> &formals,
                  bool isResult) {
    size_t count = actual ? actual->parts.size() : 0;
    if (count != formals.size())
      malformed("'" + std::string(callee.name) + "' has " + std::to_string(formals.size()) +
                " parameters or results where the call has " + std::to_string(count));
    for (size_t i = 0; i < count; ++i) {
      const Operand &part = actual->parts[i];
      size_t before = passed_.size();
      uint32_t own = argumentPlace(part, *formals[i]), formal = (*at)->localOffsets.at(formals[i]);
      auto bytes = static_cast<uint32_t>(formals[i]->bytes);
      (isResult ? record.results : record.arguments)
          .push_back(isResult ? RecursiveCall::Move{formal, own, bytes}
                              : RecursiveCall::Move{own, formal, bytes});
      if (passed_.size() == before)
        continue;
      if (!isResult)
        transfer(passed_.back(), part, false);
      else if (part.kind != Operand::Kind::Sink)
        values.emplace_back(&passed_.back(), &part);
    }
  };
  bind(call.results, callee.results, true);
  bind(call.arguments, callee.params, false);
  emit(enter, {}, {}, 0, static_cast<uint32_t>(program_->recursiveCalls.size()), 0, kOwnFlow);
  program_->recursiveCalls.push_back(std::move(record));
  for (auto [place, actual] : values)
    transfer(*place, *actual, true);
}

// Variables are placed before any call, so that calls keep them wherever they are used.
void Decoder::beginActivations(Frame &frame) {
  const Function &function = *frame.function;
  bool isInside =
      std::ranges::any_of(frames_, [](const Frame *outer) { return outer->recursion.has_value(); });
  bool isRecursive = callsItself(*program_->module, function);
  for (const Variable *variable : function.variables)
    if ((isInside || isRecursive) &&
        (variable->space == Space::Local || variable->space == Space::Param))
      localVariable(*variable);
  if (!isRecursive)
    return;
  frame.recursion = static_cast<uint32_t>(program_->recursions.size());
  program_->recursions.emplace_back().entry = static_cast<uint32_t>(program_->code.size());
}

void Decoder::endActivations(const Frame &frame) {
  if (!frame.recursion)
    return;
  Recursion &recursion = program_->recursions[*frame.recursion];
  recursion.nested = static_cast<uint32_t>(program_->recursions.size());
  emit(leave, {}, {}, 0, *frame.recursion, 0, kOwnFlow);
  auto keep = [&](uint32_t row) {
    RowKind kind = rowKinds_[row / kRowBytes];
    recursion.rows.push_back({row, kind == RowKind::Predicate, kind == RowKind::Wide});
    return kind == RowKind::Wide ? 2 * kRowBytes : kRowBytes;
  };
  for (uint32_t row = frame.firstRow; row < nextRow_;)
    row += keep(row);
  if (stackPointer_ && *stackPointer_ < frame.firstRow)
    keep(*stackPointer_);
  recursion.local.push_back({frame.firstLocal, program_->localBytes - frame.firstLocal});
  for (const auto *list : {&frame.function->params, &frame.function->results})
    for (const Variable *formal : *list)
      if (uint32_t offset = frame.localOffsets.at(formal); offset < frame.firstLocal)
        recursion.local.push_back({offset, static_cast<uint32_t>(formal->bytes)});
}

} // namespace tile::vgpu
