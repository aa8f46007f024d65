// Streams, events and copies as programs use them: what waits for what, and what happens without.
#include "tests/runtime/jit/Devices.h"

#include "runtime/vgpu/VgpuDevice.h"

using namespace tile;
using namespace tile::test;

namespace {

class Streams : public OnDevice {
protected:
  TensorOf<float> tensorOf(float first) {
    return device().tensor<float>({kCount}, ramp(kCount, first));
  }
  static constexpr int64_t kCount = 1000;
};
TILE_ON_EVERY_DEVICE(Streams);

const auto copyAll = kernel("copy_all", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i);
});

// --- Order ---------------------------------------------------------------------------------------

TEST_P(Streams, OneWaitsForAnother) {
  Stream other = device().stream();
  auto x = tensorOf(3), y = tensorOf(0), z = tensorOf(0);
  for (int round = 0; round < 5; ++round) {
    copyAll.consts(256)(stream, x, y);
    other.wait(stream);
    copyAll.consts(256)(other, y, z);
    stream.wait(other);
    copyAll.consts(256)(stream, z, x);
  }
  EXPECT_EQ(x.download(stream), ramp(kCount, 3));
  EXPECT_NO_THROW(stream.wait(stream));
}

TEST_P(Streams, EventsAreWaitedForByStreamsAndTheHost) {
  const Stream other = device().stream();
  auto x = tensorOf(3), y = tensorOf(0), z = tensorOf(0);
  Event written = device().event(), read = device().event();
  EXPECT_TRUE(written.query()) << "never recorded";
  EXPECT_NO_THROW(written.synchronize());
  EXPECT_NO_THROW(other.wait(written));
  copyAll.consts(256)(stream, x, y);
  written.record(stream);
  other.wait(written);
  z.upload(ramp(kCount, 7)); // waits for the device
  EXPECT_TRUE(written.query());
  Stream third = other;
  copyAll.consts(256)(third, y, z);
  read.record(other);
  read.synchronize();
  copyAll.consts(256)(stream, z, x); // after what the host has waited for
  EXPECT_EQ(x.download(), ramp(kCount, 3));
  EXPECT_GE(written.elapsedMs(read), 0);
  EXPECT_EQ(written.device().handle(), device().handle());
}

TEST_P(Streams, EventsThatWereNeverRecordedHaveNoTime) {
  Event start = device().event(), stop = device().event();
  start.record(stream);
  Error error = errorOf([&] { start.elapsedMs(stop); });
  EXPECT_EQ(error.code(), ErrorCode::InvalidHandle);
  EXPECT_NE(error.message().find("has not been recorded"), std::string::npos) << error.what();
}

TEST_P(Streams, EmptyHandlesAndOtherDevicesAreNamed) {
  Event none;
  EXPECT_EQ(errorOf([&] { none.query(); }).code(), ErrorCode::InvalidHandle);
  EXPECT_EQ(errorOf([&] { stream.wait(none); }).code(), ErrorCode::InvalidHandle);
  EXPECT_EQ(errorOf([&] { stream.wait(Stream()); }).code(), ErrorCode::InvalidHandle);
  Device elsewhere =
      Device::open(device().name() == "virtual:sm_86" ? "virtual:sm_89" : "virtual:sm_86");
  Stream foreign = elsewhere.stream();
  Error error = errorOf([&] { stream.wait(foreign); });
  EXPECT_EQ(error.code(), ErrorCode::WrongDevice);
  EXPECT_NE(error.message().find(elsewhere.name()), std::string::npos) << error.what();
  EXPECT_EQ(errorOf([&] { device().event().record(foreign); }).code(), ErrorCode::WrongDevice);
  EXPECT_EQ(errorOf([&] { stream.wait(elsewhere.event()); }).code(), ErrorCode::WrongDevice);
  EXPECT_EQ(errorOf([&] { tensorOf(0).download(foreign); }).code(), ErrorCode::WrongDevice);
}

// --- Copies --------------------------------------------------------------------------------------

TEST_P(Streams, CopiesAreWorkOfAStream) {
  auto x = device().tensor<float>({kCount}), y = device().tensor<float>({kCount});
  x.upload(stream, ramp(kCount, 5));
  copyAll.consts(256)(stream, x, y);
  EXPECT_EQ(y.download(stream), ramp(kCount, 5));
}

TEST_P(Streams, CopiesOfViewsGatherAndScatter) {
  auto x = device().tensor<float>({4, 6});
  x.upload(stream, ramp(24, 0));
  x.T().slice(0, 1, 2).upload(stream, ramp(8, 100));
  EXPECT_EQ(x.slice(1, 0, 3).download(stream),
            (std::vector<float>{0, 100, 104, 6, 101, 105, 12, 102, 106, 18, 103, 107}));
}

TEST_P(Streams, AsynchronousCopiesAreThereAfterTheStream) {
  auto x = device().tensor<float>({kCount}), y = device().tensor<float>({kCount});
  std::vector<float> values = ramp(kCount, 5), back(kCount);
  x.uploadAsync(stream, values);
  copyAll.consts(256)(stream, x, y);
  y.downloadAsync(stream, back);
  stream.synchronize();
  EXPECT_EQ(back, values);
}

