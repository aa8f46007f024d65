// Tensors of a stream: memory is taken again without a call of the device, is unset when it is, and all of it goes back.
#include "tests/runtime/jit/Devices.h"

using namespace tile;
using namespace tile::test;

namespace {

class StreamMemory : public OnDevice {};
TILE_ON_EVERY_DEVICE(StreamMemory);

const auto copyRow = kernel("copy_row", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i);
});

TEST_P(StreamMemory, LoopsAllocateInTheirFirstRoundOnly) {
  auto x = device().tensor<float>({1000}, ramp(1000, 3));
  for (int round = 0; round < 5; ++round) {
    auto y = stream.tensor<float>({1000}), z = stream.tensor<float>({10, 100});
    copyRow.consts(256)(stream, x, y);
    copyRow.consts(256)(stream, y, z.reshape({1000}));
    EXPECT_EQ(z.download(), ramp(1000, 3));
    EXPECT_EQ(stream.usage().allocations, 2u) << "round " << round;
    EXPECT_GE(stream.usage().usedBytes, 8000u);
    EXPECT_EQ(stream.usage().keptBytes, 0u);
  }
  EXPECT_EQ(stream.usage().usedBytes, 0u);
  EXPECT_GE(stream.usage().keptBytes, 8000u);
  stream.trim();
  EXPECT_EQ(stream.usage().keptBytes, 0u);
}

TEST_P(StreamMemory, ViewsKeepTheirBlock) {
  TensorOf<float> row;
  {
    auto x = stream.tensor<float>({4, 4});
    x.upload(ramp(16, 0));
    row = x.slice(0, 2, 1);
  }
  auto other = stream.tensor<float>({4, 4});
  other.upload(ramp(16, 100));
  EXPECT_EQ(row.download(), ramp(4, 8));
}

TEST_P(StreamMemory, OutlivesTheHandleOfItsStream) {
  TensorOf<float> x;
  {
    Stream brief = device().stream();
    x = brief.tensor<float>({16});
    x.upload(ramp(16, 0));
  }
  EXPECT_EQ(x.download(), ramp(16, 0));
}

TEST_P(StreamMemory, ClosedStreamsGiveNone) {
  Stream brief = device().stream();
  auto x = brief.tensor<float>({16});
  brief.close();
  EXPECT_EQ(errorOf([&] { brief.tensor<float>({16}); }).code(), ErrorCode::InvalidHandle);
  x.upload(ramp(16, 0));
  EXPECT_EQ(x.download(), ramp(16, 0)); // and goes back to the device by itself
}

TEST_P(StreamMemory, EmptyTensorsAndRefusedShapes) {
  EXPECT_EQ(stream.tensor<float>({0, 5}).numel(), 0);
  EXPECT_EQ(errorOf([&] { stream.tensor<float>({-1}); }).code(), ErrorCode::InvalidShape);
  EXPECT_EQ(errorOf([&] { stream.tensor<float>({int64_t{1} << 50}); }).code(),
            ErrorCode::OutOfMemory);
}

TEST(StreamMemoryOnTheVirtualGpu, BlocksTakenAgainCountAsUnwritten) {
  Device device = Device::wrap(device::openVirtual({.checks = "all"}), "virtual");
  Stream stream = device.stream();
  auto result = device.tensor<float>({64});
  stream.tensor<float>({64}).upload(ramp(64, 0));
  auto again = stream.tensor<float>({64});
  ASSERT_EQ(stream.usage().allocations, 1u);
  Error error = errorOf([&] {
    copyRow.consts(64)(stream, again, result);
    stream.synchronize();
  });
  EXPECT_EQ(error.code(), ErrorCode::DeviceFinding) << error.what();
}

TEST(StreamMemoryOnTheVirtualGpu, KeptBlocksGiveWayToOtherSizes) {
  Device device = Device::wrap(device::openVirtual({}), "virtual");
  Stream stream = device.stream();
  size_t most = device.state()->device->props().totalMemory;
  int64_t half = static_cast<int64_t>(most / 8 * 5); // two of these do not fit
  stream.tensor<uint8_t>({half});
  auto other = stream.tensor<uint8_t>({half + 1});
  EXPECT_EQ(stream.usage().keptBytes, 0u);
  EXPECT_EQ(stream.usage().usedBytes, static_cast<size_t>(half + 1));
}

} // namespace
