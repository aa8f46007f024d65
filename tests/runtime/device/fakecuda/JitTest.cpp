// The public API down to the driver: a kernel is compiled for the fake GPU, loaded and launched.
#include "tests/runtime/device/fakecuda/FakeCuda.h"

#include <tile/ops/Arithmetic.h>
#include <tile/ops/Matmul.h>
#include <tile/ops/Reduce.h>
#include <tile/ops/Softmax.h>
#include <tile/tile.h>
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace tile;

namespace {

const auto vectorAdd = kernel("vector_add", [](In<f32, 1> a, In<f32, 1> b, Out<f32, 1> c, Const B) {
  Value i = grid1d(c, {B});
  c.tile({B})(i) = a.tile({B})(i) + b.tile({B})(i);
});

constexpr int64_t kCount = 1000;

uint64_t wordOf(const std::vector<unsigned char> &bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
  return word;
}

// The parameters of the launch, by place, that hold `word`.
std::vector<size_t> placesOf(const FakeLaunch &launch, uint64_t word) {
  std::vector<size_t> places;
  for (size_t i = 0; i < launch.params.size(); ++i)
    if (wordOf(launch.params[i]) == word)
      places.push_back(i);
  return places;
}

template <class T> uint64_t addressOf(const T &tensor) {
  return reinterpret_cast<uint64_t>(tensor.data());
}

TEST(FakeCudaJit, AKernelIsCompiledLoadedAndLaunched) {
  Device device = Device::open("cuda:0");
  EXPECT_EQ(device.product(), "Fake GPU 0");
  EXPECT_EQ(device.multiprocessors(), 132);
  EXPECT_EQ(device.target(), "sm_90a");
  Stream stream = device.stream();
  std::vector<float> values(kCount, 1.5f);
  auto a = device.tensor<float>({kCount}, values), b = device.tensor<float>({kCount}, values);
  auto c = device.tensor<float>({kCount});
  c.fill(-1);
  fakeCudaReset();
  vectorAdd.consts(256)(stream, a, b, c);
  vectorAdd.consts(256)(stream, b, a, c);
  stream.synchronize();
  EXPECT_EQ(fakeCudaImages().size(), 1u) << "compiled once";
  ASSERT_EQ(fakeCudaLaunches().size(), 2u);
  const FakeLaunch &launch = fakeCudaLaunches()[0];
  EXPECT_NE(launch.kernel.find("vector_add"), std::string::npos);
  EXPECT_EQ(std::vector(launch.grid, launch.grid + 3), (std::vector<unsigned>{4, 1, 1}));
  EXPECT_EQ(launch.block[0] % 32, 0u);
  EXPECT_NE(launch.stream, nullptr);
  for (const auto &tensor : {a, b, c})
    EXPECT_EQ(placesOf(launch, addressOf(tensor)).size(), 1u);
  EXPECT_FALSE(placesOf(launch, kCount).empty());
  // The second launch has a and b swapped.
  EXPECT_EQ(placesOf(launch, addressOf(a)), placesOf(fakeCudaLaunches()[1], addressOf(b)));
  EXPECT_EQ(a.download(), values);
  EXPECT_EQ(fakeCudaHazards(), std::vector<std::string>());
}

// The copy engine's view of a tensor is encoded when the kernel first meets it, and again for another address or shape.
TEST(FakeCudaJit, TensorMapsAreKeptForTheNextCall) {
  static const auto copied = kernel("copied", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c) {
    auto sums = var(zeros(f32, {64, 64}));
    for (auto k : range(cdiv(a.dim(1), 64)))
      sums = dot(a.tile({64, 64}).hints({.copy = CopyBy::tma})(0, k),
                 b.tile({64, 64}).hints({.copy = CopyBy::tma})(k, 0), sums);
    c.tile({64, 64})(0, 0) = sums;
  });
  Device device = Device::open("cuda:0");
  Stream stream = device.stream();
  auto a = device.tensor<half>({64, 128}), b = device.tensor<half>({128, 64}),
       other = device.tensor<half>({128, 64});
  auto c = device.tensor<float>({64, 64});
  auto encoded = [&](const auto &left, const auto &right) {
    size_t before = fakeCudaTensorMaps().size();
    copied.grid(1)(stream, left, right, c);
    return fakeCudaTensorMaps().size() - before;
  };
  EXPECT_EQ(encoded(a, b), 2u);
  const FakeTensorMap &map = fakeCudaTensorMaps().back();
  EXPECT_EQ(map.address, addressOf(b));
  EXPECT_EQ(map.dims, (std::vector<uint64_t>{64, 128}));
  EXPECT_EQ(map.strides, (std::vector<uint64_t>{128}));
  EXPECT_EQ(map.box, (std::vector<uint32_t>{64, 64}));
  EXPECT_EQ(encoded(a, b), 0u);
  EXPECT_EQ(encoded(a, other), 1u);
  EXPECT_EQ(encoded(a, b), 0u);
  auto longer = device.tensor<half>({64, 192}), wider = device.tensor<half>({192, 64});
  EXPECT_EQ(encoded(longer, wider), 2u);
  stream.synchronize();
  EXPECT_EQ(fakeCudaHazards(), std::vector<std::string>());
}