TEST_P(Streams, AsynchronousCopiesOfViewsWithGapsAreRefused) {
  auto x = device().tensor<float>({4, 6});
  std::vector<float> values(24);
  Error error = errorOf([&] { x.T().uploadAsync(stream, values); });
  EXPECT_EQ(error.code(), ErrorCode::Unsupported);
  EXPECT_NE(error.message().find("contiguous"), std::string::npos) << error.what();
  EXPECT_EQ(errorOf([&] { x.T().downloadAsync(stream, values); }).code(), ErrorCode::Unsupported);
  EXPECT_EQ(errorOf([&] { x.uploadAsync(stream, ramp(3, 0)); }).code(), ErrorCode::InvalidArgument);
}

// --- Streams of others ---------------------------------------------------------------------------

TEST_P(Streams, HandlesOfOneStreamAreOne) {
  Stream again = device().externalStream(stream.native());
  EXPECT_EQ(again.native(), stream.native());
  auto x = tensorOf(3), y = tensorOf(0), z = tensorOf(0);
  copyAll.consts(256)(stream, x, y);
  copyAll.consts(256)(again, y, z); // no wait: it is the same stream
  EXPECT_EQ(z.download(stream), ramp(kCount, 3));
  again.close();
  EXPECT_EQ(errorOf([&] { again.synchronize(); }).code(), ErrorCode::InvalidHandle);
  EXPECT_NO_THROW(stream.synchronize()) << "its maker's to end";
  EXPECT_NO_THROW(device().externalStream(stream.native()).synchronize());
}

// --- What the virtual GPU finds ------------------------------------------------------------------

/// A virtual GPU of its own, since the error of an earlier test must not be this one's.
Device virtualGpu(const std::string &schedule) {
  device::VirtualOptions options;
  options.schedule = schedule;
  return Device::wrap(device::openVirtual(options), "virtual:" + schedule);
}

class StreamRaces : public testing::TestWithParam<const char *> {
protected:
  Device gpu = virtualGpu(GetParam());
  TensorOf<float> x = gpu.tensor<float>({100}, ramp(100, 1)),
                  y = gpu.tensor<float>({100}, ramp(100, 0)),
                  z = gpu.tensor<float>({100}, ramp(100, 0));
};
INSTANTIATE_TEST_SUITE_P(Schedules, StreamRaces, testing::Values("eager", "lazy", "random"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(StreamRaces, AMissingWaitIsAnErrorAtTheCallThatMayComeTooEarly) {
  int line = __LINE__ + 1;
  Stream first = gpu.stream();
  Stream second = gpu.stream();
  copyAll.consts(64)(first, x, y);
  Error error = errorOf([&] {
    copyAll.consts(64)(second, y, z);
    gpu.synchronize();
  });
  auto at = [&](int after) { return std::string(__FILE__) + ":" + std::to_string(line + after); };
  EXPECT_EQ(error.code(), ErrorCode::DeviceFinding);
  EXPECT_EQ(error.file() + ":" + std::to_string(error.line()), at(4));
  for (std::string part :
       {"[race] kernel 'copy_all' on stream 2 (" + at(4) +
            ") reads what kernel 'copy_all' on stream 1 (" + at(2) + ") writes",
        std::string("400 bytes from offset 0 of"),
        "let stream 2 (b, made at " + at(1) + ") wait for stream 1 (a, made at " + at(0) +
            ") before " + at(4) + ": b.wait(a)"})
    EXPECT_NE(error.message().find(part), std::string::npos) << part << "\n" << error.what();
}

TEST_P(StreamRaces, DownloadsOnAnotherStreamAreNamed) {
  Stream first = gpu.stream(), second = gpu.stream();
  copyAll.consts(64)(first, x, y);
  Error error = errorOf([&] {
    y.download(second);
    gpu.synchronize();
  });
  EXPECT_NE(error.message().find("the download on stream 2"), std::string::npos) << error.what();
  EXPECT_NO_THROW(y.download()) << "waits for the device";
}

// A block of a stream's memory that another stream still reads is taken again.
TEST_P(StreamRaces, MemoryThatIsTakenAgainTooEarly) {
  Stream first = gpu.stream(), second = gpu.stream();
  auto use = [&](bool waits) {
    {
      auto brief = first.tensor<float>({100});
      copyAll.consts(64)(first, x, brief);
      second.wait(first);
      copyAll.consts(64)(second, brief, z);
    }
    if (waits)
      first.wait(second);
    auto next = first.tensor<float>({100});
    copyAll.consts(64)(first, x, next);
    gpu.synchronize();
  };
  EXPECT_NO_THROW(use(true));
  Error error = errorOf([&] { use(false); });
  EXPECT_NE(error.message().find("writes what kernel 'copy_all' on stream 2"), std::string::npos)
      << error.what();
  gpu.synchronize();
}

// The stream ends, and with it its memory, which another stream still uses: destructors do not throw.
TEST_P(StreamRaces, MemoryOfAStreamThatEndsTooEarly) {
  Stream second = gpu.stream();
  {
    Stream first = gpu.stream();
    auto brief = first.tensor<float>({100});
    copyAll.consts(64)(first, x, brief);
    second.wait(first);
    copyAll.consts(64)(second, brief, z);
  }
  Error error = errorOf([&] { gpu.synchronize(); });
  EXPECT_EQ(error.code(), ErrorCode::DeviceFinding) << error.what();
  EXPECT_NO_THROW(gpu.synchronize());
}

TEST_P(StreamRaces, StreamsOfOthersMustBeThere) {
  EXPECT_EQ(errorOf([&] { gpu.externalStream(reinterpret_cast<void *>(uintptr_t{77})); }).code(),
            ErrorCode::InvalidHandle);
}

} // namespace
