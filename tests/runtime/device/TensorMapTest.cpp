// The encode rules of tensor maps: each is broken alone, and the message says which it was and with what values.
#include "runtime/device/Device.h"

#include <gtest/gtest.h>

#include <functional>

namespace tile::device {
namespace {

// 1000 x 64 x 8 halves, copied as 4 x 32 x 64.
TensorMapParams good() {
  TensorMapParams params;
  params.type = TensorMapType::F16;
  params.rank = 3;
  params.base = 0x10'0000'0000;
  params.dims = {1000, 64, 8};
  params.strides = {2048, 2048 * 64};
  params.box = {64, 32, 4};
  params.swizzle = TensorMapSwizzle::Bytes128;
  return params;
}

struct BrokenRule {
  const char *name;
  std::function<void(TensorMapParams &)> change;
  std::string expected; // empty: no rule is broken
};

class EncodeRules : public testing::TestWithParam<BrokenRule> {};

TEST_P(EncodeRules, AreNamedWithTheirValues) {
  TensorMapParams params = good();
  GetParam().change(params);
  EXPECT_EQ(tensorMapFault(params), GetParam().expected);
}

using Params = TensorMapParams;
constexpr uint64_t kTwoTo32 = uint64_t{1} << 32, kTwoTo40 = uint64_t{1} << 40;

INSTANTIATE_TEST_SUITE_P(
    All, EncodeRules,
    testing::Values(
        BrokenRule{"Good", [](Params &) {}, ""},
        BrokenRule{"Type", [](Params &p) { p.type = TensorMapType{13}; },
                   "there is no element type 13"},
        BrokenRule{"Interleave", [](Params &p) { p.interleave = TensorMapInterleave{3}; },
                   "there is no interleave 3"},
        BrokenRule{"Swizzle", [](Params &p) { p.swizzle = TensorMapSwizzle{4}; },
                   "there is no swizzle 4"},
        BrokenRule{"L2", [](Params &p) { p.l2Promotion = TensorMapL2Promotion{4}; },
                   "there is no L2 promotion 4"},
        BrokenRule{"Fill", [](Params &p) { p.fill = TensorMapFill{2}; }, "there is no fill mode 2"},
        BrokenRule{"RankZero", [](Params &p) { p.rank = 0; }, "rank is 0, must be 1 to 5"},
        BrokenRule{"RankSix", [](Params &p) { p.rank = 6; }, "rank is 6, must be 1 to 5"},
        BrokenRule{"RankOne", [](Params &p) { p.rank = 1; }, ""},
        BrokenRule{"InterleavedRank",
                   [](Params &p) {
                     p.rank = 2;
                     p.interleave = TensorMapInterleave::Bytes16;
                   },
                   "rank is 2, must be 3 to 5 with interleave"},
        BrokenRule{"Base", [](Params &p) { p.base += 8; },
                   "base address 68719476744 must be a multiple of 16"},
        BrokenRule{"InterleavedBase",
                   [](Params &p) {
                     p.base += 16;
                     p.interleave = TensorMapInterleave::Bytes32;
                     p.swizzle = TensorMapSwizzle::Bytes32;
                   },
                   "base address 68719476752 must be a multiple of 32 with interleave 32B"},
        BrokenRule{"DimZero", [](Params &p) { p.dims[1] = 0; },
                   "dims[1] = 0, must be 1 to 2^32 elements"},
        BrokenRule{"DimLargest", [](Params &p) { p.dims[2] = kTwoTo32; }, ""},
        BrokenRule{"DimTooLarge", [](Params &p) { p.dims[2] = kTwoTo32 + 1; },
                   "dims[2] = 4294967297, must be 1 to 2^32 elements"},
        BrokenRule{"Stride", [](Params &p) { p.strides[0] = 2056; },
                   "strides[0] = 2056 bytes, must be a multiple of 16"},
        BrokenRule{"InterleavedStride",
                   [](Params &p) {
                     p.strides[1] = 2064;
                     p.interleave = TensorMapInterleave::Bytes32;
                     p.swizzle = TensorMapSwizzle::Bytes32;
                   },
                   "strides[1] = 2064 bytes, must be a multiple of 32 with interleave 32B"},
        BrokenRule{"StrideLargest", [](Params &p) { p.strides[1] = kTwoTo40 - 16; }, ""},
        BrokenRule{"StrideTooLarge", [](Params &p) { p.strides[1] = kTwoTo40; },
                   "strides[1] = 1099511627776 bytes, must be less than 2^40"},
        BrokenRule{"BoxZero", [](Params &p) { p.box[2] = 0; },
                   "box[2] = 0, must be 1 to 256 elements"},
        BrokenRule{"BoxLargest", [](Params &p) { p.box[1] = 256; }, ""},
        BrokenRule{"BoxTooLarge", [](Params &p) { p.box[1] = 257; },
                   "box[1] = 257, must be 1 to 256 elements"},
        BrokenRule{"ElementStrideZero", [](Params &p) { p.elementStrides[0] = 0; },
                   "elementStrides[0] = 0, must be 1 to 8"},
        BrokenRule{"ElementStrideLargest", [](Params &p) { p.elementStrides[2] = 8; }, ""},
        BrokenRule{"ElementStrideTooLarge", [](Params &p) { p.elementStrides[2] = 9; },
                   "elementStrides[2] = 9, must be 1 to 8"},
        BrokenRule{"RowBytes", [](Params &p) { p.box[0] = 12; },
                   "box[0] of 12 f16 is 24 bytes, must be a multiple of 16"},
        BrokenRule{"RowBytesInterleaved",
                   [](Params &p) {
                     p.box[0] = 12;
                     p.interleave = TensorMapInterleave::Bytes16;
                   },
                   ""},
        BrokenRule{"Span", [](Params &p) { p.box[0] = 72; },
                   "box[0] of 72 f16 is 144 bytes, must be at most 128, the span of the swizzle"},
        BrokenRule{"NarrowSpan", [](Params &p) { p.swizzle = TensorMapSwizzle::Bytes32; },
                   "box[0] of 64 f16 is 128 bytes, must be at most 32, the span of the swizzle"},
        BrokenRule{"NoSpan",
                   [](Params &p) {
                     p.box[0] = 256;
                     p.swizzle = TensorMapSwizzle::None;
                   },
                   ""},
        BrokenRule{"InterleavedSwizzle",
                   [](Params &p) { p.interleave = TensorMapInterleave::Bytes32; },
                   "interleave 32B needs swizzle 32B"},
        BrokenRule{"FillNaN", [](Params &p) { p.fill = TensorMapFill::NaN; }, ""},
        BrokenRule{"FillNaNOfIntegers",
                   [](Params &p) {
                     p.type = TensorMapType::U16;
                     p.fill = TensorMapFill::NaN;
                   },
                   "fill NaN needs a floating-point element type, not u16"}),
    [](const auto &test) { return std::string(test.param.name); });

std::string errorOf(const std::shared_ptr<Device> &device, const TensorMapParams &params) {
  try {
    device->encodeTensorMap(params);
  } catch (const Error &error) {
    return std::string(nameOf(error.code())) + ": " + error.message();
  }
  return "no error";
}

TEST(VirtualTensorMap, ErrorsNameTheRuleOrTheDevice) {
  VirtualOptions options;
  options.target = "sm_90a";
  auto hopper = openVirtual(options);
  EXPECT_EQ(errorOf(hopper, good()), "no error");
  TensorMapParams params = good();
  params.box[1] = 300;
  EXPECT_EQ(errorOf(hopper, params),
            "InvalidArgument: tensor map: box[1] = 300, must be 1 to 256 elements");
  params = good();
  params.interleave = TensorMapInterleave::Bytes16;
  EXPECT_EQ(errorOf(hopper, params),
            "Unsupported: tensor map: the virtual GPU does not model interleave 16B");
  EXPECT_EQ(errorOf(openVirtual({}), good()),
            "Unsupported: tensor map: the device is sm_80, sm_90 is needed");
}

} // namespace
} // namespace tile::device
