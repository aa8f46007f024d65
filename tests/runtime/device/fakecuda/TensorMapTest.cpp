// Tensor maps on the CUDA device: what the driver is asked, and what it is not bothered with.
#include "tests/runtime/device/fakecuda/FakeDevice.h"

namespace tile::device {
namespace {

using Calls = std::vector<std::string>;
using Words = std::vector<uint64_t>;
using Counts = std::vector<uint32_t>;

TensorMapParams someMap() {
  TensorMapParams params;
  params.type = TensorMapType::BF16;
  params.rank = 3;
  params.base = 0x7'0000'0000'0100;
  params.dims = {1000, 64, 8};
  params.strides = {2048, 131072};
  params.box = {32, 16, 2};
  params.elementStrides = {1, 2, 1};
  params.swizzle = TensorMapSwizzle::Bytes64;
  params.l2Promotion = TensorMapL2Promotion::Bytes256;
  params.fill = TensorMapFill::NaN;
  return params;
}

TEST_F(FakeCuda, ATensorMapIsEncodedByTheDriver) {
  TensorMap map = device->encodeTensorMap(someMap());
  EXPECT_EQ(fakeCudaCalls(), (Calls{"cuTensorMapEncodeTiled"}));
  ASSERT_EQ(fakeCudaTensorMaps().size(), 1u);
  const FakeTensorMap &asked = fakeCudaTensorMaps()[0];
  constexpr int kBfloat16 = 9; // of CUtensorMapDataType
  EXPECT_EQ(asked.type, kBfloat16);
  EXPECT_EQ(asked.address, 0x7'0000'0000'0100u);
  EXPECT_EQ(asked.dims, (Words{1000, 64, 8}));
  EXPECT_EQ(asked.strides, (Words{2048, 131072}));
  EXPECT_EQ(asked.box, (Counts{32, 16, 2}));
  EXPECT_EQ(asked.elementStrides, (Counts{1, 2, 1}));
  EXPECT_EQ(asked.interleave, 0);
  EXPECT_EQ(asked.swizzle, 2);
  EXPECT_EQ(asked.l2Promotion, 3);
  EXPECT_EQ(asked.fill, 1);
  for (std::byte byte : map.bytes)
    EXPECT_EQ(byte, std::byte{1});
}

TEST_F(FakeCuda, ABrokenRuleOfTensorMapsIsNamedWithoutTheDriver) {
  TensorMapParams params = someMap();
  params.strides[1] = 100;
  expectError(ErrorCode::InvalidArgument, {"strides[1] = 100 bytes, must be a multiple of 16"},
              [&] { device->encodeTensorMap(params); });
  EXPECT_EQ(fakeCudaCalls(), Calls{});
}

TEST_F(FakeCuda, AFailureToEncodeATensorMapIsReported) {
  constexpr int kInvalidValue = 1;
  fakeCudaFail("cuTensorMapEncodeTiled", 1, kInvalidValue);
  expectError(ErrorCode::InvalidArgument, {"encoding a tensor map", "CUDA_ERROR_INVALID_VALUE"},
              [&] { device->encodeTensorMap(someMap()); });
}

} // namespace
} // namespace tile::device
