// Exchange by DLPack of memory of a GPU, which is shared.
#include "tests/runtime/device/fakecuda/FakeCuda.h"

#include <tile/DLPack.h>
#include <tile/tile.h>

#include <algorithm>
#include <gtest/gtest.h>

using namespace tile;

namespace {

using dlpack::DeviceType;

const auto twice = kernel("twice", [](In<f32, 2> x, Out<f32, 2> y, Const B) {
  auto [m, n] = grid2d(y, {B, B});
  y.tile({B, B})(m, n) = x.tile({B, B})(m, n) * 2;
});

class FakeCudaDLPack : public testing::Test {
protected:
  void SetUp() override { fakeCudaReset(); }
  void TearDown() override { EXPECT_TRUE(fakeCudaHazards().empty()); }

  static size_t memory() { return fakeCudaLive("memory"); }
  static size_t callsOf(const std::string &function) {
    return std::ranges::count(fakeCudaCalls(), function);
  }

  Device device_ = Device::open("cuda:0");
};

/// A tensor that another library hands out, of memory that it has of the device.
struct Foreign {
  TensorOf<float> memory;
  int64_t shape[2] = {4, 6}, strides[2] = {6, 1};
  dlpack::ManagedTensorVersioned managed = {};
  int deleted = 0;

  explicit Foreign(const Device &device) : memory(device.tensor<float>({4, 6})) {
    managed.version = {1, 0};
    managed.manager_ctx = this;
    managed.deleter = [](dlpack::ManagedTensorVersioned *self) {
      ++static_cast<Foreign *>(self->manager_ctx)->deleted;
    };
    managed.dl_tensor = {memory.data(),
                         {DeviceType::Cuda, 0},
                         2,
                         {dlpack::TypeCode::Float, 32, 1},
                         shape,
                         strides,
                         0};
  }
};

TEST_F(FakeCudaDLPack, WhatIsGivenSharesTheMemoryAndKeepsIt) {
  size_t before = memory();
  auto tensor = device_.tensor<float>({4, 6});
  void *address = tensor.T().slice(0, 1, 5).data();
  auto *given = toDlpack(tensor.T().slice(0, 1, 5));
  EXPECT_EQ(given->flags, 0u);
  EXPECT_EQ(given->dl_tensor.data, address);
  EXPECT_EQ(given->dl_tensor.byte_offset, 0u);
  EXPECT_EQ(given->dl_tensor.device.type, DeviceType::Cuda);
  EXPECT_EQ(given->dl_tensor.device.id, 0);
  EXPECT_EQ(given->dl_tensor.shape[0], 5);
  EXPECT_EQ(given->dl_tensor.strides[0], 1);
  EXPECT_EQ(given->dl_tensor.strides[1], 6);
  tensor = {};
  EXPECT_EQ(memory(), before + 1);
  given->deleter(given);
  EXPECT_EQ(memory(), before);
}

TEST_F(FakeCudaDLPack, TheOrdinalIsThatOfTheDevice) {
  auto *given = toDlpack(Device::open("cuda:1").tensor<float>({4}));
  EXPECT_EQ(given->dl_tensor.device.id, 1);
  try {
    (void)fromDlpack(device_, given);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::WrongDevice);
  }
}

TEST_F(FakeCudaDLPack, WhatIsTakenSharesTheMemoryUntilItsLastUse) {
  Foreign foreign(device_);
  size_t before = memory();
  {
    Tensor tensor = fromDlpack(device_, &foreign.managed);
    EXPECT_EQ(tensor.data(), foreign.memory.data());
    EXPECT_EQ(tensor.device().name(), "cuda:0");
    EXPECT_EQ(memory(), before);
    Stream stream = device_.stream();
    twice.consts(4)(stream, tensor, device_.tensor<float>({4, 6}));
    Tensor column = tensor.slice(1, 2, 1);
    tensor = {};
    EXPECT_EQ(foreign.deleted, 0);
    fakeCudaReset();
  }
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_GE(callsOf("cuCtxSynchronize"), 1u) << "work that reads it may be under way";
  EXPECT_EQ(memory(), before);
}

TEST_F(FakeCudaDLPack, ViewsStayWithinWhatWasGiven) {
  Foreign foreign(device_);
  foreign.shape[1] = 2; // two columns of six
  Tensor tensor = fromDlpack(device_, &foreign.managed);
  EXPECT_EQ(tensor.stride(0), 6);
  EXPECT_NO_THROW((void)tensor.withStrides({20}, {1}));
  EXPECT_THROW((void)tensor.withStrides({21}, {1}), Error);
}

TEST_F(FakeCudaDLPack, WhatMustNotBeWrittenToIsCopied) {
  Foreign foreign(device_);
  foreign.managed.flags = dlpack::kReadOnly;
  size_t before = memory();
  Tensor tensor = fromDlpack(device_, &foreign.managed);
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_NE(tensor.data(), foreign.memory.data());
  EXPECT_EQ(memory(), before + 1);
  EXPECT_TRUE(std::ranges::equal(tensor.strides(), foreign.strides));
}

TEST_F(FakeCudaDLPack, ManagedMemoryIsTakenAndMisalignedMemoryIsNot) {
  Foreign managed(device_);
  managed.managed.dl_tensor.device = {DeviceType::CudaManaged, 0};
  EXPECT_EQ(fromDlpack(device_, &managed.managed).data(), managed.memory.data());
  Foreign odd(device_);
  odd.managed.dl_tensor.byte_offset = 2;
  odd.shape[0] = 2;
  try {
    (void)fromDlpack(device_, &odd.managed);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(), "DLPack: the elements are not aligned to the size of f32");
  }
  EXPECT_EQ(odd.deleted, 1);
}

TEST_F(FakeCudaDLPack, TheHostWaitsForTheProducersStream) {
  Foreign foreign(device_);
  Stream producer = device_.stream();
  fakeCudaReset();
  Tensor tensor = fromDlpack(device_, &foreign.managed, producer);
  EXPECT_EQ(callsOf("cuStreamSynchronize"), 1u);
}

TEST_F(FakeCudaDLPack, TooLittleMemoryForACopyGivesTheTensorBack) {
  Foreign foreign(device_);
  foreign.managed.flags = dlpack::kReadOnly;
  for (int nth = 1; nth <= 2; ++nth)
    fakeCudaFail("cuMemAlloc_v2", nth, 2);
  EXPECT_THROW((void)fromDlpack(device_, &foreign.managed), Error);
  EXPECT_EQ(foreign.deleted, 1);
  fakeCudaReset();
}

} // namespace
