// What tests of the C API begin with: a device, a stream, tensors, all released at the end, after which no handle is left.
#pragma once

#include "capi/Handles.h"

#include <tile/tile_c.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tile::test {

constexpr int64_t kCount = 1000;

class CApi : public testing::Test {
protected:
  void SetUp() override {
    before_ = capi::liveHandles();
    tile_at(nullptr, 0);
    ok(tile_device_open("virtual:sm_90a", &device));
    ok(tile_stream_create(device, &stream));
  }
  void TearDown() override {
    for (tile_tensor *tensor : tensors_)
      ok(tile_tensor_release(tensor));
    ok(tile_stream_release(stream));
    ok(tile_device_release(device));
    EXPECT_EQ(capi::liveHandles(), before_) << "handles are left";
  }

  static void ok(tile_status status) { ASSERT_EQ(status, TILE_OK) << tile_last_error_text(); }
  /// The call failed like this, and the message has this part.
  static void failed(tile_status status, tile_status expected, const std::string &part) {
    EXPECT_STREQ(tile_status_name(status), tile_status_name(expected)) << tile_last_error_text();
    EXPECT_EQ(tile_last_error_code(), expected);
    EXPECT_NE(std::string(tile_last_error_text()).find(part), std::string::npos)
        << tile_last_error_text();
    EXPECT_EQ(std::string(tile_last_error_text()).find('\n'), std::string::npos)
        << "one line: " << tile_last_error_text();
  }

  /// A tensor that the test need not release.
  tile_tensor *tensor(tile_dtype dtype = TILE_F32, std::vector<int64_t> shape = {kCount}) {
    tile_tensor *made = nullptr;
    ok(tile_tensor_create(device, dtype, static_cast<int32_t>(shape.size()), shape.data(), nullptr,
                          &made));
    if (made)
      tensors_.push_back(made);
    return made;
  }
  tile_tensor *filled(float value) {
    tile_tensor *made = tensor();
    std::vector<float> values(kCount, value);
    ok(tile_tensor_upload(made, stream, values.data(), kCount * sizeof(float)));
    return made;
  }
  std::vector<float> valuesOf(tile_tensor *of) {
    std::vector<float> values(kCount);
    ok(tile_tensor_download(of, stream, values.data(), kCount * sizeof(float)));
    return values;
  }

  tile_device *device = nullptr;
  tile_stream *stream = nullptr;

private:
  size_t before_ = 0;
  std::vector<tile_tensor *> tensors_;
};

} // namespace tile::test
