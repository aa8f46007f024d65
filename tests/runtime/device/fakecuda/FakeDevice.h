// A CUDA device on the fake driver, for one test, which must leave nothing behind and touch memory in order.
#pragma once

#include "runtime/device/Device.h"
#include "tests/runtime/device/fakecuda/FakeCuda.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tile::device {

// Two kernels; `scale` has 4 KB of static shared memory.
inline constexpr const char *kKernels = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(
  .param .u64 .ptr .global .align 16 scale_param_0,
  .param .f32 scale_param_1,
  .param .b16 scale_param_2,
  .param .align 8 .b8 scale_param_3[24])
{
  .shared .align 16 .b8 staging[4096];
  ret;
}
.visible .entry nothing()
{
  ret;
}
)";

/// The least that passes for a cubin: an ELF header, then text for the fake driver.
inline std::vector<std::byte> cubinOf(const std::string &text) {
  constexpr size_t kHeaderBytes = 64;
  std::string bytes("\x7f"
                    "ELF");
  bytes.resize(kHeaderBytes);
  bytes += text + '\0';
  auto *first = reinterpret_cast<const std::byte *>(bytes.data());
  return {first, first + bytes.size()};
}

/// The call throws that error, whose text has all of these parts.
template <class Call>
void expectError(ErrorCode code, const std::vector<std::string> &parts, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected " << nameOf(code);
  } catch (const Error &error) {
    EXPECT_EQ(nameOf(error.code()), std::string(nameOf(code))) << error.what();
    for (const std::string &part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is missing in: " << error.what();
  }
}

inline size_t timesCalled(const std::string &function) {
  const auto &calls = fakeCudaCalls();
  return static_cast<size_t>(std::count(calls.begin(), calls.end(), function));
}

class FakeCuda : public testing::Test {
protected:
  void SetUp() override {
    fakeCudaReset();
    device = openCuda(0);
    EXPECT_EQ(fakeCudaFailedCalls(), std::vector<std::string>());
    fakeCudaReset();
  }

  void TearDown() override {
    EXPECT_EQ(fakeCudaContextDepth(), 0u) << "a context was left current";
    EXPECT_EQ(fakeCudaHazards(), std::vector<std::string>());
    device.reset();
    EXPECT_EQ(fakeCudaLive("context"), 0u);
    if (isContextLost)
      return;
    for (const char *kind : {"stream", "event", "module", "memory", "graph"})
      EXPECT_EQ(fakeCudaLive(kind), 0u) << kind;
  }

  Function scale() { return device->getFunction(device->loadModule(kKernels), "scale"); }

  std::shared_ptr<Device> device;
  bool isContextLost = false; // the driver frees nothing of a lost context
};

} // namespace tile::device
