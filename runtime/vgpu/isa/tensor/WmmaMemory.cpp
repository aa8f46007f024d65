// wmma.load and wmma.store: fragments from and to global and shared memory, element by element.
#include "runtime/vgpu/isa/tensor/Wmma.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/InitCheck.h"
#include "runtime/vgpu/machine/access/SharedAddress.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

// A fragment, and how a load or store walks over the memory it is in.
struct Walk {
  WmmaForm form;
  bool isWide = false;   // the address
  bool isAcross = false; // lines are strided, and the elements of one are not next to each other
  Space space = Space::Generic;
};

void requireUniform(Warp &warp, const Op &op, const uint64_t *values, const char *what) {
  for (unsigned lane = 1; lane < kLanes; ++lane)
    if (values[lane] != values[0])
      warp.stop(op, FindingKind::Divergence, lane,
                std::string("the lanes of the warp give different ") + what);
}

// Where the pieces of a fragment are in memory. A piece is an element, or a register of elements narrower than a byte.
struct Pieces {
  Walk walk;
  Access access;
  uint64_t start = 0;
  uint64_t stride = 0; // between lines, in elements
  unsigned pieceBits = 0, count = 0;

  /// Makes `access` that of piece `index` of every lane.
  void select(unsigned index) {
    unsigned perPiece = pieceBits / walk.form.bits;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      auto [line, along] = walk.form.place(lane, index * perPiece);
      uint64_t at = walk.isAcross ? along * stride + line : line * stride + along;
      access.address[lane] = start + at * walk.form.bits / 8;
    }
  }
};

