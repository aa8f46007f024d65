// What machine code costs that no assembler's log says: how long it is, and how long its loops are. Read off a cubin without a
// disassembler, of which only what leads elsewhere is understood.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tile::jit {

/// An instruction of sm_80 to sm_90, by what it does to control. Calls are no branches, since what they call returns.
struct MachineInstruction {
  enum class Kind {
    Plain,
    Branch,  ///< to `target`
    End,     ///< of the thread or of a subroutine
    Wait,    ///< asks whether a phase of an mbarrier is over
    Padding, ///< does nothing
  };
  Kind kind = Kind::Plain;
  int64_t target = -1;        ///< index of an instruction
  bool mayFallThrough = true; ///< to the next instruction
  bool operator==(const MachineInstruction &) const = default;
};

/// The instructions of a section of code, 16 bytes each.
std::vector<MachineInstruction> decodeControl(std::span<const std::byte> code, int smVersion);

/// How many instructions each innermost loop has, in the order of the code, those included that only some iterations carry out. A
/// loop that does nothing but wait is none, and the one around it is innermost.
std::vector<int64_t> innermostLoops(const std::vector<MachineInstruction> &code);

struct MachineCode {
  int64_t instructions = 0; ///< without padding
  std::vector<int64_t> innermostLoops;
};

/// Of the only kernel of a cubin; no instructions if it has none.
MachineCode machineCodeOf(std::span<const std::byte> cubin, int smVersion);

} // namespace tile::jit
