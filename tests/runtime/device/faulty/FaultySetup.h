// A device of the public API that fails when it is told to, on each kind of device there is, and a kernel for it.
#pragma once

#include "tests/runtime/device/faulty/FaultyDevice.h"

#include <tile/tile.h>

#include <gtest/gtest.h>

namespace tile {

inline const auto addOne = kernel("add_one", [](In<f32, 1> a, Out<f32, 1> b, Const B) {
  Value i = grid1d(b, {B});
  b.tile({B})(i) = a.tile({B})(i) + 1.0f;
});

inline constexpr int64_t kCount = 1000;

class FaultyDevices : public testing::TestWithParam<bool> {
protected:
  using Seam = device::DeviceFault::Seam;
  using Kind = device::DeviceFault::Kind;

  void SetUp() override {
    try {
      auto inner = GetParam() ? device::openCuda() : device::openVirtual();
      faulty = std::make_shared<device::FaultyDevice>(std::move(inner));
      device = Device::wrap(faulty, "faulty");
    } catch (const Error &error) {
      if (error.code() != ErrorCode::NoDevice)
        throw;
      GTEST_SKIP() << error.message();
    }
  }

  std::shared_ptr<device::FaultyDevice> faulty;
  Device device{std::shared_ptr<detail::DeviceState>()};
};

inline std::string nameOfFaulty(const testing::TestParamInfo<bool> &info) {
  return info.param ? "cuda" : "virtual";
}

/// The call throws that error, whose text has all of these parts.
template <class Call>
void expectError(ErrorCode code, const std::vector<std::string> &parts, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected " << nameOf(code);
  } catch (const Error &error) {
    EXPECT_STREQ(nameOf(error.code()), nameOf(code)) << error.what();
    for (const std::string &part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is missing in: " << error.what();
  }
}

} // namespace tile