// Rows: address, stride. False if the warp has to wait for lanes.
bool beginWalk(Warp &warp, const Op &op, unsigned addressSource, bool writes, Pieces &pieces) {
  if (!wmmaReady(warp, op))
    return false;
  uint32_t addressRow = op.rows[addressSource], strideRow = op.rows[addressSource + 1];
  pieces.walk = formOf<Walk>(op);
  const WmmaForm &form = pieces.walk.form;
  readAddresses(warp, addressRow, pieces.walk.isWide, op.imm, pieces.access.address);
  if (warp.shadow) {
    checkAddress(warp, op, addressRow);
    checkAddress(warp, op, strideRow);
  }
  requireUniform(warp, op, pieces.access.address, "addresses");
  uint64_t strides[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    strides[lane] = warp.row<uint32_t>(strideRow)[lane];
  requireUniform(warp, op, strides, "strides");
  pieces.start = pieces.access.address[0];
  pieces.stride = strides[0];
  unsigned fragmentBytes = form.registers * form.registerBits() / 8;
  if (pieces.start % fragmentBytes != 0)
    warp.stop(op, FindingKind::Misaligned, 0,
              "the matrix must begin at a multiple of " + std::to_string(fragmentBytes) + " bytes");
  unsigned lineBits = (pieces.walk.isAcross ? form.lines : form.length) * form.bits,
           unit = std::min(lineBits, 128u);
  if (pieces.stride * form.bits % unit != 0)
    warp.stop(op, FindingKind::Misaligned, 0,
              "the stride of " + std::to_string(pieces.stride) + " elements is no multiple of " +
                  std::to_string(unit / 8) + " bytes");
  pieces.pieceBits = std::max<unsigned>(form.bits, form.bits < 8 ? 32 : 8);
  pieces.count = form.perLane() * form.bits / pieces.pieceBits;
  pieces.access.space = pieces.walk.space;
  pieces.access.mask = kFullMask;
  pieces.access.bytes = pieces.pieceBits / 8;
  pieces.access.kind = writes ? AccessKind::Write : AccessKind::Read;
  return true;
}

// Register and shift of piece `index` of a lane, of which f16 fragments have copies.
struct Slot {
  unsigned reg, shift;
};
Slot slotOf(const Pieces &pieces, unsigned index) {
  unsigned perRegister = pieces.walk.form.registerBits() / pieces.pieceBits;
  return {index / perRegister, index % perRegister * pieces.pieceBits};
}

// Nobody can say which lane touches an element, and the warp does it together: to the race checker it is lane 0, which
// makes these instructions ordered among themselves, and not with what other lanes do alone.
void checkCollectively(Warp &warp, const Op &op, const Access &access, uint32_t same) {
  Cta &cta = *warp.cta;
  if (!cta.races)
    return;
  warp.clock.touch(warp.mask);
  if (cta.launch->checks().strict)
    same = 0;
  Accessor accessor = accessorOf(warp, op, 0, access.kind);
  forLanes(access.mask, [&](unsigned lane) {
    bool isSame = same >> lane & 1;
    if (access.space == Space::Shared) {
      SharedAddress where = sharedAddressOf(warp, access.address[lane]);
      where.cta->races->access(accessor, where.address - kSharedBase, access.bytes, isSame);
    } else if (access.space == Space::Global)
      cta.cluster->globalRaces->access(accessor, access.address[lane], access.bytes, isSame);
  });
}

uint32_t undefinedBytes(Warp &warp, const Access &access, unsigned lane) {
  uint64_t bit = 0;
  ValidBits *bits = validBits(warp, access.space, access.address[lane], lane, bit);
  uint32_t all = (1u << access.bytes) - 1;
  return bits ? all & ~bits->get(bit, access.bytes) : 0;
}

template <class Lane> void loadFragment(Warp &warp, const Op &op) {
  Pieces pieces;
  if (!beginWalk(warp, op, op.targets, false, pieces))
    return;
  for (unsigned r = 0; r < op.targets; ++r)
    std::fill_n(warp.row<Lane>(op.rows[r]), kLanes, Lane{0});
  Lane undefined[8][kLanes] = {};
  unsigned slots = op.targets * pieces.walk.form.registerBits() / pieces.pieceBits;
  for (unsigned index = 0; index < pieces.count; ++index) {
    pieces.select(index);
    Access all = pieces.access;
    forSpaces(warp, op, all, [&](Access &access) {
      checkCollectively(warp, op, access, 0);
      forLanes(access.mask, [&](unsigned lane) {
        Lane value = 0, lacks = 0;
        std::memcpy(&value, access.host[lane], access.bytes);
        uint32_t bytes = warp.shadow ? undefinedBytes(warp, access, lane) : 0;
        for (unsigned i = 0; i < access.bytes; ++i)
          lacks |= bytes >> i & 1 ? Lane{0xff} << (8 * i) : Lane{0};
        for (unsigned copy = index; copy < slots; copy += pieces.count) {
          Slot slot = slotOf(pieces, copy);
          warp.row<Lane>(op.rows[slot.reg])[lane] |= value << slot.shift;
          undefined[slot.reg][lane] |= lacks << slot.shift;
        }
      });
    });
  }
  if (warp.shadow)
    for (unsigned r = 0; r < op.targets; ++r)
      for (unsigned lane = 0; lane < kLanes; ++lane)
        warp.shadow.setUndefined(op.rows[r], lane, undefined[r][lane]);
}

template <class Lane> void storeFragment(Warp &warp, const Op &op) {
  Pieces pieces;
  unsigned registers = op.sources - 2u;
  if (!beginWalk(warp, op, registers, true, pieces))
    return;
  for (unsigned index = 0; index < pieces.count; ++index) {
    pieces.select(index);
    Access all = pieces.access;
    Slot slot = slotOf(pieces, index);
    forSpaces(warp, op, all, [&](Access &access) {
      uint32_t same = 0;
      auto valueOf = [&](unsigned lane) {
        return warp.row<Lane>(op.rows[slot.reg])[lane] >> slot.shift;
      };
      forLanes(access.mask, [&](unsigned lane) {
        Lane value = valueOf(lane);
        same |= uint32_t{std::memcmp(access.host[lane], &value, access.bytes) == 0} << lane;
      });
      checkCollectively(warp, op, access, same);
      forLanes(access.mask, [&](unsigned lane) {
        Lane value = valueOf(lane);
        std::memcpy(access.host[lane], &value, access.bytes);
        if (!warp.shadow)
          return;
        Lane lacks = warp.shadow.undefined<Lane>(op.rows[slot.reg], lane) >> slot.shift;
        Lane part = access.bytes == sizeof(Lane)
                        ? static_cast<Lane>(-1)
                        : static_cast<Lane>((uint64_t{1} << 8 * access.bytes) - 1);
        bool good = (lacks & part) == 0;
        if (!good && access.space == Space::Global)
          warp.report(op, FindingKind::Uninitialised, lane,
                      unwrittenText(warp, "a value stored to global memory"));
        uint64_t bit = 0;
        if (ValidBits *bits = validBits(warp, access.space, access.address[lane], lane, bit))
          bits->set(bit, access.bytes, good || access.space == Space::Global);
      });
    });
  }
}

struct MemoryForm {
  WmmaFragment fragment = WmmaFragment::C;
  Walk walk;
  ScalarType type = ScalarType::B32; // of the registers
  unsigned defaultStride = 0;
};

MemoryForm takeMemoryForm(Decoder &decoder, Suffixes &suffixes, bool isLoad) {
  std::string_view name = isLoad ? suffixes.takeOneOf({"a", "b", "c"}) : suffixes.takeOneOf({"d"});
  bool form = suffixes.take("sync") && suffixes.take("aligned");
  std::string_view layout = suffixes.takeOneOf({"row", "col"});
  const WmmaShape *shape = takeWmmaShape(suffixes);
  MemoryForm result;
  if (suffixes.take("global"))
    result.walk.space = Space::Global;
  else if (suffixes.take("shared") || suffixes.take("shared::cta"))
    result.walk.space = Space::Shared;
  std::string_view type = suffixes.takeOneOf(
      {"f16", "bf16", "tf32", "f32", "f64", "s32", "s8", "u8", "s4", "u4", "b1"});
  result.fragment = name == "a" ? WmmaFragment::A : name == "b" ? WmmaFragment::B : WmmaFragment::C;
  std::optional<WmmaForm> fragment = shape ? wmmaForm(*shape, type, result.fragment) : std::nullopt;
  // Lines are columns of B and rows of the others; a matrix stored the other way is walked across.
  bool across = (layout == "col") != (result.fragment == WmmaFragment::B);
  if (name.empty() || !form || layout.empty() || !fragment || (across && fragment->bits < 8))
    decoder.unsupported("this fragment, layout, shape and type do not go together");
  result.walk.form = *fragment;
  result.walk.isAcross = across;
  result.type = fragment->bits == 64 ? ScalarType::B64
                : type == "s32"      ? ScalarType::S32
                                     : ScalarType::B32;
  result.defaultStride = across ? fragment->lines : fragment->length;
  return result;
}

uint32_t strideRow(Decoder &decoder, const Instruction &instruction, const MemoryForm &form) {
  return instruction.operands.size() > 2 ? decoder.source(instruction.operands[2], ScalarType::U32)
                                         : decoder.constant(form.defaultStride, 4);
}

} // namespace

