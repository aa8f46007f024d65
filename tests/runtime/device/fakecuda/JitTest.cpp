// The public API down to the driver: a kernel is compiled for the fake GPU, loaded and launched.
#include "tests/runtime/device/fakecuda/FakeCuda.h"

#include <tile/tile.h>
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

} // namespace
