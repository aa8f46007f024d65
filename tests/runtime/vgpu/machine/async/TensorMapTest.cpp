// The virtual GPU's tensor maps: the encoding survives copies and tensormap.replace, and a box is laid out as written in
// the tables of the ISA and as an element-by-element loop does it.
#include "runtime/vgpu/machine/async/TensorMap.h"

#include <tile/Error.h>

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace tile::vgpu {
namespace {

using namespace device;

constexpr int kHopper = 90;

// 40 x 20 floats, copied as 8 x 4.
TensorMapParams matrix() {
  TensorMapParams params;
  params.type = TensorMapType::F32;
  params.rank = 2;
  params.base = 0x10'0000'1000;
  params.dims = {40, 20};
  params.strides = {160};
  params.box = {8, 4};
  return params;
}

MapBytes bytesOf(TensorMap &map) {
  return MapBytes(reinterpret_cast<uint8_t *>(map.bytes.data()), map.bytes.size());
}

TensorMapParams decoded(TensorMap &map) {
  std::string fault;
  std::optional<TensorMapParams> params = decodeTensorMap(bytesOf(map), fault);
  EXPECT_EQ(fault, "");
  return params.value_or(TensorMapParams{});
}

TEST(TensorMap, EveryFieldSurvivesEncoding) {
  TensorMapParams params;
  params.type = TensorMapType::BF16;
  params.rank = 5;
  params.base = 0xfedcba9876543210;
  params.dims = {1, 2, 3, 0xffffffff, uint64_t{1} << 32};
  params.strides = {16, 0, 4096, (uint64_t{1} << 40) - 16};
  params.box = {8, 256, 1, 2, 3};
  params.elementStrides = {1, 8, 2, 3, 4};
  params.swizzle = TensorMapSwizzle::Bytes64;
  params.l2Promotion = TensorMapL2Promotion::Bytes128;
  params.fill = TensorMapFill::NaN;
  TensorMap map = encodeTensorMap(params, kHopper), copy = map;
  EXPECT_EQ(decoded(copy), params);
}

TEST(TensorMap, OtherBytesAreRefused) {
  TensorMap zeros;
  std::string fault;
  EXPECT_FALSE(decodeTensorMap(bytesOf(zeros), fault));
  EXPECT_EQ(fault, "the 128 bytes are not a tensor map that encodeTensorMap of this device made");
  for (size_t at = 8; at < kTensorMapBytes; ++at) {
    TensorMap map = encodeTensorMap(matrix(), kHopper);
    map.bytes[at] ^= std::byte{0x10};
    EXPECT_FALSE(decodeTensorMap(bytesOf(map), fault)) << "byte " << at;
  }
}

TEST(TensorMap, ReplaceUsesTheNumbersOfPtx) {
  TensorMap map = encodeTensorMap(matrix(), kHopper);
  auto replace = [&](MapField field, uint32_t ordinal, uint64_t value) {
    EXPECT_EQ(replaceMapField(bytesOf(map), field, ordinal, value), "");
  };
  replace(MapField::GlobalAddress, 0, 0x10'0000'2000);
  replace(MapField::Rank, 0, 2); // three dimensions
  replace(MapField::GlobalDim, 2, 7);
  replace(MapField::GlobalStride, 1, 3200);
  replace(MapField::BoxDim, 2, 5);
  replace(MapField::ElementStride, 1, 2);
  replace(MapField::ElementType, 0, 10);
  replace(MapField::SwizzleMode, 0, 1);
  replace(MapField::FillMode, 0, 1);
  TensorMapParams expected = matrix();
  expected.base = 0x10'0000'2000;
  expected.rank = 3;
  expected.dims[2] = 7;
  expected.strides[1] = 3200;
  expected.box[2] = 5;
  expected.elementStrides[1] = 2;
  expected.type = TensorMapType::BF16;
  expected.swizzle = TensorMapSwizzle::Bytes32;
  expected.fill = TensorMapFill::NaN;
  TensorMapParams actual = decoded(map);
  for (size_t d = 3; d < kMaxTensorRank; ++d)
    actual.dims[d] = 0; // beyond the rank nothing is said
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(tensorMapFault(actual), "");
}

TEST(TensorMap, ElementTypesOfPtx) {
  const TensorMapType byNumber[] = {
      TensorMapType::U8,      TensorMapType::U16, TensorMapType::U32,  TensorMapType::S32,
      TensorMapType::U64,     TensorMapType::S64, TensorMapType::F16,  TensorMapType::F32,
      TensorMapType::F32Ftz,  TensorMapType::F64, TensorMapType::BF16, TensorMapType::TF32,
      TensorMapType::TF32Ftz,
  };
  TensorMap map = encodeTensorMap(matrix(), kHopper);
  for (uint64_t number = 0; number < std::size(byNumber); ++number) {
    EXPECT_EQ(replaceMapField(bytesOf(map), MapField::ElementType, 0, number), "");
    EXPECT_EQ(decoded(map).type, byNumber[number]) << number;
  }
}

TEST(TensorMap, ReplaceRefusesWhatAFieldCannotHold) {
  TensorMap map = encodeTensorMap(matrix(), kHopper);
  auto fault = [&](MapField field, uint32_t ordinal, uint64_t value) {
    return replaceMapField(bytesOf(map), field, ordinal, value);
  };
  EXPECT_EQ(fault(MapField::Rank, 0, 5), "field rank: 5 is outside 0 to 4");
  EXPECT_EQ(fault(MapField::BoxDim, 0, 257), "field box_dim: 257 is outside 1 to 256");
  EXPECT_EQ(fault(MapField::BoxDim, 5, 8), "field box_dim has no entry 5");
  EXPECT_EQ(fault(MapField::GlobalStride, 4, 16), "field global_stride has no entry 4");
  EXPECT_EQ(fault(MapField::SwizzleMode, 0, 4), "field swizzle_mode: 4 is outside 0 to 3");
  EXPECT_EQ(fault(MapField::ElementType, 0, 13), "field elemtype: 13 is outside 0 to 12");
  EXPECT_EQ(decoded(map).box[0], 8u);
  TensorMap noise;
  noise.bytes[77] = std::byte{1};
  EXPECT_NE(replaceMapField(bytesOf(noise), MapField::Rank, 0, 1), "");
}

// Programs that build maps on the device zero them and then set every field.
TEST(TensorMap, ReplaceBeginsWithZeros) {
  TensorMap map;
  auto replace = [&](MapField field, uint32_t ordinal, uint64_t value) {
    EXPECT_EQ(replaceMapField(bytesOf(map), field, ordinal, value), "");
  };
  replace(MapField::GlobalAddress, 0, 0x10'0000'2000);
  replace(MapField::Rank, 0, 1); // two dimensions
  replace(MapField::BoxDim, 0, 64);
  replace(MapField::BoxDim, 1, 16);
  replace(MapField::GlobalDim, 0, 100);
  replace(MapField::GlobalDim, 1, 200);
  replace(MapField::GlobalStride, 0, 256);
  replace(MapField::ElementStride, 0, 1);
  replace(MapField::ElementStride, 1, 1);
  replace(MapField::ElementType, 0, 6); // f16
  replace(MapField::SwizzleMode, 0, 3); // 128 bytes
  TensorMapParams expected;
  expected.type = TensorMapType::F16;
  expected.rank = 2;
  expected.base = 0x10'0000'2000;
  expected.dims = {100, 200, 1, 1, 1};
  expected.strides = {256};
  expected.box = {64, 16};
  expected.swizzle = TensorMapSwizzle::Bytes128;
  EXPECT_EQ(decoded(map), expected);
}

TEST(TensorMap, TheBoxCountsStridedElementsOnceExceptInDimension0) {
  TensorMapParams params = matrix();
  EXPECT_EQ(boxBytes(params), 8u * 4 * 4);
  params.box = {8, 7};
  params.elementStrides = {2, 3, 1, 1, 1};
  EXPECT_EQ(boxBytes(params), 8u * 3 * 4);
}

TEST(TensorMap, FillIsANaNInEachHalfWord) {
  TensorMapParams params = matrix();
  EXPECT_EQ(fillElement(params), 0u);
  params.fill = TensorMapFill::NaN;
  EXPECT_EQ(fillElement(params), 0x7ff77ff77ff77ff7u);
}

TEST(TensorMap, CoordinatesThatHardwareRefuses) {
  TensorMapParams params = matrix();
  const std::string rule = "the first coordinate of a tensor copy must be a multiple of 16 bytes, ";
  EXPECT_EQ(coordinatesFault(params, {-4, -7}, false), "");
  EXPECT_EQ(coordinatesFault(params, {INT32_MIN, INT32_MAX}, false), "");
  EXPECT_EQ(coordinatesFault(params, {6, 0}, false), rule + "here of 4 elements, not 6");
  EXPECT_EQ(coordinatesFault(params, {-3, 0}, true), rule + "here of 4 elements, not -3");
  params.type = TensorMapType::U8;
  EXPECT_EQ(coordinatesFault(params, {8, 0}, false), rule + "here of 16 elements, not 8");
  params.type = TensorMapType::F64;
  EXPECT_EQ(coordinatesFault(params, {2, 1}, true), "");
  EXPECT_EQ(coordinatesFault(params, {2, -1}, true),
            "coordinate 1 is -1; stores and reductions take no negative ones");
  EXPECT_EQ(coordinatesFault(params, {1000, 1000, -5}, true), ""); // beyond the rank
}

TEST(TensorMap, Tf32IsTheNearestOne) {
  const std::pair<uint32_t, uint32_t> cases[] = {
      {0x3f800fff, 0x3f800000}, {0x3f801000, 0x3f800000}, {0x3f801001, 0x3f802000},
      {0x3f803000, 0x3f804000}, {0xbf803000, 0xbf804000}, {0x00001001, 0x00002000},
      {0x80000fff, 0x80000000}, {0x7f7fffff, 0x7f800000}, {0xff800000, 0xff800000},
      {0xff800001, 0x7fffe000}, {0x7fc12345, 0x7fffe000}};
  for (auto [value, rounded] : cases) {
    uint8_t bytes[4];
    std::memcpy(bytes, &value, 4);
    roundToTf32(bytes, 4);
    uint32_t found;
    std::memcpy(&found, bytes, 4);
    EXPECT_EQ(found, rounded) << std::hex << value;
  }
}

struct Seen {
  uint32_t tileOffset, bytes;
  bool inside;
  uint64_t offset; // from the base
  bool operator==(const Seen &) const = default;
};

std::ostream &operator<<(std::ostream &out, const Seen &seen) {
  return out << "{" << seen.tileOffset << ", " << seen.bytes << ", " << seen.inside << ", "
             << seen.offset << "}";
}

std::vector<Seen> runsOf(const TensorMapParams &params, const Coordinates &at) {
  std::vector<Seen> runs;
  forRuns(params, at, [&](const TensorRun &run) {
    runs.push_back(
        {run.tileOffset, run.bytes, run.inside, run.inside ? run.address - params.base : 0});
  });
  return runs;
}

TEST(TensorMap, RunsAreRowsCutAtTheEdges) {
  using Runs = std::vector<Seen>;
  TensorMapParams params = matrix();
  EXPECT_EQ(
      runsOf(params, {8, 2}),
      (Runs{{0, 32, true, 352}, {32, 32, true, 512}, {64, 32, true, 672}, {96, 32, true, 832}}));
  EXPECT_EQ(runsOf(params, {-3, -2}), (Runs{{0, 32, false, 0},
                                            {32, 32, false, 0},
                                            {64, 12, false, 0},
                                            {76, 20, true, 0},
                                            {96, 12, false, 0},
                                            {108, 20, true, 160}}));
  EXPECT_EQ(runsOf(params, {36, 18}), (Runs{{0, 16, true, 18 * 160 + 144},
                                            {16, 16, false, 0},
                                            {32, 16, true, 19 * 160 + 144},
                                            {48, 16, false, 0},
                                            {64, 32, false, 0},
                                            {96, 32, false, 0}}));
  EXPECT_EQ(runsOf(params, {INT32_MIN, INT32_MAX}).size(), 4u);
  // Narrower than its box: outside on both sides.
  params.dims[0] = 4;
  params.box = {16, 1};
  EXPECT_EQ(runsOf(params, {-6, 0}),
            (Runs{{0, 24, false, 0}, {24, 16, true, 0}, {40, 24, false, 0}}));
}

TEST(TensorMap, RowsOfASwizzledTileBeginAtSpans) {
  TensorMapParams params = matrix();
  params.swizzle = TensorMapSwizzle::Bytes128;
  EXPECT_EQ(runsOf(params, {36, 18}), (std::vector<Seen>{{0, 16, true, 18 * 160 + 144},
                                                         {16, 16, false, 0},
                                                         {128, 16, true, 19 * 160 + 144},
                                                         {144, 16, false, 0},
                                                         {256, 32, false, 0},
                                                         {384, 32, false, 0}}));
  EXPECT_EQ(boxBytes(params), 8u * 4 * 4);
}

TEST(TensorMap, ReachEndsWithTheLastChunk) {
  TensorMapParams params = matrix();
  EXPECT_EQ(tileReach(params, 1024), 4u * 32);
  params.swizzle = TensorMapSwizzle::Bytes32;
  EXPECT_EQ(tileReach(params, 1024), 4u * 32);
  for (auto [swizzle, span] :
       {std::pair(TensorMapSwizzle::Bytes64, 64u), {TensorMapSwizzle::Bytes128, 128u}})
    for (uint32_t chunks = 1; chunks <= span / 16; ++chunks)
      for (uint32_t rows = 1; rows <= 9; ++rows)
        for (uint32_t tile = 1024; tile < 2048; tile += 128) {
          params.swizzle = swizzle;
          params.box = {4 * chunks, rows};
          uint32_t end = 0;
          forRuns(params, {0, 0}, [&](const TensorRun &run) {
            forPieces(params, tile, run, [&](uint32_t address, uint32_t, uint32_t bytes) {
              ASSERT_GE(address, tile);
              end = std::max(end, address + bytes);
            });
          });
          ASSERT_EQ(tileReach(params, tile), end - tile)
              << span << " " << chunks << " " << rows << " " << tile;
        }
  params.rank = 5;
  params.box = {4, 256, 256, 256, 256};
  EXPECT_EQ(tileReach(params, 1024), (uint64_t{1} << 32) * 128 - 128 + 7 * 16 + 16);
}

// Where each element of the box comes from, by the definition: coordinates one by one, dimension 0 fastest.
std::vector<std::optional<uint64_t>> elementsByDefinition(const TensorMapParams &params,
                                                          const Coordinates &at) {
  std::vector<std::optional<uint64_t>> elements;
  uint32_t count[5] = {1, 1, 1, 1, 1};
  for (uint32_t d = 0; d < params.rank; ++d)
    count[d] = d ? (params.box[d] + params.elementStrides[d] - 1) / params.elementStrides[d]
                 : params.box[0];
  for (uint32_t i = 0; i < count[0] * count[1] * count[2] * count[3] * count[4]; ++i) {
    std::optional<uint64_t> address = params.base;
    uint32_t rest = i;
    for (uint32_t d = 0; d < params.rank; rest /= count[d++]) {
      int64_t coordinate = at[d] + int64_t{rest % count[d]} * (d ? params.elementStrides[d] : 1);
      if (coordinate < 0 || coordinate >= static_cast<int64_t>(params.dims[d]))
        address = std::nullopt;
      else if (address)
        *address +=
            static_cast<uint64_t>(coordinate) * (d ? params.strides[d - 1] : sizeOf(params.type));
    }
    elements.push_back(address);
  }
  return elements;
}

TEST(TensorMap, RunsEqualTheDefinitionForRandomBoxes) {
  std::mt19937 random(7);
  auto upTo = [&](uint32_t most) { return static_cast<uint32_t>(random() % most) + 1; };
  for (int trial = 0; trial < 500; ++trial) {
    TensorMapParams params;
    const TensorMapType types[] = {TensorMapType::U8, TensorMapType::F16, TensorMapType::F32,
                                   TensorMapType::F64};
    params.type = types[random() % 4];
    params.rank = upTo(5);
    params.base = 16 * upTo(1000);
    uint32_t chunk = 16 / static_cast<uint32_t>(sizeOf(params.type));
    Coordinates at{};
    for (uint32_t d = 0; d < params.rank; ++d) {
      params.dims[d] = upTo(40);
      params.box[d] = d ? upTo(5) : chunk * upTo(3);
      params.elementStrides[d] = upTo(3);
      at[d] = static_cast<int32_t>(random() % 50) - 10;
      if (d)
        params.strides[d - 1] = 16 * upTo(500);
    }
    ASSERT_EQ(tensorMapFault(params), "");
    auto expected = elementsByDefinition(params, at);
    auto elementBytes = static_cast<uint32_t>(sizeOf(params.type));
    uint32_t end = 0;
    forRuns(params, at, [&](const TensorRun &run) {
      ASSERT_EQ(run.tileOffset, end);
      ASSERT_GT(run.bytes, 0u);
      end += run.bytes;
      for (uint32_t byte = 0; byte < run.bytes; byte += elementBytes) {
        auto source = expected[(run.tileOffset + byte) / elementBytes];
        ASSERT_EQ(source.has_value(), run.inside);
        if (source) {
          ASSERT_EQ(*source, run.address + byte);
        }
      }
    });
    EXPECT_EQ(end, expected.size() * elementBytes);
    EXPECT_EQ(end, boxBytes(params));
  }
}

// Chunk c of row r of a tile with rows as long as the span goes to the place that the ISA's tables of swizzling modes
// give, here for the first eight rows at an aligned start.
TEST(TensorMap, SwizzledChunksAreWhereTheTablesSay) {
  const std::vector<std::vector<uint32_t>> by128 = {
      {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5},
      {3, 2, 1, 0, 7, 6, 5, 4}, {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
      {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
  const std::vector<std::vector<uint32_t>> by64 = {{0, 1, 2, 3}, {0, 1, 2, 3}, {1, 0, 3, 2},
                                                   {1, 0, 3, 2}, {2, 3, 0, 1}, {2, 3, 0, 1},
                                                   {3, 2, 1, 0}, {3, 2, 1, 0}};
  const std::vector<std::vector<uint32_t>> by32 = {{0, 1}, {0, 1}, {0, 1}, {0, 1},
                                                   {1, 0}, {1, 0}, {1, 0}, {1, 0}};
  const std::vector<std::vector<uint32_t>> *tables[] = {nullptr, &by32, &by64, &by128};
  for (unsigned log2Chunks = 1; log2Chunks <= 3; ++log2Chunks) {
    uint32_t span = 16u << log2Chunks, tile = 5 * 1024;
    TensorMapParams params = matrix();
    params.swizzle = static_cast<TensorMapSwizzle>(log2Chunks);
    for (uint32_t row = 0; row < 8; ++row)
      forPieces(params, tile, {row * span, span, true, 0},
                [&](uint32_t address, uint32_t offset, uint32_t bytes) {
                  EXPECT_EQ(bytes, 16u);
                  uint32_t chunk = (*tables[log2Chunks])[row][offset / 16];
                  EXPECT_EQ(address, tile + row * span + chunk * 16) << log2Chunks << " " << row;
                });
  }
}

TEST(TensorMap, PiecesOfARunStayInTheirChunks) {
  using Piece = std::array<uint32_t, 3>;
  TensorMapParams params = matrix();
  std::vector<Piece> pieces;
  auto add = [&](uint32_t address, uint32_t offset, uint32_t bytes) {
    pieces.push_back({address, offset, bytes});
  };
  forPieces(params, 1024, {140, 40, true, 0}, add);
  EXPECT_EQ(pieces, (std::vector<Piece>{{1164, 0, 40}}));
  pieces.clear();
  params.swizzle = TensorMapSwizzle::Bytes128;
  // Row 1 of the pattern: chunks change places in pairs.
  forPieces(params, 1024, {140, 40, true, 0}, add);
  EXPECT_EQ(
      pieces,
      (std::vector<Piece>{
          {1024 + 156, 0, 4}, {1024 + 128, 4, 16}, {1024 + 176, 20, 16}, {1024 + 160, 36, 4}}));
}

} // namespace
} // namespace tile::vgpu
