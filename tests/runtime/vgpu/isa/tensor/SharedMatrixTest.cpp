// Matrix descriptors against layouts worked out by hand and against copies made chunk by chunk.
#include "runtime/vgpu/isa/tensor/SharedMatrix.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace tile::vgpu {
namespace {

constexpr uint64_t kNone = 0, k128 = 1, k64 = 2, k32 = 3; // by the two highest bits

uint64_t descriptor(uint64_t start, uint64_t leading, uint64_t stride, uint64_t swizzle,
                    uint64_t baseOffset = 0) {
  return start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | baseOffset << 49 | swizzle << 62;
}

SharedMatrix decoded(uint64_t bits, const MatrixExtent &extent) {
  std::string fault;
  std::optional<SharedMatrix> matrix = decodeSharedMatrix(bits, extent, fault);
  EXPECT_EQ(fault, "");
  return matrix.value_or(SharedMatrix{});
}

TEST(SharedMatrix, FieldsAreWhereTheDescriptorHasThem) {
  SharedMatrix matrix = decoded(0x4000'0040'0001'0440, {64, 2, false});
  EXPECT_EQ(matrix.start, 0x4400u);
  EXPECT_EQ(matrix.leadingBytes, 16u);
  EXPECT_EQ(matrix.strideBytes, 1024u);
  EXPECT_EQ(matrix.log2Chunks, 3u);
  EXPECT_EQ(decoded(descriptor(1024, 16, 256, k32), {64, 2, false}).log2Chunks, 1u);
  EXPECT_EQ(decoded(descriptor(1024, 16, 512, k64), {64, 2, false}).log2Chunks, 2u);
  // Fields are 14 bits: up to 256 KB.
  EXPECT_EQ(decoded(descriptor(0x3fff0, 0x3fff0, 0x3fff0, kNone), {64, 2, false}).strideBytes,
            0x3fff0u);
}

struct Place {
  uint32_t mn, k, address;
};

void expectPlaces(const SharedMatrix &matrix, uint32_t elementBytes,
                  const std::vector<Place> &places) {
  for (const Place &place : places)
    EXPECT_EQ(matrix.address(place.mn, place.k, elementBytes), place.address)
        << "mn " << place.mn << ", k " << place.k;
}

// Core matrices of 128 bytes: those of k beside each other (LBO), those of mn 4 KB apart (SBO).
TEST(SharedMatrix, KMajorWithoutSwizzle) {
  expectPlaces(decoded(descriptor(1024, 128, 4096, kNone), {64, 2, false}), 2,
               {{0, 0, 1024},
                {0, 1, 1026},
                {0, 7, 1038},
                {0, 8, 1152},
                {0, 15, 1166},
                {1, 0, 1040},
                {7, 15, 1152 + 7 * 16 + 14},
                {8, 0, 1024 + 4096},
                {63, 9, 1024 + 7 * 4096 + 128 + 112 + 2}});
}

// Rows of 128 bytes, eight of them a pattern. Row r exchanges chunk c for c ^ r.
TEST(SharedMatrix, KMajorWithSwizzle128) {
  SharedMatrix matrix = decoded(descriptor(2048, 16, 1024, k128), {64, 2, false});
  expectPlaces(matrix, 2,
               {{0, 0, 2048},
                {0, 8, 2064},
                {1, 0, 2048 + 128 + 16},
                {1, 8, 2048 + 128},
                {2, 3, 2048 + 256 + 32 + 6},
                {5, 8, 2048 + 640 + 64},
                {7, 0, 2048 + 896 + 112},
                {7, 15, 2048 + 896 + 96 + 14},
                {8, 0, 3072},
                {19, 1, 2048 + 2 * 1024 + 3 * 128 + 48 + 2}});
  // The next two k steps of an instruction: 32 bytes further on in each row.
  SharedMatrix next = decoded(descriptor(2048 + 32, 16, 1024, k128), {64, 2, false});
  expectPlaces(
      next, 2,
      {{0, 0, 2080}, {1, 0, 2048 + 128 + 48}, {2, 0, 2048 + 256}, {6, 8, 2048 + 768 + 80}});
}

// Rows of 64 bytes: two rows share a XOR of the chunk's two bits. Of 32 bytes: four rows share one bit.
TEST(SharedMatrix, KMajorWithNarrowSwizzles) {
  expectPlaces(decoded(descriptor(1024, 16, 512, k64), {64, 2, false}), 2,
               {{0, 0, 1024},
                {1, 0, 1024 + 64},
                {2, 0, 1024 + 128 + 16},
                {3, 8, 1024 + 192},
                {4, 8, 1024 + 256 + 48},
                {7, 0, 1024 + 448 + 48},
                {8, 8, 1024 + 512 + 16}});
  expectPlaces(decoded(descriptor(1024, 16, 256, k32), {64, 1, false}), 1,
               {{0, 0, 1024},
                {3, 16, 1024 + 96 + 16},
                {4, 0, 1024 + 128 + 16},
                {4, 31, 1024 + 128 + 15},
                {7, 16, 1024 + 224},
                {8, 0, 1280}});
}

// Chunks of 8 halves along mn; SBO from chunk to chunk, LBO from eight k to the next.
TEST(SharedMatrix, MnMajorWithoutSwizzle) {
  expectPlaces(decoded(descriptor(1024, 2048, 128, kNone), {64, 2, true}), 2,
               {{0, 0, 1024},
                {1, 0, 1026},
                {7, 0, 1038},
                {8, 0, 1152},
                {0, 1, 1040},
                {0, 7, 1024 + 112},
                {0, 8, 1024 + 2048},
                {63, 15, 1024 + 7 * 128 + 14 + 2048 + 112}});
}

// Rows of 64 halves along mn, one k each; eight k make a pattern, LBO leads to the next 64 mn, SBO to the next eight k.
TEST(SharedMatrix, MnMajorWithSwizzle128) {
  expectPlaces(decoded(descriptor(1024, 4096, 1024, k128), {128, 2, true}), 2,
               {{0, 0, 1024},
                {8, 0, 1040},
                {0, 1, 1024 + 128 + 16},
                {8, 1, 1024 + 128},
                {9, 3, 1024 + 384 + 32 + 2},
                {63, 7, 1024 + 896 + 14},
                {64, 0, 1024 + 4096},
                {65, 2, 1024 + 4096 + 256 + 32 + 2},
                {0, 8, 2048},
                {127, 15, 1024 + 4096 + 1024 + 896 + 14}});
}

TEST(SharedMatrix, MnMajorWithNarrowSwizzles) {
  expectPlaces(decoded(descriptor(1024, 2048, 512, k64), {64, 2, true}), 2,
               {{0, 0, 1024},
                {24, 2, 1024 + 128 + 32},
                {31, 6, 1024 + 384 + 14},
                {32, 1, 1024 + 2048 + 64},
                {0, 8, 1536}});
  expectPlaces(decoded(descriptor(1024, 2048, 256, k32), {64, 2, true}), 2,
               {{0, 0, 1024},
                {8, 4, 1024 + 128},
                {0, 4, 1024 + 128 + 16},
                {16, 0, 1024 + 2048},
                {0, 8, 1280}});
}

struct LayoutCase {
  uint64_t swizzle;
  bool mnMajor;
  uint32_t elementBytes;
};

// A dense layout of `rows` x 32 bytes of k: the strides a program would choose for it.
SharedMatrix dense(const LayoutCase &layout, uint32_t rows) {
  const uint32_t spans[] = {16, 128, 64, 32};
  uint32_t span = spans[layout.swizzle], pattern = 8 * span, depth = 32 / layout.elementBytes,
           kGroups = depth / 8;
  uint64_t leading = 16, stride = pattern;
  if (layout.mnMajor) {
    stride = layout.swizzle == kNone ? kGroups * 128 : pattern;
    leading = layout.swizzle == kNone ? 128 : kGroups * pattern;
  } else if (layout.swizzle == kNone) {
    leading = 128;
    stride = 256;
  }
  return decoded(descriptor(8192, leading, stride, layout.swizzle),
                 {rows, layout.elementBytes, layout.mnMajor});
}

class Layouts : public testing::TestWithParam<LayoutCase> {};

TEST_P(Layouts, ElementsNeverOverlapAndChunksStayWhole) {
  const LayoutCase &layout = GetParam();
  for (uint32_t rows : {64u, 128u, 256u}) {
    SharedMatrix matrix = dense(layout, rows);
    uint32_t es = layout.elementBytes, perChunk = 16 / es;
    std::set<uint32_t> seen;
    for (uint32_t mn = 0; mn < rows; ++mn)
      for (uint32_t k = 0; k < 32 / es; ++k) {
        uint32_t address = matrix.address(mn, k, es);
        EXPECT_TRUE(seen.insert(address).second) << mn << " " << k;
        EXPECT_EQ(address % es, 0u);
        // The element stays at its place in its chunk, and the chunk's first element is where that starts.
        uint32_t along = layout.mnMajor ? mn : k, within = along % perChunk * es;
        uint32_t first = layout.mnMajor ? matrix.address(mn - mn % perChunk, k, es)
                                        : matrix.address(mn, k - k % perChunk, es);
        EXPECT_EQ(first % 16, 0u);
        EXPECT_EQ(address, first + within);
      }
    // A K-major tile wider than one instruction's depth leaves gaps; all others are full.
    if (layout.mnMajor || layout.swizzle == kNone || layout.swizzle == k32) {
      EXPECT_EQ(*seen.begin(), 8192u);
      EXPECT_EQ(*seen.rbegin(), 8192 + rows * 32 - es);
    }
  }
}

TEST_P(Layouts, WhatIsSaidToBeInsideIsInside) {
  const LayoutCase &layout = GetParam();
  for (uint32_t rows : {8u, 24u, 64u, 256u}) {
    SharedMatrix matrix = dense(layout, rows);
    MatrixExtent extent{rows, layout.elementBytes, layout.mnMajor};
    uint32_t least = ~0u, most = 0;
    for (uint32_t mn = 0; mn < rows; ++mn)
      for (uint32_t k = 0; k < 32 / layout.elementBytes; ++k) {
        uint32_t address = matrix.address(mn, k, layout.elementBytes);
        least = std::min(least, address);
        most = std::max(most, address + layout.elementBytes);
      }
    EXPECT_FALSE(matrix.isInside(extent, least + 1, 1 << 20)) << rows;
    EXPECT_FALSE(matrix.isInside(extent, 0, most - 1)) << rows;
    EXPECT_TRUE(matrix.isInside(extent, least / 1024 * 1024, (most / 1024 + 3) * 1024)) << rows;
  }
}

// What a bulk tensor copy with the same swizzle writes is what wgmma reads: both are a row-major tile of spans, XORed.
TEST_P(Layouts, SwizzledRowsAreThoseOfATensorCopy) {
  const LayoutCase &layout = GetParam();
  if (layout.swizzle == kNone)
    return;
  SharedMatrix matrix = dense(layout, 64);
  uint32_t es = layout.elementBytes, span = 16u << matrix.log2Chunks;
  for (uint32_t mn = 0; mn < 64; ++mn)
    for (uint32_t k = 0; k < 32 / es; ++k) {
      uint32_t row = layout.mnMajor ? k : mn, byte = (layout.mnMajor ? mn : k) * es;
      uint32_t tile = 8192;
      if (layout.mnMajor) // a tile is `span` bytes of mn by all k
        tile += byte / span * (32 / es * span);
      EXPECT_EQ(matrix.address(mn, k, es),
                swizzled(tile + row * span + byte % span, matrix.log2Chunks))
          << mn << " " << k;
    }
}

std::string nameOf(const testing::TestParamInfo<LayoutCase> &test) {
  const char *names[] = {"None", "Swizzle128", "Swizzle64", "Swizzle32"};
  return std::string(test.param.mnMajor ? "MnMajor" : "KMajor") + names[test.param.swizzle] +
         "Bytes" + std::to_string(test.param.elementBytes);
}

INSTANTIATE_TEST_SUITE_P(All, Layouts,
                         testing::Values(LayoutCase{kNone, false, 1}, LayoutCase{kNone, false, 2},
                                         LayoutCase{kNone, false, 4}, LayoutCase{k32, false, 1},
                                         LayoutCase{k32, false, 2}, LayoutCase{k32, false, 4},
                                         LayoutCase{k64, false, 1}, LayoutCase{k64, false, 2},
                                         LayoutCase{k64, false, 4}, LayoutCase{k128, false, 1},
                                         LayoutCase{k128, false, 2}, LayoutCase{k128, false, 4},
                                         LayoutCase{kNone, true, 2}, LayoutCase{k32, true, 2},
                                         LayoutCase{k64, true, 2}, LayoutCase{k128, true, 2}),
                         nameOf);

TEST_P(Layouts, ABaseOffsetMovesThePatternByRowsOf128Bytes) {
  const LayoutCase &layout = GetParam();
  SharedMatrix matrix = dense(layout, 64);
  for (uint32_t base = 0; base < 8; ++base) {
    SharedMatrix moved = matrix;
    moved.start += 128 * base;
    moved.baseOffset = base;
    for (uint32_t mn = 0; mn < 64; ++mn)
      for (uint32_t k = 0; k < 32 / layout.elementBytes; ++k)
        ASSERT_EQ(moved.address(mn, k, layout.elementBytes),
                  matrix.address(mn, k, layout.elementBytes) + 128 * base)
            << base << " " << mn << " " << k;
  }
}

// A descriptor that begins at a later row reads the rest of the tile.
TEST_P(Layouts, StartsInAnyRowOfATile) {
  const LayoutCase &layout = GetParam();
  if (layout.swizzle == kNone || layout.mnMajor)
    return;
  SharedMatrix whole = dense(layout, 64), part = whole;
  uint32_t es = layout.elementBytes, span = 16u << whole.log2Chunks;
  for (uint32_t row = 0; row < 17; ++row) {
    part.start = whole.start + row * span;
    for (uint32_t mn = 0; mn < 40; ++mn)
      for (uint32_t k = 0; k < 32 / es; ++k)
        ASSERT_EQ(part.address(mn, k, es), whole.address(mn + row, k, es)) << row << " " << mn;
  }
}

TEST(SharedMatrix, StartsAndStridesAreAnyMultiplesOf16) {
  // Row 0 is the second of the pattern, unless the pattern begins there.
  expectPlaces(decoded(descriptor(1024 + 128, 16, 1024, k128), {64, 2, false}), 2,
               {{0, 0, 1152 + 16}, {0, 8, 1152}, {1, 0, 1280 + 32}, {7, 0, 2048}});
  expectPlaces(decoded(descriptor(1024 + 128, 16, 1024, k128, 1), {64, 2, false}), 2,
               {{0, 0, 1152}, {0, 8, 1152 + 16}, {1, 0, 1280 + 16}, {7, 0, 2048 + 112}});
  expectPlaces(decoded(descriptor(1024 + 128, 16, 1024, k128, 7), {64, 2, false}), 2,
               {{0, 0, 1152 + 32}, {1, 8, 1280 + 32}});
  // The second chunk of a row that begins in the last one of a span is in the next row of the pattern.
  expectPlaces(decoded(descriptor(1024 + 112, 16, 1024, k128), {64, 2, false}), 2,
               {{0, 0, 1136}, {0, 8, 1152 + 16}, {1, 0, 1264 - 16}, {1, 8, 1280 + 32}});
  // Groups of eight rows that do not begin patterns.
  expectPlaces(decoded(descriptor(1024, 16, 528, k64), {64, 2, false}), 2,
               {{8, 0, 1024 + 528}, {10, 0, 1024 + 512 + 128}, {10, 8, 1024 + 528 + 128 + 32}});
  expectPlaces(decoded(descriptor(1024 + 32, 48, 1040, k128), {128, 2, true}), 2,
               {{0, 0, 1056}, {64, 0, 1104}, {0, 1, 1152 + 48}, {0, 8, 2096}, {64, 9, 2272 + 16}});
  expectPlaces(decoded(descriptor(1040, 16, 48, kNone, 5), {64, 2, false}), 2,
               {{0, 0, 1040}, {0, 8, 1056}, {8, 0, 1088}});
}

TEST(SharedMatrix, WhatIsSaidToBeInsideIsInsideWithAnyStridesToo) {
  std::mt19937 random(3);
  size_t inside = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    auto upTo = [&](uint32_t most) { return 16 * uint64_t{random() % (most / 16)}; };
    MatrixExtent extent{static_cast<uint32_t>(8 * (1 + random() % 32)), 2, random() % 2 == 0};
    SharedMatrix matrix = decoded(
        descriptor(1024 + upTo(8192), upTo(2048), upTo(2048), random() % 4, random() % 8), extent);
    uint32_t begin = 1024 + 128 * (random() % 16), end = begin + 16 * (random() % 4096);
    if (!matrix.isInside(extent, begin, end))
      continue;
    ++inside;
    for (uint32_t mn = 0; mn < extent.rows; ++mn)
      for (uint32_t k = 0; k < extent.depth(); ++k) {
        uint32_t address = matrix.address(mn, k, 2);
        ASSERT_GE(address, begin);
        ASSERT_LE(address + 2, end);
      }
  }
  EXPECT_GT(inside, 100u);
}

// Only B of a sparse product has rows of 64 bytes.
TEST(SharedMatrix, WhatIsNotModelledIsNamed) {
  std::string fault;
  EXPECT_FALSE(decodeSharedMatrix(descriptor(1024, 16, 256, k32), {64, 2, false, 64}, fault));
  EXPECT_EQ(fault,
            "the matrix descriptor has swizzle 32B, but rows of 64 bytes, which B has beside "
            "a sparse A; use swizzle 64B or 128B");
  decoded(descriptor(1024, 16, 512, k64), {64, 2, false, 64});
}

} // namespace
} // namespace tile::vgpu
