// Fragments of wmma: which element is where.
//
// PTX leaves open which element a lane's registers hold; only the number of registers is given. Here they lie as on Hopper, as
// in fragments of mma: with g = lane / 4, t = lane % 4 and e elements a register, g counts along the lines of a fragment, its
// rows (B: its columns), and register w holds e neighbours from e*t on along each. Where there are more registers than elements
// for them, as in f16 fragments, they repeat.
#pragma once

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/machine/Warp.h"

namespace tile::vgpu {

enum class WmmaFragment : uint8_t { A, B, C };

struct WmmaShape {
  std::string_view name;
  uint8_t m, n, k;
};
inline constexpr WmmaShape kWmmaShapes[] = {{"m16n16k16", 16, 16, 16}, {"m8n32k16", 8, 32, 16},
                                            {"m32n8k16", 32, 8, 16},   {"m16n16k8", 16, 16, 8},
                                            {"m8n8k4", 8, 8, 4},       {"m8n8k32", 8, 8, 32},
                                            {"m8n8k128", 8, 8, 128}};
/// Removes the shape from the suffixes; null if there is none.
const WmmaShape *takeWmmaShape(Suffixes &suffixes);

/// The order in which the blocks of eight lines by four registers, of sums by eight columns, follow each other in the registers
/// of a lane.
enum class WmmaOrder : uint8_t {
  DepthFirst, // all of eight lines, then the next eight
  LinesFirst, // sixteen lines for each part of the depth, then the next sixteen
  SumsDown,   // sums: down the rows, then the next columns
  SumsAcross  // the same transposed: g counts along columns
};

/// A fragment: `lines` runs of `length` elements of `bits`, in `registers` registers a lane. In bytes: an operation keeps it.
struct WmmaForm {
  uint8_t lines, length, bits, registers;
  WmmaOrder order = WmmaOrder::DepthFirst;
  unsigned elements() const { return unsigned{lines} * length; }
  unsigned perLane() const { return elements() / kLanes; }
  unsigned registerBits() const { return bits == 64 ? 64 : 32; }
  unsigned perRegister() const { return registerBits() / bits; }

  struct Place {
    unsigned line, along;
  };
  /// The place of element `i` of a lane.
  Place place(unsigned lane, unsigned i) const;
};
/// The form of a fragment with elements of a type as PTX spells it; nothing if there is none.
std::optional<WmmaForm> wmmaForm(const WmmaShape &shape, std::string_view type,
                                 WmmaFragment fragment);

/// Whether all lanes have come; false: the operation will run again. Stops the block if some never will.
bool wmmaReady(Warp &warp, const Op &op);

/// wmma.load and wmma.store (WmmaMemory.cpp).
void decodeWmmaLoad(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes);
void decodeWmmaStore(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes);

/// The registers of a fragment operand, of which there must be `count`.
std::vector<Operand> wmmaRegisters(Decoder &decoder, const Operand &operand, size_t count);

} // namespace tile::vgpu
