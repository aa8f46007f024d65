// Which class an instruction belongs to, and sums.
#include "runtime/vgpu/machine/Counters.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <map>
#include <optional>

namespace tile::vgpu {
namespace {

using Words = std::initializer_list<std::string_view>;

bool isOneOf(std::string_view word, Words words) { return std::ranges::count(words, word) > 0; }

bool has(const Instruction &instruction, std::string_view suffix) {
  return std::ranges::count(instruction.suffix, suffix) > 0;
}

// The space of ld, st and their kin.
InstructionClass memoryClass(const Instruction &instruction) {
  for (std::string_view suffix : instruction.suffix) {
    if (isOneOf(suffix, {"global", "const"}))
      return InstructionClass::GlobalMemory;
    if (suffix.starts_with("shared"))
      return InstructionClass::SharedMemory;
    if (suffix == "local")
      return InstructionClass::LocalMemory;
    if (suffix.starts_with("param"))
      return InstructionClass::ParamMemory;
  }
  return InstructionClass::GenericMemory;
}

bool worksOnFloats(const Instruction &instruction) {
  return std::ranges::any_of(instruction.suffix, [](std::string_view suffix) {
    return suffix.starts_with("f16") || suffix.starts_with("bf16") || suffix.starts_with("f32") ||
           suffix.starts_with("f64");
  });
}

// Opcodes whose class does not depend on their suffixes.
std::optional<InstructionClass> classOfOpcode(std::string_view opcode) {
  struct Row {
    InstructionClass kind;
    Words opcodes;
  };
  static const Row rows[] = {
      {InstructionClass::Convert, {"cvt", "cvta"}},
      {InstructionClass::Compare, {"setp", "set", "selp", "slct", "testp"}},
      {InstructionClass::Move, {"mov", "prmt", "movmatrix", "mapa", "isspacep", "getctarank"}},
      {InstructionClass::SharedMemory, {"ldmatrix", "stmatrix"}},
      {InstructionClass::Atomic, {"atom", "red"}},
      {InstructionClass::Exchange, {"shfl", "vote", "match", "redux", "activemask", "elect"}},
      {InstructionClass::Tensor, {"mma", "wgmma", "wmma"}},
      {InstructionClass::Barrier, {"bar", "barrier", "mbarrier", "membar", "fence"}},
      {InstructionClass::AsyncCopy, {"tensormap"}},
      {InstructionClass::Control, {"bra", "brx", "call", "ret", "exit", "trap", "brkpt"}},
      {InstructionClass::Float,
       {"fma", "sin", "cos", "ex2", "lg2", "rcp", "sqrt", "rsqrt", "tanh", "copysign"}},
      {InstructionClass::Other,
       {"setmaxnreg", "griddepcontrol", "nanosleep", "createpolicy", "applypriority", "discard"}},
  };
  for (const Row &row : rows)
    if (std::ranges::count(row.opcodes, opcode))
      return row.kind;
  return std::nullopt;
}

} // namespace

const char *nameOf(InstructionClass kind) {
  static constexpr const char *names[] = {
      "integer",       "float",        "convert",      "compare",        "move",   "global memory",
      "shared memory", "local memory", "param memory", "generic memory", "atomic", "exchange",
      "async copy",    "barrier",      "tensor",       "control",        "other"};
  static_assert(std::size(names) == kInstructionClasses);
  return names[static_cast<size_t>(kind)];
}

InstructionClass classOf(const Instruction &instruction) {
  std::string_view opcode = instruction.opcode;
  if (isOneOf(opcode, {"ld", "ldu", "st", "prefetch", "prefetchu"}))
    return has(instruction, "async") ? InstructionClass::AsyncCopy : memoryClass(instruction);
  if (opcode == "cp" || (opcode == "red" && has(instruction, "async")))
    return InstructionClass::AsyncCopy;
  if (std::optional<InstructionClass> kind = classOfOpcode(opcode))
    return *kind;
  return worksOnFloats(instruction) ? InstructionClass::Float : InstructionClass::Integer;
}

uint32_t macsOf(const Instruction &instruction) {
  if (classOf(instruction) != InstructionClass::Tensor || has(instruction, "load") ||
      has(instruction, "store")) // of wmma
    return 0;
  for (std::string_view suffix : instruction.suffix) {
    uint32_t extents[3] = {}, count = 0; // m16n8k16
    const char *at = suffix.data(), *end = at + suffix.size();
    for (char letter : {'m', 'n', 'k'}) {
      if (at == end || *at != letter)
        break;
      auto [next, fault] = std::from_chars(at + 1, end, extents[count]);
      if (fault != std::errc())
        break;
      at = next;
      ++count;
    }
    if (count == 3 && at == end)
      return extents[0] * extents[1] * extents[2] / (instruction.opcode == "wgmma" ? 4 : 1) /
             (has(instruction, "sp") || has(instruction, "sp::ordered_metadata") ? 2 : 1);
  }
  return 0;
}

InstructionMix mixOf(const std::vector<LineCounters> &lines) {
  InstructionMix mix = {};
  for (const LineCounters &line : lines)
    mix[static_cast<size_t>(line.kind)] += line.counters.warpInstructions;
  return mix;
}

std::vector<LineCounters> bySource(const std::vector<LineCounters> &lines) {
  std::map<std::pair<std::string, int>, Counters> sums;
  for (const LineCounters &line : lines)
    if (!line.sourceFile.empty())
      sums[{line.sourceFile, line.sourceLine}] += line.counters;
  std::vector<LineCounters> sources;
  for (const auto &[place, counters] : sums) {
    LineCounters &source = sources.emplace_back();
    source.sourceFile = place.first;
    source.sourceLine = place.second;
    source.counters = counters;
  }
  return sources;
}

Counters &Counters::operator+=(const Counters &other) {
  warpInstructions += other.warpInstructions;
  activeLanes += other.activeLanes;
  executedLanes += other.executedLanes;
  mma += other.mma;
  macs += other.macs;
  sharedRequests += other.sharedRequests;
  sharedWavefronts += other.sharedWavefronts;
  sharedIdeal += other.sharedIdeal;
  globalRequests += other.globalRequests;
  globalSectors += other.globalSectors;
  globalLines += other.globalLines;
  globalBytesUsed += other.globalBytesUsed;
  distinctSectorsLoaded += other.distinctSectorsLoaded;
  distinctSectorsStored += other.distinctSectorsStored;
  atomics += other.atomics;
  asyncBytes += other.asyncBytes;
  waits += other.waits;
  barriers += other.barriers;
  sharedTouched = std::max(sharedTouched, other.sharedTouched);
  return *this;
}

} // namespace tile::vgpu