// Its operands take 64 KB of shared memory.
const auto product = kernel("product", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c) {
  c.tile({128, 128})(0, 0) = dot(a.tile({128, 128})(0, 0), b.tile({128, 128})(0, 0));
});

// Tools that watch a driver, such as compute-sanitizer, report each call that returned an error.
TEST(FakeCudaJit, ACorrectProgramMakesNoCallThatFails) {
  fakeCudaReset();
  {
    Device device = Device::open("cuda:0");
    Stream first = device.stream(), second = device.stream();
    auto a = device.tensor<half>({512, 512}), b = device.tensor<half>({512, 512});
    auto empty = device.tensor<float>({0});
    auto c = ops::matmul(first, a, b);
    product.grid(1)(first, a, b, device.tensor<float>({128, 128}));
    auto d = ops::softmax(first, c);
    auto e = ops::sum(first, d, {0});
    first.synchronize();
    ops::add(second, d, d);
    second.synchronize();
    a.download();
    empty.download();
    b.fill(half(1.0f));
    EXPECT_GE(fakeCudaLaunches().size(), 4u);
    EXPECT_TRUE(std::ranges::any_of(fakeCudaLaunches(), [](const FakeLaunch &launch) {
      return launch.sharedBytes > 48 * 1024;
    })) << "no launch needed more shared memory than a function has at first";
  }
  EXPECT_EQ(fakeCudaFailedCalls(), std::vector<std::string>());
}

// The assembler accepts 512 threads of 200 registers; the device would refuse every launch.
TEST(FakeCudaJit, MoreRegistersThanAMultiprocessorHasAreRefusedBeforeTheLaunch) {
  Device device = Device::open("cuda:0");
  Stream stream = device.stream();
  auto a = device.tensor<float>({kCount}), c = device.tensor<float>({kCount});
  fakeCudaReset();
  fakeCudaSetRegisters(200);
  try {
    vectorAdd.consts(1024).warps(16)(stream, a, a, c);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::ResourceExceeded) << error.what();
    EXPECT_NE(error.message().find("200 registers for each of 512 threads"), std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(fakeCudaLaunches().empty());
  fakeCudaReset();
  EXPECT_NO_THROW(vectorAdd.consts(1024).warps(16)(stream, a, a, c)) << "the failure is not kept";
}

TEST(FakeCudaJit, ARefusedLaunchNamesTheKernel) {
  Device device = Device::open("cuda:0");
  Stream stream = device.stream();
  auto a = device.tensor<float>({kCount}), c = device.tensor<float>({kCount});
  fakeCudaReset();
  fakeCudaFail("cuLaunchKernelEx", 1, 701);
  try {
    vectorAdd.consts(512)(stream, a, a, c);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::ResourceExceeded) << error.what();
    EXPECT_NE(std::string(error.what()).find("vector_add"), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW(vectorAdd.consts(512)(stream, a, a, c));
}

TEST(FakeCudaJit, StreamsAndContextsOfOthersServeKernels) {
  fakeCudaPushForeignContext(1);
  {
    Device device = Device::ofContext();
    EXPECT_EQ(device.name(), "cuda:1");
    EXPECT_EQ(Device::ofContext().handle(), device.handle()) << "the same while there is a handle";
    void *native = fakeCudaMakeStream();
    {
      Stream stream = device.externalStream(native);
      auto a = device.tensor<float>({kCount}), c = device.tensor<float>({kCount});
      fakeCudaReset();
      vectorAdd.consts(256)(stream, a, a, c);
      EXPECT_EQ(fakeCudaLaunches().at(0).stream, native);
      stream.synchronize();
    }
    fakeCudaEndStream(native);
  }
  fakeCudaPopContext();
  EXPECT_EQ(fakeCudaLive("stream"), 0u);
}

TEST(FakeCudaJit, PrimaryContextsAreTheDevicesOfTheirNames) {
  Device device = Device::open("cuda:0");
  fakeCudaPushPrimaryContext(0);
  EXPECT_EQ(Device::ofContext().handle(), device.handle());
  fakeCudaPopContext();
  try {
    Device::ofContext();
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidHandle) << error.what();
  }
}

// Handles of streams of others come and go with each call of a library: none of them waits.
TEST(FakeCudaJit, LettingGoOfAStreamOfOthersDoesNotWait) {
  Device device = Device::open("cuda:0");
  Stream stream = device.stream();
  fakeCudaReset();
  {
    Stream again = device.externalStream(stream.native());
    auto kept = again.tensor<float>({kCount});
  }
  for (const std::string &call : fakeCudaCalls())
    EXPECT_EQ(call.find("Synchronize"), std::string::npos) << call;
}

} // namespace
