// ldmatrix, stmatrix, movmatrix: 8x8 tiles of 16-bit elements between shared memory and fragments.
//
// Lanes 8q..8q+7 give the row addresses of matrix q. Lane l holds the two elements of row l/4 at columns 2(l%4) and the
// next; transposed, those of column l/4 at rows 2(l%4) and the next.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/isa/memory/SharedLanes.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/InitCheck.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

struct MatrixForm {
  bool isWide = false, isGeneric = false; // the addresses
  bool isTransposed = false;
  bool overwritesAddress = false; // a target is also the register of the addresses
};
bool isTransposed(const Op &op) { return formOf<MatrixForm>(op).isTransposed; }

constexpr unsigned kRowOfMatrixBytes = 16;

// Resolves the row addresses of all matrices: lanes that give none are masked off.
bool resolveRows(Warp &warp, const Op &op, uint32_t addressRow, unsigned matrices, bool writes,
                 Access &access) {
  if (!warp.converged(op, kFullMask))
    return false;
  if (warp.mask != kFullMask)
    warp.stop(op, FindingKind::Divergence, LaneMask{warp.mask}, "needs all 32 lanes of the warp");
  access.mask = matrices == 4 ? kFullMask : (1u << 8 * matrices) - 1;
  access.bytes = kRowOfMatrixBytes;
  access.kind = writes ? AccessKind::Write : AccessKind::Read;
  access.space = Space::Shared;
  auto form = formOf<MatrixForm>(op);
  readAddresses(warp, addressRow, form.isWide, op.imm, access.address);
  if (form.isGeneric)
    for (uint64_t &address : access.address)
      address -= address >= kSharedWindow ? kSharedWindow : 0;
  if (warp.shadow) {
    uint32_t all = warp.mask;
    warp.mask = access.mask;
    checkAddress(warp, op, addressRow);
    warp.mask = all;
  }
  resolve(warp, op, access);
  requireOwnShared(warp, op, access);
  return true;
}

// The pieces of matrix q that lane l holds: calls visit(byte address, host pointer, half of the register).
template <class Visit>
void forPieces(const Access &access, unsigned matrix, unsigned lane, bool transposed, Visit visit) {
  unsigned group = lane / 4, pair = lane % 4;
  for (unsigned half = 0; half < 2; ++half) {
    unsigned row = matrix * 8 + (transposed ? 2 * pair + half : group);
    unsigned column = transposed ? group : 2 * pair + half;
    visit(access.address[row] + 2 * column, access.host[row] + 2 * column, half);
  }
}

// To the race checker a lane touches just the elements it receives or gives.
void checkPieceRaces(Warp &warp, const Op &op, const Access &access, unsigned matrix, unsigned lane,
                     AccessKind kind, bool same) {
  same &= !warp.cta->launch->checks().strict;
  SharedRaces &races = *warp.cta->races;
  Accessor accessor = accessorOf(warp, op, lane, kind);
  if (!isTransposed(op)) {
    auto offset =
        static_cast<uint32_t>(access.address[matrix * 8 + lane / 4] - kSharedBase) + 4 * (lane % 4);
    races.access(accessor, offset, 4, same);
    return;
  }
  forPieces(access, matrix, lane, true, [&](uint64_t address, uint8_t *, unsigned) {
    races.access(accessor, static_cast<uint32_t>(address - kSharedBase), 2, same);
  });
}

bool isWhole(const Warp &warp, const Access &access, unsigned matrix) {
  for (unsigned row = matrix * 8; row < matrix * 8 + 8; ++row)
    if (warp.cta->sharedValid.get(access.address[row] - kSharedBase, kRowOfMatrixBytes) != 0xffff)
      return false;
  return true;
}

void loadMatrixShadow(Warp &warp, const Op &op, const Access &access, unsigned matrix) {
  if (isWhole(warp, access, matrix))
    return warp.shadow.set(op.rows[matrix], kFullMask, kFullMask);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t undefined = 0;
    forPieces(access, matrix, lane, isTransposed(op),
              [&](uint64_t address, const uint8_t *, unsigned half) {
                if (warp.cta->sharedValid.get(address - kSharedBase, 2) != 3)
                  undefined |= 0xffffu << (16 * half);
              });
    warp.shadow.setUndefined(op.rows[matrix], lane, undefined);
  }
}

