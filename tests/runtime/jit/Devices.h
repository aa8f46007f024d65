// Tests that run on each kind of device, and are skipped where it is absent.
#pragma once

#include "runtime/host/State.h"
#include "runtime/jit/Jit.h"
#include "runtime/jit/Launch.h"

#include <tile/tile.h>

#include <gtest/gtest.h>

#include <numeric>

namespace tile::test {

class OnDevice : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    try {
      opened_ = std::make_unique<Device>(Device::open(GetParam()));
    } catch (const Error &error) {
      if (error.code() != ErrorCode::NoDevice)
        throw;
      GTEST_SKIP() << error.message();
    }
    stream = opened_->stream();
  }

  const Device &device() const { return *opened_; }
  /// How many compiles the device has seen.
  uint64_t compiles() const { return jit::jitOf(*opened_->state()).compileCount(); }

  Stream stream;

private:
  std::unique_ptr<Device> opened_;
};

inline std::string nameOfDevice(const testing::TestParamInfo<const char *> &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

#define TILE_ON_EVERY_DEVICE(Suite)                                                                \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite,                                                         \
                           testing::Values("virtual:sm_80", "virtual:sm_90a", "cuda:0"),           \
                           tile::test::nameOfDevice)

/// first, first + 1, ...
inline std::vector<float> ramp(int64_t count, float first) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// The error that `action` throws; a failed test if it throws none.
template <class F> Error errorOf(F action) {
  try {
    action();
  } catch (const Error &error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(Fault::User, ErrorCode::InternalCompilerError, "nothing was thrown");
}

} // namespace tile::test
