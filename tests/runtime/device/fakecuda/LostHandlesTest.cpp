// The public API when the driver says that all is lost: what the program is told, and that it can go on to its end.
#include "tests/runtime/device/fakecuda/FakeCuda.h"

#include <tile/tile.h>

#include <cstdlib>
#include <gtest/gtest.h>

using namespace tile;

namespace {

constexpr int64_t kCount = 1000;

const auto halved = kernel("halved", [](In<f32, 1> a, Out<f32, 1> b, Const B) {
  Value i = grid1d(b, {B});
  b.tile({B})(i) = a.tile({B})(i) * 0.5f;
});

std::string messageOf(ErrorCode code, const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    EXPECT_STREQ(nameOf(error.code()), nameOf(code)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error; expected " << nameOf(code);
  return {};
}

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is missing in: " << text;
}

class LostHandles : public testing::Test {
protected:
  // A context of its own, since a lost one stays lost: others are of the primary context.
  void SetUp() override {
    fakeCudaReset();
    fakeCudaPushForeignContext(0);
    device.emplace(Device::ofContext());
    stream = device->stream();
    a = device->tensor<float>({kCount}), b = device->tensor<float>({kCount});
  }
  void TearDown() override {
    uint64_t before = fakeCudaCallCount();
    a.reset(), b.reset(), stream = Stream(), device.reset();
    EXPECT_EQ(fakeCudaCallCount(), before) << "nothing of a lost context is asked of the driver";
    fakeCudaReset();
    fakeCudaPopContext();
  }

  std::optional<Device> device;
  Stream stream;
  std::optional<TensorOf<float>> a, b;
};

TEST_F(LostHandles, NameTheKernelItsLineAndItsArguments) {
  halved.consts(256)(stream, *a, *b);
  std::string line = "LostHandlesTest.cpp:" + std::to_string(__LINE__ - 1);
  fakeCudaFail("cuStreamSynchronize", 1, 700);
  std::string first = messageOf(ErrorCode::ContextLost, [&] { stream.synchronize(); });
  for (const std::string &part : {std::string("CUDA_ERROR_ILLEGAL_ADDRESS (700)"), line,
                                  std::string("last kernel launched: halved"),
                                  std::string("arguments 0x7"), std::string("1000")})
    expectPart(first, part);
  uint64_t before = fakeCudaCallCount();
  for (int i = 0; i < 2; ++i) {
    expectPart(messageOf(ErrorCode::ContextLost, [&] { halved.consts(256)(stream, *a, *b); }),
               line);
    messageOf(ErrorCode::ContextLost, [&] { a->download(); });
    messageOf(ErrorCode::ContextLost, [&] { device->tensor<float>({1}); });
  }
  EXPECT_EQ(fakeCudaCallCount(), before);
}

TEST_F(LostHandles, SayWhenTheGpuIsLost) {
  halved.consts(256)(stream, *a, *b);
  fakeCudaFail("cuLaunchKernelEx", 1, 214);
  std::string text = messageOf(ErrorCode::DeviceLost, [&] { halved.consts(256)(stream, *a, *b); });
  expectPart(text, "CUDA_ERROR_ECC_UNCORRECTABLE (214)");
  expectPart(text, "Xid");
  uint64_t before = fakeCudaCallCount();
  messageOf(ErrorCode::DeviceLost, [&] { stream.synchronize(); });
  EXPECT_EQ(fakeCudaCallCount(), before);
}

TEST_F(LostHandles, SayThatAnAssertionFailed) {
  halved.consts(256)(stream, *a, *b);
  fakeCudaFail("cuStreamSynchronize", 1, 710);
  expectPart(messageOf(ErrorCode::DeviceAssert, [&] { stream.synchronize(); }),
             "last kernel launched: halved");
  messageOf(ErrorCode::ContextLost, [&] { stream.synchronize(); });
}

} // namespace
