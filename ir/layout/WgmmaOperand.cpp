#include "ir/layout/WgmmaOperand.h"

namespace tile::layout {

namespace {

constexpr int kChunkBytes = 16;
constexpr int kGroupRows = 8;

/// The swizzle, which is its own inverse: chunk numbers are XORed with row numbers.
int64_t swizzled(int64_t x, int swizzleBytes) {
  int64_t mask = swizzleBytes / kChunkBytes - 1;
  return x ^ (x >> 7 & mask) << 4;
}

/// Bytes from the tile's first to an element before the swizzle.
int64_t linearByte(const WgmmaOperand &operand, int64_t outer, int64_t k) {
  Coords at(2);
  at[static_cast<size_t>(operand.outerDim)] = static_cast<int32_t>(outer);
  at[static_cast<size_t>(1 - operand.outerDim)] = static_cast<int32_t>(k);
  return swizzled(operand.shared.offset(at) * operand.elementBytes, operand.swizzleBytes);
}

/// Where the descriptor expects an element of an instruction, from the instruction's start.
int64_t expectedByte(const WgmmaOperand &operand, int64_t outer, int64_t k) {
  int64_t row = operand.isKMajor ? outer : k;
  int64_t byte = (operand.isKMajor ? k : outer) * operand.elementBytes;
  return byte / operand.swizzleBytes * operand.leadingBytes +
         row / kGroupRows * operand.strideBytes + row % kGroupRows * operand.swizzleBytes +
         byte % operand.swizzleBytes;
}

struct Blocks {
  int64_t outer, k;           ///< extents of the tile
  int64_t outerBlock, kBlock; ///< and of an instruction
};

// Every element where the descriptor of its instruction expects it. Elements of a chunk are
// neighbours in every layout with such spans, so that one of each is looked at.
bool reachesAll(const WgmmaOperand &operand, const Blocks &blocks) {
  int64_t perChunk = kChunkBytes / operand.elementBytes;
  int64_t outerStep = operand.isKMajor ? 1 : perChunk, kStep = operand.isKMajor ? perChunk : 1;
  for (int64_t outer = 0; outer < blocks.outer; outer += outerStep)
    for (int64_t k = 0; k < blocks.k; k += kStep) {
      int64_t inOuter = outer % blocks.outerBlock, inK = k % blocks.kBlock;
      int64_t start = operand.startOf(outer - inOuter, k - inK);
      if (linearByte(operand, outer, k) - start != expectedByte(operand, inOuter, inK))
        return false;
    }
  return true;
}

// Are the elements of a chunk neighbours?
bool keepsChunks(const WgmmaOperand &operand) {
  for (int64_t i = 1; i < kChunkBytes / operand.elementBytes; ++i)
    if (linearByte(operand, operand.isKMajor ? 0 : i, operand.isKMajor ? i : 0) !=
        i * operand.elementBytes)
      return false;
  return true;
}

// The distances that the first instruction's elements have, if it has several groups of rows, or
// spans, at all.
void setDistances(WgmmaOperand &operand, const Blocks &blocks) {
  int64_t rows = operand.isKMajor ? blocks.outerBlock : blocks.kBlock;
  int64_t span = operand.swizzleBytes / operand.elementBytes;
  operand.strideBytes = kGroupRows * int64_t(operand.swizzleBytes);
  if (rows > kGroupRows)
    operand.strideBytes =
        operand.isKMajor ? linearByte(operand, kGroupRows, 0) : linearByte(operand, 0, kGroupRows);
  operand.leadingBytes = operand.strideBytes;
  if (!operand.isKMajor && blocks.outerBlock > span)
    operand.leadingBytes = linearByte(operand, span, 0);
}

// A descriptor's distances are 14 bits, in units of 16 bytes.
bool fitsField(int64_t bytes) {
  return bytes >= 0 && bytes % kChunkBytes == 0 && bytes / kChunkBytes < 1 << 14;
}

} // namespace

int64_t WgmmaOperand::startOf(int64_t outer, int64_t k) const {
  return linearByte(*this, outer, k);
}

std::optional<WgmmaOperand> matchWgmmaOperand(const SharedLayout &shared, int outerDim,
                                              int64_t outerBlock, int64_t kBlock, int elementBytes,
                                              Refusal *why) {
  if (shared.rank() != 2 || outerDim < 0 || outerDim > 1 || elementBytes > kChunkBytes)
    return refuse(why, "the tile is not a matrix");
  auto outer = static_cast<size_t>(outerDim);
  Blocks blocks = {shared.shape()[outer], shared.shape()[1 - outer], outerBlock, kBlock};
  if (blocks.outer % outerBlock || blocks.k % kBlock)
    return refuse(why, "the tile is no multiple of the instruction");
  for (int swizzle : {128, 64, 32})
    for (bool isKMajor : {true, false}) {
      WgmmaOperand operand{swizzle, isKMajor, 0, 0, shared, outerDim, elementBytes};
      if (isKMajor && kBlock * elementBytes > swizzle)
        continue;
      if ((isKMajor ? blocks.k : blocks.outer) * elementBytes < swizzle || !keepsChunks(operand))
        continue;
      setDistances(operand, blocks);
      if (fitsField(operand.strideBytes) && fitsField(operand.leadingBytes) &&
          reachesAll(operand, blocks))
        return operand;
    }
  return refuse(why, "no descriptor reaches the elements where they lie in shared memory");
}

std::optional<SharedLayout>
wgmmaOperandMemory(const Shape &shape, const std::vector<int32_t> &order, int elementBytes) {
  int64_t rowBytes = shape[static_cast<size_t>(order.front())] * elementBytes;
  for (int swizzle : {128, 64, 32})
    if (rowBytes % swizzle == 0)
      return SharedLayout::tma(shape, order, elementBytes, swizzle);
  return std::nullopt;
}

} // namespace tile::layout