// Eight elements of 16 bits.
using MatrixRow __attribute__((vector_size(16))) = uint16_t;

// Rows i and i + 4 become rows 2i and 2i + 1, element by element in turns: three times over, that transposes.
void interleaveHalves(MatrixRow (&rows)[8]) {
  MatrixRow result[8];
  for (unsigned i = 0; i < 4; ++i) {
    result[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
    result[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  std::ranges::copy(result, rows);
}

void transpose(MatrixRow (&rows)[8]) {
  for (unsigned round = 0; round < 3; ++round)
    interleaveHalves(rows);
}

// The transpose of one fragment, lane to lane. It may be in place.
void transposeFragment(const uint32_t *source, uint32_t *target) {
  MatrixRow rows[8];
  std::memcpy(rows, source, sizeof rows);
  transpose(rows);
  std::memcpy(target, rows, sizeof rows);
}

// Row by row; only where something may be wrong, lane by lane.
void checkReadRaces(Warp &warp, const Op &op, const Access &access) {
  warp.clock.touch(warp.mask);
  Accessor rows = accessorOf(warp, op, AccessRecord::kSeveralLanes, AccessKind::Read);
  uint32_t offsets[kLanes];
  for (unsigned row = 0; row < kLanes; ++row)
    offsets[row] = static_cast<uint32_t>(access.address[row] - kSharedBase);
  uint32_t others = warp.cta->races->readChunks(rows, offsets, access.mask);
  forLanes(others, [&](unsigned row) {
    if (isTransposed(op))
      return warp.cta->races->access(rows, offsets[row], kRowOfMatrixBytes, false);
    for (unsigned lane = row % 8 * 4, end = lane + 4; lane < end; ++lane)
      checkPieceRaces(warp, op, access, row / 8, lane, AccessKind::Read, false);
  });
}

// The rows of one matrix become a fragment: four lanes hold one.
template <class RowAt> void loadRows(uint32_t *target, bool transposed, RowAt rowAt) {
  MatrixRow rows[8];
  for (unsigned row = 0; row < 8; ++row)
    std::memcpy(&rows[row], rowAt(row), kRowOfMatrixBytes);
  if (transposed)
    transpose(rows);
  std::memcpy(target, rows, sizeof rows);
}

bool loadUnchecked(Warp &warp, const Op &op) {
  auto form = formOf<MatrixForm>(op);
  if (form.isWide || form.isGeneric || form.overwritesAddress)
    return false;
  auto places = findOwnShared(warp, op.rows[op.targets], static_cast<int32_t>(op.imm),
                              kRowOfMatrixBytes, 8u * op.targets);
  if (!places)
    return false;
  for (unsigned matrix = 0; matrix < op.targets; ++matrix)
    loadRows(warp.row<uint32_t>(op.rows[matrix]), isTransposed(op),
             [&](unsigned row) { return (*places)[matrix * 8 + row]; });
  return true;
}

void loadMatrix(Warp &warp, const Op &op) {
  if (loadUnchecked(warp, op))
    return;
  Access access;
  unsigned matrices = op.targets;
  bool transposed = isTransposed(op);
  if (!resolveRows(warp, op, op.rows[op.targets], matrices, false, access))
    return;
  if (warp.cta->races)
    checkReadRaces(warp, op, access);
  for (unsigned matrix = 0; matrix < matrices; ++matrix) {
    loadRows(warp.row<uint32_t>(op.rows[matrix]), transposed,
             [&](unsigned row) { return access.host[matrix * 8 + row]; });
    if (warp.shadow)
      loadMatrixShadow(warp, op, access, matrix);
  }
}

// Row by row: four lanes hold one, of the transpose.
void storeRows(const uint32_t *source, const Access &access, unsigned matrix, bool transposed) {
  uint32_t turned[kLanes];
  if (transposed)
    transposeFragment(source, turned);
  for (unsigned row = 0; row < 8; ++row)
    std::memcpy(access.host[matrix * 8 + row], (transposed ? turned : source) + 4 * row,
                kRowOfMatrixBytes);
}

// True if all rows of a matrix are apart, so that lanes need not be checked against each other.
bool areRowsApart(const Access &access, unsigned matrix) {
  for (unsigned row = matrix * 8; row < matrix * 8 + 8; ++row)
    for (unsigned other = matrix * 8; other < row; ++other)
      if (access.address[row] == access.address[other])
        return false;
  return true;
}

// A fragment that is initialised in full, row by row.
void storeWhole(Warp &warp, const Op &op, const Access &access, unsigned matrix) {
  const uint32_t *source = warp.row<uint32_t>(op.rows[matrix]);
  if (SharedRaces *races = warp.cta->races.get()) {
    warp.clock.touch(warp.mask);
    bool isStrict = warp.cta->launch->checks().strict;
    Accessor accessor = accessorOf(warp, op, 0, AccessKind::Write);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned row = matrix * 8 + lane / 4, column = lane % 4 * 4;
      accessor.setLane(lane);
      races->access(accessor, static_cast<uint32_t>(access.address[row] - kSharedBase) + column, 4,
                    !isStrict && std::memcmp(access.host[row] + column, source + lane, 4) == 0);
    }
  }
  storeRows(source, access, matrix, isTransposed(op));
  for (unsigned row = matrix * 8; warp.shadow && row < matrix * 8 + 8; ++row)
    warp.cta->sharedValid.mark(access.address[row] - kSharedBase, kRowOfMatrixBytes);
}

void storeMatrix(Warp &warp, const Op &op) {
  Access access;
  unsigned matrices = op.sources - 1u;
  bool transposed = isTransposed(op);
  if (!resolveRows(warp, op, op.rows[matrices], matrices, true, access))
    return;
  for (unsigned matrix = 0; matrix < matrices; ++matrix) {
    const uint32_t *source = warp.row<uint32_t>(op.rows[matrix]);
    bool isWhole = !warp.shadow || warp.shadow.whole(op.rows[matrix]) == kFullMask;
    if (isWhole && (!warp.cta->races || (!transposed && areRowsApart(access, matrix)))) {
      storeWhole(warp, op, access, matrix);
      continue;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint32_t before = 0, value = source[lane];
      forPieces(access, matrix, lane, transposed,
                [&](uint64_t, const uint8_t *host, unsigned half) {
                  std::memcpy(reinterpret_cast<uint8_t *>(&before) + 2 * half, host, 2);
                });
      if (warp.cta->races)
        checkPieceRaces(warp, op, access, matrix, lane, AccessKind::Write, before == value);
      uint32_t undefined = warp.shadow ? warp.shadow.undefined<uint32_t>(op.rows[matrix], lane) : 0;
      forPieces(access, matrix, lane, transposed,
                [&](uint64_t address, uint8_t *host, unsigned half) {
                  std::memcpy(host, reinterpret_cast<const uint8_t *>(&value) + 2 * half, 2);
                  if (warp.shadow)
                    warp.cta->sharedValid.set(address - kSharedBase, 2,
                                              !(undefined >> (16 * half) & 0xffff));
                });
    }
  }
}

void moveMatrix(Warp &warp, const Op &op) {
  if (!warp.converged(op, kFullMask))
    return;
  transposeFragment(warp.row<uint32_t>(op.rows[1]), warp.row<uint32_t>(op.rows[0]));
  if (warp.shadow)
    warp.shadow.set(op.rows[0], warp.shadow.whole(op.rows[1]) == kFullMask ? kFullMask : 0,
                    kFullMask);
}

// `matrices` receives their number.
MatrixForm takeForm(Decoder &decoder, Suffixes &suffixes, size_t &matrices) {
  MatrixForm form;
  bool sync = suffixes.take("sync"), aligned = suffixes.take("aligned"),
       shape = suffixes.take("m8n8");
  std::string_view count = suffixes.takeOneOf({"x1", "x2", "x4"});
  matrices = count.empty() ? 0 : static_cast<size_t>(count[1] - '0');
  form.isTransposed = suffixes.take("trans");
  bool shared = suffixes.take("shared") || suffixes.take("shared::cta");
  form.isGeneric = !shared;
  if (!sync || !aligned || !shape || count.empty() || suffixes.takeType() != ScalarType::B16)
    decoder.unsupported("expected .sync.aligned.m8n8.{x1,x2,x4}{.trans}{.shared}.b16");
  return form;
}

const std::vector<Operand> fragment(Decoder &decoder, const Operand &operand, size_t count) {
  std::vector<Operand> parts =
      operand.kind == Operand::Kind::Vector ? operand.parts : std::vector<Operand>{operand};
  if (parts.size() != count)
    decoder.malformed("expected " + std::to_string(count) + " registers");
  return parts;
}

void decodeLdmatrix(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  size_t matrices = 0;
  MatrixForm form = takeForm(decoder, suffixes, matrices);
  decoder.wantOperands(instruction, 2);
  std::vector<uint32_t> targets;
  for (const Operand &part : fragment(decoder, instruction.operands[0], matrices))
    targets.push_back(decoder.target(part, ScalarType::B32));
  Decoder::Address address = decoder.address(instruction.operands[1]);
  form.isWide = address.bytes == 8;
  form.overwritesAddress = std::ranges::count(targets, address.row) > 0;
  decoder.emitWide(loadMatrix, targets, std::array{address.row}, address.offset, form,
                   kOwnValidity);
}

void decodeStmatrix(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  size_t matrices = 0;
  MatrixForm form = takeForm(decoder, suffixes, matrices);
  decoder.wantOperands(instruction, 2);
  std::vector<uint32_t> sources;
  for (const Operand &part : fragment(decoder, instruction.operands[1], matrices))
    sources.push_back(decoder.source(part, ScalarType::B32));
  Decoder::Address address = decoder.address(instruction.operands[0]);
  sources.push_back(address.row);
  form.isWide = address.bytes == 8;
  decoder.emitWide(storeMatrix, {}, sources, address.offset, form, kOwnValidity);
}

void decodeMovmatrix(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool known = suffixes.take("sync") && suffixes.take("aligned") && suffixes.take("m8n8") &&
               suffixes.take("trans");
  if (!known || suffixes.takeType() != ScalarType::B16)
    decoder.unsupported("expected movmatrix.sync.aligned.m8n8.trans.b16");
  decoder.wantOperands(instruction, 2);
  uint32_t source = decoder.source(instruction.operands[1], ScalarType::B32);
  decoder.emit(moveMatrix, {decoder.target(instruction.operands[0], ScalarType::B32)}, {source}, 0,
               0, 0, kOwnValidity);
}

template <TimeKind kind> TimeForm timeOfMatrix(const Instruction &instruction) {
  uint16_t matrices = hasWord(instruction, "x4") ? 4 : hasWord(instruction, "x2") ? 2 : 1;
  return {.kind = kind,
          .cost = Cost::Issue,
          .pipe = Pipe::Memory,
          .number = matrices,
          .makesFloats = true};
}

const OpcodeInfo kOpcodes[] = {
    {.name = "ldmatrix",
     .decode = decodeLdmatrix,
     .time = timeOfMatrix<TimeKind::LoadMatrix>,
     .kind = always<InstructionClass::SharedMemory>,
     .requirements = {{"", 75, 65}, {"shared::cta", 75, 78}},
     .traits = kFeedsProducts},
    {.name = "stmatrix",
     .decode = decodeStmatrix,
     .time = timeOfMatrix<TimeKind::StoreMatrix>,
     .kind = always<InstructionClass::SharedMemory>,
     .requirements = {{"", 90, 78}}},
    {.name = "movmatrix",
     .decode = decodeMovmatrix,
     .time = alwaysTakes<TimeKind::Shuffle, Cost::Shuffle>,
     .kind = always<InstructionClass::Move>,
     .requirements = {{"", 75, 78}}},
};

} // namespace

OpcodeRows matrixOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
