// A device of the public API on a virtual GPU that fails when it is told to, and a kernel for it.
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

class FaultyDevices : public testing::Test {
protected:
  using Seam = device::DeviceFault::Seam;
  using Kind = device::DeviceFault::Kind;

  std::shared_ptr<device::FaultyDevice> faulty =
      std::make_shared<device::FaultyDevice>(device::openVirtual());
  Device device = Device::wrap(faulty, "faulty");
};

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
