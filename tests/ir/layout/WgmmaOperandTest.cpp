// Descriptors of wgmma against the address function of the hardware.
#include "ir/layout/WgmmaOperand.h"

#include <gtest/gtest.h>

namespace tile::layout {
namespace {

struct Case {
  Shape shape;
  std::vector<int32_t> order;
  int outerDim;
  int64_t outerBlock, kBlock;
  int bytes, swizzle;
  bool isKMajor;
};

// What the engine reads, from the fields alone: byte `b` of row `r` lies at x ^ (bits 7 and up of x, as the swizzle has
// chunks) << 4, x being the start plus the linear offset.
int64_t engineByte(const WgmmaOperand &operand, int64_t start, int64_t outer, int64_t k) {
  int64_t row = operand.isKMajor ? outer : k;
  int64_t byte = (operand.isKMajor ? k : outer) * operand.elementBytes;
  int64_t span = operand.swizzleBytes, x = start + row / 8 * operand.strideBytes + row % 8 * span;
  x += operand.isKMajor ? byte : byte / span * operand.leadingBytes + byte % span;
  return x ^ ((x >> 7) & (span / 16 - 1)) << 4;
}

TEST(WgmmaOperand, EveryElementIsWhereTheEngineReadsIt) {
  const Case cases[] = {
      {{128, 64}, {1, 0}, 0, 64, 16, 2, 128, true},   // A, rows of 128 bytes
      {{128, 128}, {1, 0}, 0, 64, 16, 2, 128, true},  // of 256: two panels
      {{64, 32}, {1, 0}, 0, 64, 16, 2, 64, true},     //
      {{64, 16}, {1, 0}, 0, 64, 16, 2, 32, true},     //
      {{192, 64}, {1, 0}, 0, 64, 16, 2, 128, true},   // an odd factor of rows
      {{64, 64}, {0, 1}, 0, 64, 16, 2, 128, false},   // A transposed
      {{128, 64}, {0, 1}, 0, 64, 16, 2, 128, false},  //
      {{64, 256}, {1, 0}, 1, 256, 16, 2, 128, false}, // B row by row: N is fastest
      {{64, 32}, {1, 0}, 1, 32, 16, 2, 64, false},    //
      {{32, 192}, {1, 0}, 1, 192, 16, 2, 128, false}, //
      {{64, 256}, {0, 1}, 1, 256, 16, 2, 128, true},  // B column by column
      {{16, 24}, {0, 1}, 1, 24, 16, 2, 32, true},     //
      {{128, 64}, {0, 1}, 1, 64, 32, 1, 128, true},   // 8-bit
      {{64, 64}, {1, 0}, 0, 64, 32, 1, 64, true},
  };
  for (const Case &c : cases) {
    auto memory = wgmmaOperandMemory(c.shape, c.order, c.bytes);
    ASSERT_TRUE(memory);
    SCOPED_TRACE(memory->toString());
    Refusal why;
    auto operand = matchWgmmaOperand(*memory, c.outerDim, c.outerBlock, c.kBlock, c.bytes, &why);
    ASSERT_TRUE(operand) << *why;
    EXPECT_EQ(operand->swizzleBytes, c.swizzle);
    EXPECT_EQ(operand->isKMajor, c.isKMajor);
    auto outer = static_cast<size_t>(c.outerDim);
    for (int32_t o = 0; o < c.shape[outer]; ++o)
      for (int32_t k = 0; k < c.shape[1 - outer]; ++k) {
        int64_t inOuter = o % c.outerBlock, inK = k % c.kBlock;
        Coords at = c.outerDim == 0 ? Coords{o, k} : Coords{k, o};
        ASSERT_EQ(engineByte(*operand, operand->startOf(o - inOuter, k - inK), inOuter, inK),
                  memory->offset(at) * c.bytes)
            << "outer " << o << ", k " << k;
      }
  }
}

TEST(WgmmaOperand, WhatNoDescriptorReachesIsRefused) {
  Refusal why;
  SharedLayout plain = SharedLayout::rowMajor({64, 64}, {1, 0});
  EXPECT_FALSE(matchWgmmaOperand(plain, 0, 64, 16, 2, &why));
  EXPECT_EQ(*why, "no descriptor reaches the elements where they lie in shared memory");
  EXPECT_FALSE(matchWgmmaOperand(plain, 0, 128, 16, 2, &why));
  EXPECT_EQ(*why, "the tile is no multiple of the instruction");
  EXPECT_FALSE(matchWgmmaOperand(SharedLayout::rowMajor({64}, {0}), 0, 64, 16, 2, &why));
  EXPECT_EQ(*why, "the tile is not a matrix");
  EXPECT_FALSE(wgmmaOperandMemory({64, 8}, {1, 0}, 2)); // rows of 16 bytes
}

} // namespace
} // namespace tile::layout
