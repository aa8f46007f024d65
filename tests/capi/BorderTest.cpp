// Wrong calls of the C API: each is told in one line, and nothing is left behind.
#include "runtime/host/State.h"
#include "tests/capi/Handles.h"

#include <tile/DLPack.h>

#include <limits>
#include <thread>

namespace tile::test {
namespace {

constexpr int64_t kShape[] = {kCount};

TEST_F(CApi, HandlesThatAreNullAreNamed) {
  failed(tile_device_synchronize(nullptr), TILE_INVALID_HANDLE,
         "'device' is NULL: a device is expected");
  failed(tile_stream_synchronize(nullptr), TILE_INVALID_HANDLE, "'stream' is NULL");
  failed(tile_event_synchronize(nullptr), TILE_INVALID_HANDLE, "'event' is NULL");
  failed(tile_tensor_info(nullptr, nullptr), TILE_INVALID_HANDLE, "'tensor' is NULL");
  failed(tile_graph_replay(nullptr, stream), TILE_INVALID_HANDLE, "'graph' is NULL");
  failed(tile_library_kernel(nullptr, "k", nullptr), TILE_INVALID_HANDLE, "'library' is NULL");
  failed(tile_kernel_launch(nullptr, stream, nullptr, nullptr, 0), TILE_INVALID_HANDLE,
         "'kernel' is NULL");
  failed(tile_stream_wait(stream, nullptr), TILE_INVALID_HANDLE, "'other' is NULL");
  failed(tile_tensor_upload_async(filled(0), nullptr, kShape, 8), TILE_INVALID_HANDLE,
         "'stream' is NULL");
}

TEST_F(CApi, ReleasingNullDoesNothing) {
  ok(tile_device_release(nullptr));
  ok(tile_stream_release(nullptr));
  ok(tile_event_release(nullptr));
  ok(tile_tensor_release(nullptr));
  ok(tile_graph_release(nullptr));
  ok(tile_library_release(nullptr));
  ok(tile_kernel_release(nullptr));
}

TEST_F(CApi, HandlesOfAnotherKindAreNamed) {
  failed(tile_stream_synchronize(reinterpret_cast<tile_stream *>(device)), TILE_INVALID_HANDLE,
         "'stream' is a device: a stream is expected");
  failed(tile_device_release(reinterpret_cast<tile_device *>(stream)), TILE_INVALID_HANDLE,
         "'device' is a stream: a device is expected");
}

TEST_F(CApi, AddressesAndNumbersAreNoHandles) {
  int local = 0;
  for (uintptr_t word : {reinterpret_cast<uintptr_t>(&local), uintptr_t{1}, uintptr_t{0xffff},
                         ~uintptr_t{0}, uintptr_t{0x711e'0000'0000'0000},
                         uintptr_t{0x711e'ffff'ffff'ffff}, uintptr_t{0x711e'0000'0000'000f}})
    failed(tile_stream_synchronize(reinterpret_cast<tile_stream *>(word)), TILE_INVALID_HANDLE,
           "a stream is expected");
  // Of the right kind, at a place that was never taken.
  failed(tile_stream_synchronize(reinterpret_cast<tile_stream *>(uintptr_t{0x711e'ffff'ff00'0002})),
         TILE_INVALID_HANDLE, "'stream' is a stream that was released");
}

TEST_F(CApi, ReleasedHandlesAreNeverTheirSuccessors) {
  tile_event *first = nullptr, *second = nullptr;
  ok(tile_event_create(device, &first));
  ok(tile_event_release(first));
  ok(tile_event_create(device, &second)); // in the same place
  failed(tile_event_record(first, stream), TILE_INVALID_HANDLE,
         "'event' is an event that was released");
  failed(tile_event_release(first), TILE_INVALID_HANDLE, "was released");
  ok(tile_event_record(second, stream));
  ok(tile_event_release(second));
}

TEST_F(CApi, PlacesForResultsMustBeThere) {
  failed(tile_device_open("virtual", nullptr), TILE_INVALID_ARGUMENT, "'device' is NULL");
  failed(tile_stream_create(device, nullptr), TILE_INVALID_ARGUMENT, "'stream' is NULL");
  failed(tile_tensor_create(device, TILE_F32, 1, kShape, nullptr, nullptr), TILE_INVALID_ARGUMENT,
         "'tensor' is NULL");
  failed(tile_tensor_info(tensor(), nullptr), TILE_INVALID_ARGUMENT, "'layout' is NULL");
  failed(tile_op_count(nullptr), TILE_INVALID_ARGUMENT, "'count' is NULL");
  failed(tile_op_find(nullptr, nullptr), TILE_INVALID_ARGUMENT, "'name' is NULL");
  failed(tile_library_open(nullptr, nullptr), TILE_INVALID_ARGUMENT, "'path' is NULL");
  failed(tile_graph_capture(stream, nullptr, nullptr, nullptr), TILE_INVALID_ARGUMENT,
         "'graph' is NULL");
}

TEST_F(CApi, UnknownPropertiesListThoseThatThereAre) {
  const char *text = "as before";
  failed(tile_device_text(device, "colour", &text), TILE_INVALID_ARGUMENT,
         "'colour' is no property that is a text: there are name, product, target");
  EXPECT_STREQ(text, "as before");
  int64_t number = 0;
  failed(tile_device_number(device, "name", &number), TILE_INVALID_ARGUMENT, "multiprocessors");
  failed(tile_device_number(device, nullptr, &number), TILE_INVALID_ARGUMENT, "'property' is NULL");
}

TEST_F(CApi, ImpossibleTensorsAreRefused) {
  tile_tensor *made = nullptr;
  constexpr int64_t kNine[] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, kNegative[] = {4, -1},
                    kHuge[] = {int64_t{1} << 40, int64_t{1} << 40}, kStrides[] = {-1, 1};
  auto create = [&](tile_dtype dtype, int32_t rank, const int64_t *shape,
                    const int64_t *strides = nullptr) {
    return tile_tensor_create(device, dtype, rank, shape, strides, &made);
  };
  failed(create(TILE_F32, 9, kNine), TILE_INVALID_SHAPE, "0 to 8 dimensions, not 9");
  failed(create(TILE_F32, -1, kNine), TILE_INVALID_SHAPE, "not -1");
  failed(create(TILE_F32, std::numeric_limits<int32_t>::max(), kNine), TILE_INVALID_SHAPE,
         "0 to 8");
  failed(create(TILE_F32, 2, kNegative), TILE_INVALID_SHAPE, "extent -1 of dimension 1");
  failed(create(TILE_F32, 2, kNegative, kNine), TILE_INVALID_SHAPE, "is negative");
  failed(create(TILE_F32, 2, kHuge), TILE_INVALID_SHAPE, "more than 2^63 bytes");
  failed(create(TILE_F32, 2, kHuge, kHuge), TILE_INVALID_SHAPE, "more than 2^63 bytes");
  failed(create(TILE_F32, 2, kNine, kStrides), TILE_UNSUPPORTED, "stride -1 of dimension 0");
  failed(create(TILE_F32, 1, nullptr), TILE_INVALID_ARGUMENT, "'shape' is NULL");
  failed(create(TILE_ANY, 1, kShape), TILE_INVALID_ARGUMENT, "dtype 0 is none");
  failed(create(16, 1, kShape), TILE_INVALID_ARGUMENT, "dtype 16 is none");
  failed(create(-3, 1, kShape), TILE_INVALID_ARGUMENT, "dtype -3 is none");
  EXPECT_EQ(made, nullptr);
}

TEST_F(CApi, TensorsWithoutElementsOrDimensions) {
  constexpr int64_t kEmpty[] = {3, 0}, kStrides[] = {7, 1};
  tile_tensor *made = nullptr;
  ok(tile_tensor_create(device, TILE_F32, 2, kEmpty, kStrides, &made));
  ok(tile_tensor_upload(made, stream, nullptr, 0));
  ok(tile_tensor_release(made));
  ok(tile_tensor_create(device, TILE_F64, 0, nullptr, nullptr, &made));
  double value = 7, back = 0;
  ok(tile_tensor_upload(made, stream, &value, sizeof value));
  ok(tile_tensor_download(made, nullptr, &back, sizeof back));
  EXPECT_EQ(back, 7);
  ok(tile_tensor_release(made));
}

TEST_F(CApi, ImpossibleViewsAreRefused) {
  tile_tensor *matrix = tensor(TILE_F32, {4, 6}), *view = nullptr;
  constexpr int32_t kTwice[] = {0, 0}, kBeyond[] = {0, 2};
  constexpr int64_t kFive[] = {5, 5}, kOnes[] = {1, 1}, kFar[] = {100, 1};
  failed(tile_tensor_permute(matrix, kTwice, &view), TILE_INVALID_ARGUMENT, "its place 1 has 0");
  failed(tile_tensor_permute(matrix, kBeyond, &view), TILE_INVALID_ARGUMENT, "its place 1 has 2");
  failed(tile_tensor_permute(matrix, nullptr, &view), TILE_INVALID_ARGUMENT, "'order' is NULL");
  failed(tile_tensor_slice(matrix, 2, 0, 1, &view), TILE_INVALID_ARGUMENT, "dimension 2");
  failed(tile_tensor_slice(matrix, 0, 3, 2, &view), TILE_INVALID_SHAPE, "leaves dimension 0");
  failed(tile_tensor_reshape(matrix, 2, kFive, &view), TILE_INVALID_SHAPE, "cannot be reshaped");
  failed(tile_tensor_restride(matrix, 2, kFive, kFar, &view), TILE_INVALID_SHAPE, "leaves the 24");
  failed(tile_tensor_restride(matrix, 2, kOnes, nullptr, &view), TILE_INVALID_ARGUMENT,
         "'strides' is NULL");
  EXPECT_EQ(view, nullptr);
}

TEST_F(CApi, CopiesOfAnotherSizeOrWithoutMemoryAreRefused) {
  tile_tensor *x = tensor();
  float few[10] = {};
  failed(tile_tensor_upload(x, stream, few, sizeof few), TILE_INVALID_ARGUMENT,
         "has 1000 elements, the host's data 10");
  failed(tile_tensor_download(x, nullptr, few, 3), TILE_INVALID_ARGUMENT, "4000 bytes");
  failed(tile_tensor_upload(x, stream, nullptr, 4000), TILE_INVALID_ARGUMENT, "'source' is NULL");
  failed(tile_tensor_download_async(x, stream, nullptr, 4000), TILE_INVALID_ARGUMENT,
         "'target' is NULL");
}

TEST_F(CApi, TensorsAndStreamsOfAnotherDeviceAreRefused) {
  tile_device *other = nullptr;
  tile_stream *foreign = nullptr;
  ok(tile_device_open("virtual:sm_80", &other));
  ok(tile_stream_create(other, &foreign));
  tile_tensor *x = filled(1);
  std::vector<float> values(kCount);
  failed(tile_tensor_download(x, foreign, values.data(), 4000), TILE_WRONG_DEVICE,
         "the tensor is in memory of device virtual:sm_90a");
  failed(tile_stream_wait(stream, foreign), TILE_WRONG_DEVICE, "device");
  tile_tensor *inputs[] = {x, x};
  failed(tile_op_run("add", foreign, inputs, 2, x, nullptr, 0), TILE_WRONG_DEVICE, "add:");
  ok(tile_stream_release(foreign));
  ok(tile_device_release(other));
}

TEST_F(CApi, StructuresOfOtherSizes) {
  tile_tensor *x = tensor(TILE_F16, {2, 3});
  tile_tensor_layout layout;
  layout.size = 0; // not set
  failed(tile_tensor_info(x, &layout), TILE_INVALID_ARGUMENT, "set .size to sizeof");
  // One of a caller with an older header, who has less.
  memset(&layout, 0x55, sizeof layout);
  layout.size = offsetof(tile_tensor_layout, data);
  ok(tile_tensor_info(x, &layout));
  EXPECT_EQ(layout.shape[1], 3);
  EXPECT_EQ(layout.elements, 0x5555555555555555);
  // One of a newer header, who has more.
  struct {
    tile_tensor_layout known;
    int64_t later = 77;
  } newer;
  newer.known.size = sizeof newer;
  ok(tile_tensor_info(x, &newer.known));
  EXPECT_EQ(newer.known.bytes, 12u);
  EXPECT_EQ(newer.later, 0);
}

TEST_F(CApi, MemoryIsGivenBack) {
  device::Device &seam = *Device::open("virtual:sm_90a").state()->device;
  constexpr int64_t kRows[] = {10};
  tile_tensor *made = nullptr, *view = nullptr;
  tile_tensor_layout layout = {sizeof layout, 0, 0, {}, {}, nullptr, 0, 0, 0, 0};
  ok(tile_tensor_create(device, TILE_F32, 1, kRows, nullptr, &made));
  ok(tile_tensor_info(made, &layout));
  auto address = reinterpret_cast<device::DevicePtr>(layout.data);
  ok(tile_tensor_slice(made, 0, 2, 3, &view));
  ok(tile_tensor_release(made));
  EXPECT_TRUE(seam.allocationOf(address)); // the view has it
  ok(tile_tensor_release(view));
  EXPECT_FALSE(seam.allocationOf(address));
}

TEST_F(CApi, MemoryOfOthersMustBeTheVirtualGpus) {
  tile_tensor_layout layout = {sizeof layout, 0, 0, {}, {}, nullptr, 0, 0, 0, 0};
  ok(tile_tensor_info(tensor(), &layout));
  auto *data = static_cast<char *>(layout.data);
  tile_tensor *lent = nullptr;
  auto wrap = [&](char *at, int64_t count, const int64_t *strides = nullptr) {
    return tile_tensor_wrap(device, at, TILE_F32, 1, &count, strides, nullptr, nullptr, &lent);
  };
  constexpr int64_t kTwo[] = {2};
  failed(wrap(data, kCount + 1), TILE_INVALID_ARGUMENT, "the 4004 bytes at 'data' are not in");
  failed(wrap(data + 4, kCount), TILE_INVALID_ARGUMENT, "the 4000 bytes");
  failed(wrap(data, 501, kTwo), TILE_INVALID_ARGUMENT, "the 4004 bytes");
  failed(wrap(data + 1, 1), TILE_INVALID_ARGUMENT,
         "is no address of 4 bytes of elements of type f32");
  failed(wrap(nullptr, 1), TILE_INVALID_ARGUMENT, "'data' is NULL");
  failed(wrap(reinterpret_cast<char *>(~uintptr_t{3}), 2), TILE_INVALID_ARGUMENT, "is no address");
  EXPECT_EQ(lent, nullptr);
  ok(wrap(data, kCount));
  ok(tile_tensor_release(lent));
  ok(wrap(nullptr, 0));
  ok(tile_tensor_release(lent));
}

/// A tensor of another library, which counts how often it was given back.
struct Lent {
  float values[3] = {1, 2, 3};
  int64_t shape[1] = {3};
  int returned = 0;
  dlpack::ManagedTensorVersioned managed = {};

  Lent() {
    managed.version = {1, 1};
    managed.manager_ctx = this;
    managed.deleter = [](auto *self) { ++static_cast<Lent *>(self->manager_ctx)->returned; };
    managed.dl_tensor = {
        values, {dlpack::DeviceType::Cpu, 0}, 1, {dlpack::TypeCode::Float, 32, 1}, shape, nullptr,
        0};
  }
  Lent(const Lent &) = delete;
  DLManagedTensorVersioned *handed() {
    return reinterpret_cast<DLManagedTensorVersioned *>(&managed);
  }
};

TEST_F(CApi, RefusedExchangesGiveTheTensorBack) {
  Lent lent;
  tile_tensor *taken = nullptr;
  failed(tile_tensor_from_dlpack(nullptr, lent.handed(), nullptr, &taken), TILE_INVALID_HANDLE,
         "'device' is NULL");
  EXPECT_EQ(lent.returned, 1);
  failed(tile_tensor_from_dlpack(device, lent.handed(), nullptr, nullptr), TILE_INVALID_ARGUMENT,
         "'tensor' is NULL");
  EXPECT_EQ(lent.returned, 2);
  lent.managed.version.major = 7;
  failed(tile_tensor_from_dlpack(device, lent.handed(), stream, &taken), TILE_UNSUPPORTED,
         "version 7.1");
  EXPECT_EQ(lent.returned, 3);
  failed(tile_tensor_from_dlpack(device, nullptr, nullptr, &taken), TILE_INVALID_ARGUMENT,
         "DLPack: the managed tensor is a null pointer");
  EXPECT_EQ(taken, nullptr);
  lent.managed.version.major = 1;
  ok(tile_tensor_from_dlpack(device, lent.handed(), stream, &taken));
  EXPECT_EQ(lent.returned, 4);
  ok(tile_tensor_release(taken));
}

TEST_F(CApi, UnknownOpsSettingsAndNumbersOfInputs) {
  tile_tensor *x = filled(1), *y = filled(0);
  tile_tensor *inputs[] = {x, x}, *withNull[] = {x, nullptr};
  tile_op_description op = {sizeof op, nullptr, nullptr, 0, 0, 0};
  failed(tile_op_find("subtract-everything", &op), TILE_INVALID_ARGUMENT, "there is no op");
  failed(tile_op_at(100000, &op), TILE_INVALID_ARGUMENT, "index 100000");
  auto run = [&](tile_tensor **from, size_t count, std::vector<tile_setting> settings) {
    return tile_op_run("add", stream, from, count, y, settings.data(), settings.size());
  };
  failed(run(inputs, 1, {}), TILE_INVALID_ARGUMENT, "add: the op reads 2 tensors, got 1");
  failed(run(nullptr, 2, {}), TILE_INVALID_ARGUMENT, "'inputs' is NULL");
  failed(run(withNull, 2, {}), TILE_INVALID_HANDLE, "'inputs[1]' is NULL");
  failed(run(inputs, 2, {{"nothing", "1"}}), TILE_INVALID_ARGUMENT,
         "add: nothing is called 'nothing'");
  failed(run(inputs, 2, {{"B", "1"}, {"B", "2"}}), TILE_INVALID_ARGUMENT, "given twice");
  failed(run(inputs, 2, {{"B", nullptr}}), TILE_INVALID_ARGUMENT, "'settings[].value' is NULL");
  failed(run(inputs, 2, {{nullptr, "1"}}), TILE_INVALID_ARGUMENT, "'settings[].name' is NULL");
  size_t number = 0;
  tile_dtype dtype;
  int32_t rank;
  int64_t shape[TILE_MAX_RANK];
  failed(tile_op_output_at("add", inputs, 2, nullptr, 0, 1, &dtype, &rank, shape),
         TILE_INVALID_ARGUMENT, "add: output 1 is none of the op's 1");
  failed(tile_op_output_count("add", inputs, 2, nullptr, 0, nullptr), TILE_INVALID_ARGUMENT,
         "'count' is NULL");
  ok(tile_op_output_count("fill", inputs, 1, nullptr, 0, &number));
  EXPECT_EQ(number, 0u);
  failed(tile_op_output("fill", inputs, 1, nullptr, 0, &dtype, &rank, shape), TILE_INVALID_ARGUMENT,
         "fill: output 0 is none of the op's 0");
  failed(tile_op_launch("top_k", stream, inputs, 1, &y, 1, nullptr, 0), TILE_INVALID_ARGUMENT,
         "top_k: the op has 2 outputs, got 1");
  failed(tile_op_launch("layernorm", stream, nullptr, 0, &y, 1, nullptr, 0), TILE_INVALID_ARGUMENT,
         "layernorm: the op reads 1 to 3 tensors, got 0");
  ok(tile_op_find("adamw", &op));
  EXPECT_EQ(op.inputs, 4);
  EXPECT_EQ(op.optional_inputs, 1);
  EXPECT_EQ(op.changed, 0b11101u);
  tile_tensor *half[] = {tensor(TILE_F16), x};
  failed(run(half, 2, {}), TILE_INVALID_ARGUMENT, "add:");
}

TEST_F(CApi, ErrorsAndLinesAreOfTheirThread) {
  tile_at("main.c", 7);
  failed(tile_device_open("gpu", &device), TILE_INVALID_ARGUMENT, "main.c:7: error:");
  std::thread([&] {
    EXPECT_EQ(tile_last_error_code(), TILE_OK);
    failed(tile_stream_synchronize(nullptr), TILE_INVALID_HANDLE, "'stream' is NULL");
    EXPECT_EQ(tile_last_error_line(), 0);
  }).join();
  EXPECT_EQ(tile_last_error_code(), TILE_INVALID_ARGUMENT);
  tile_at(nullptr, 0);
}

TEST_F(CApi, HandlesMayBeReleasedWhileOthersUseThem) {
  for (int round = 0; round < 20; ++round) {
    tile_event *event = nullptr;
    ok(tile_event_create(device, &event));
    auto use = [&] {
      for (int call = 0; call < 50; ++call)
        if (tile_status status = tile_event_record(event, stream); status != TILE_OK)
          ASSERT_EQ(status, TILE_INVALID_HANDLE) << tile_last_error_text();
    };
    std::thread first(use), second(use);
    EXPECT_EQ(tile_event_release(event), TILE_OK);
    first.join();
    second.join();
  }
}

} // namespace
} // namespace tile::test
