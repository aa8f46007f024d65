// Names of classes, and classes by types and spaces.
#include "runtime/vgpu/machine/InstructionClass.h"

#include <charconv>

namespace tile::vgpu {

const char *nameOf(InstructionClass kind) {
  static constexpr const char *names[] = {
      "integer",       "float",        "convert",      "compare",        "move",   "global memory",
      "shared memory", "local memory", "param memory", "generic memory", "atomic", "exchange",
      "async copy",    "barrier",      "tensor",       "control",        "other"};
  static_assert(std::size(names) == kInstructionClasses);
  return names[static_cast<size_t>(kind)];
}

bool hasWord(const Instruction &instruction, std::string_view word) {
  return std::ranges::count(instruction.suffix, word) > 0;
}

InstructionClass classByType(const Instruction &instruction) {
  bool isFloat = std::ranges::any_of(instruction.suffix, [](std::string_view suffix) {
    return suffix.starts_with("f16") || suffix.starts_with("bf16") || suffix.starts_with("f32") ||
           suffix.starts_with("f64");
  });
  return isFloat ? InstructionClass::Float : InstructionClass::Integer;
}

InstructionClass classBySpace(const Instruction &instruction) {
  for (std::string_view suffix : instruction.suffix) {
    if (suffix == "global" || suffix == "const")
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

uint32_t macsOf(const Instruction &instruction) {
  if (hasWord(instruction, "load") || hasWord(instruction, "store")) // of wmma
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
      return extents[0] * extents[1] * extents[2] /
             (hasWord(instruction, "sp") || hasWord(instruction, "sp::ordered_metadata") ? 2 : 1);
  }
  return 0;
}

} // namespace tile::vgpu