void decodeWmmaLoad(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  MemoryForm form = takeMemoryForm(decoder, suffixes, true);
  decoder.wantOperands(instruction, 2, 3);
  bool wide = form.walk.form.bits == 64;
  std::vector<uint32_t> targets;
  for (const Operand &part :
       wmmaRegisters(decoder, instruction.operands[0], form.walk.form.registers))
    targets.push_back(decoder.target(part, form.type));
  Decoder::Address address = decoder.address(instruction.operands[1]);
  form.walk.space = decoder.spaceOf(form.walk.space, address);
  form.walk.isWide = address.bytes == 8;
  decoder.emitWide(wide ? loadFragment<uint64_t> : loadFragment<uint32_t>, targets,
                   std::array{address.row, strideRow(decoder, instruction, form)}, address.offset,
                   form.walk, kOwnValidity);
}

void decodeWmmaStore(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  MemoryForm form = takeMemoryForm(decoder, suffixes, false);
  decoder.wantOperands(instruction, 2, 3);
  bool wide = form.walk.form.bits == 64;
  std::vector<uint32_t> sources;
  for (const Operand &part :
       wmmaRegisters(decoder, instruction.operands[1], form.walk.form.registers))
    sources.push_back(decoder.source(part, form.type));
  Decoder::Address address = decoder.address(instruction.operands[0]);
  form.walk.space = decoder.spaceOf(form.walk.space, address);
  form.walk.isWide = address.bytes == 8;
  sources.push_back(address.row);
  sources.push_back(strideRow(decoder, instruction, form));
  decoder.emitWide(wide ? storeFragment<uint64_t> : storeFragment<uint32_t>, {}, sources,
                   address.offset, form.walk, kOwnValidity);
}

} // namespace tile::vgpu
