// Graphs: captured work does nothing until it is replayed, and then what it would have done, on the memory it was captured with.
#include "tests/runtime/jit/Devices.h"

#include <tile/Bench.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Matmul.h>

#include <thread>

using namespace tile;
using namespace tile::test;

namespace {

constexpr int64_t kCount = 1000;

class Graphs : public OnDevice {
protected:
  TensorOf<float> tensorOf(float first) {
    return device().tensor<float>({kCount}, ramp(kCount, first));
  }
};
TILE_ON_EVERY_DEVICE(Graphs);

const auto addTo = kernel("add_to", [](In<f32, 1> x, InOut<f32, 1> y, Scalar<f32> by, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = y.tile({B})(i) + x.tile({B})(i) * by;
});
const auto scaled = kernel("scaled", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> by, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * by;
});

std::vector<float> times(std::vector<float> values, float factor) {
  for (float &value : values)
    value *= factor;
  return values;
}

/// The call is refused, with this in its message, and the capture goes on.
template <class Call> void expectRefused(const std::string &part, Call call) {
  Error error = errorOf(call);
  EXPECT_EQ(error.code(), ErrorCode::NotPreparedForCapture) << error.what();
  EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
}

// --- Capture and replay --------------------------------------------------------------------------

TEST_P(Graphs, NothingRunsBeforeTheReplay) {
  auto x = tensorOf(1), y = tensorOf(0);
  Graph step = Graph::capture(stream, [&] { addTo.consts(256)(stream, x, y, 0.5f); });
  EXPECT_EQ(y.download(), ramp(kCount, 0));
  for (int round = 0; round < 3; ++round)
    step.replay(stream);
  std::vector<float> expected = ramp(kCount, 0);
  for (size_t i = 0; i < expected.size(); ++i)
    for (int round = 0; round < 3; ++round)
      expected[i] += (static_cast<float>(i) + 1) * 0.5f;
  EXPECT_EQ(y.download(), expected);
  EXPECT_EQ(step.device().handle(), device().handle());
}

TEST_P(Graphs, TheWorkIsAmongThatOfItsStream) {
  auto x = tensorOf(1), y = tensorOf(0), z = tensorOf(0);
  Graph step = Graph::capture(stream, [&] { scaled.consts(256)(stream, y, z, 3.0f); });
  scaled.consts(256)(stream, x, y, 2.0f);
  step.replay(stream);
  scaled.consts(256)(stream, z, x, 1.0f);
  EXPECT_EQ(x.download(stream), times(ramp(kCount, 1), 6));
}

TEST_P(Graphs, AreReplayedOnAnyStream) {
  auto x = tensorOf(1), y = tensorOf(0);
  Graph step = Graph::capture(stream, [&] { addTo.consts(256)(stream, x, y, 1.0f); });
  Stream other = device().stream();
  step.replay(stream);
  step.replay(other); // after the one before it, without anybody's wait
  step.replay(stream);
  other.synchronize();
  std::vector<float> expected = ramp(kCount, 0);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] += 3 * (static_cast<float>(i) + 1);
  EXPECT_EQ(y.download(), expected);
}

TEST_P(Graphs, ThreadsReplayAGraphAtOnce) {
  constexpr int kThreads = 4, kReplays = 10;
  auto x = tensorOf(1), y = tensorOf(0);
  Graph step = Graph::capture(stream, [&] { addTo.consts(256)(stream, x, y, 1.0f); });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&] {
      Stream own = device().stream();
      for (int i = 0; i < kReplays; ++i)
        step.replay(own);
      own.synchronize();
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<float> expected = ramp(kCount, 0);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] += kThreads * kReplays * (static_cast<float>(i) + 1);
  EXPECT_EQ(y.download(), expected);
}

TEST_P(Graphs, OpsAreCaptured) {
  // Large and aligned enough for the copy engine's maps, where there is one.
  std::vector<half> ones(128 * 128);
  for (size_t i = 0; i < ones.size(); ++i)
    ones[i] = static_cast<float>(i % 7) - 3;
  auto a = device().tensor<half>({128, 128}, ones), b = device().tensor<half>({128, 128}, ones);
  auto c = device().tensor<float>({128, 128});
  Graph step = Graph::capture(stream, [&] {
    Tensor sum = ops::add(stream, a, a);
    ops::matmul(stream, sum, b, c);
  });
  step.replay(stream);
  std::vector<float> now = c.download();
  ops::matmul(stream, ops::add(stream, a, a), b, c);
  EXPECT_EQ(now, c.download());
  EXPECT_NE(now, std::vector<float>(now.size(), 0));
}

TEST_P(Graphs, AsynchronousCopiesUseTheHostsMemoryOfEachReplay) {
  auto x = tensorOf(0), y = tensorOf(0);
  std::vector<float> in = ramp(kCount, 5), out(kCount);
  Graph step = Graph::capture(stream, [&] {
    x.uploadAsync(stream, in);
    scaled.consts(256)(stream, x, y, 2.0f);
    y.downloadAsync(stream, out);
  });
  step.replay(stream);
  stream.synchronize();
  EXPECT_EQ(out, times(in, 2));
  std::ranges::copy(ramp(kCount, 100), in.begin()); // in place: the graph knows the address
  step.replay(stream);
  stream.synchronize();
  EXPECT_EQ(out, times(in, 2));
}

TEST_P(Graphs, WithoutWorkTheyDoNothing) {
  Graph none = Graph::capture(stream, [] {});
  EXPECT_NO_THROW(none.replay(stream));
  EXPECT_NO_THROW(stream.synchronize());
}

TEST_P(Graphs, KernelsThatNeverRanAreCompiledInTheCapture) {
  const auto fresh = kernel("fresh", [](Out<f32, 1> y, Const B) {
    Value i = grid1d(y, {B});
    y.tile({B})(i) = zeros(f32, {B}) + 7.0f;
  });
  auto y = tensorOf(0);
  uint64_t before = compiles();
  Graph step = Graph::capture(stream, [&] { fresh.consts(256)(stream, y); });
  EXPECT_LE(compiles(), before + 1); // or it was kept by an earlier run
  step.replay(stream);
  EXPECT_EQ(y.download(), std::vector<float>(kCount, 7));
}

// --- Forks ---------------------------------------------------------------------------------------

TEST_P(Graphs, WorkForksToOtherStreamsAndJoins) {
  Stream other = device().stream();
  Event forked = device().event(), done = device().event();
  auto x = tensorOf(1), a = tensorOf(0), b = tensorOf(0);
  Graph both = Graph::capture(stream, [&] {
    scaled.consts(256)(stream, x, a, 2.0f);
    forked.record(stream);
    other.wait(forked);
    scaled.consts(256)(other, a, b, 3.0f);
    done.record(other);
    scaled.consts(256)(stream, x, x, 1.0f); // meanwhile
    stream.wait(done);
    addTo.consts(256)(stream, b, x, 1.0f);
    other.wait(stream); // no work follows that would have to be joined
  });
  both.replay(stream);
  other.wait(stream);
  scaled.consts(256)(other, b, b, 1.0f); // `other` is an ordinary stream again
  other.synchronize();
  both.replay(stream);
  std::vector<float> expected = times(ramp(kCount, 1), 49); // x := x + 6 x, twice
  EXPECT_EQ(x.download(), expected);
}

TEST_P(Graphs, ForksThatAreNotJoinedAreNamed) {
  Stream other = device().stream();
  auto x = tensorOf(1), y = tensorOf(0);
  Error error = errorOf([&] {
    Graph::capture(stream, [&] {
      other.wait(stream);
      scaled.consts(256)(other, x, y, 2.0f);
    });
  });
  EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
  std::string text = error.what();
  EXPECT_NE(text.find("the launch of kernel 'scaled' at"), std::string::npos) << text;
  EXPECT_NE(text.find("stream.wait(other)"), std::string::npos) << text;
  scaled.consts(256)(other, x, y, 2.0f); // both streams are as they were
  stream.wait(other);
  scaled.consts(256)(stream, x, x, 2.0f);
  EXPECT_EQ(x.download(), times(ramp(kCount, 1), 2));
  EXPECT_EQ(y.download(), times(ramp(kCount, 1), 2));
}

TEST_P(Graphs, NothingWaitsAcrossTheBorderOfACapture) {
  Stream other = device().stream();
  Event before = device().event(), within = device().event();
  before.record(other);
  auto x = tensorOf(1), y = tensorOf(0);
  Graph step = Graph::capture(stream, [&] {
    expectRefused("let it wait before the capture", [&] { stream.wait(before); });
    expectRefused("let it wait before the capture", [&] { stream.wait(other); });
    within.record(stream);
    scaled.consts(256)(stream, x, y, 2.0f);
  });
  expectRefused("another capture", [&] { other.wait(within); });
  expectRefused("record it", [&] { within.synchronize(); });
  within.record(stream); // and is an event like others
  EXPECT_NO_THROW(within.synchronize());
  step.replay(stream);
  EXPECT_EQ(y.download(), times(ramp(kCount, 1), 2));
}

// --- Calls that a capture cannot have ------------------------------------------------------------

TEST_P(Graphs, NothingIsWaitedForInACapture) {
  auto x = tensorOf(1), y = tensorOf(0);
  Event event = device().event();
  std::vector<float> values(kCount);
  Graph step = Graph::capture(stream, [&] {
    scaled.consts(256)(stream, x, y, 2.0f);
    event.record(stream);
    expectRefused("Stream::synchronize in a capture", [&] { stream.synchronize(); });
    expectRefused("GraphTest.cpp", [&] { stream.synchronize(); }); // where it was begun
    expectRefused("Stream::close", [&] { stream.close(); });
    expectRefused("Stream::trim", [&] { stream.trim(); });
    expectRefused("Stream::native", [&] { stream.native(); });
    expectRefused("download", [&] { y.download(stream); });
    expectRefused("upload", [&] { x.upload(stream, values); });
    expectRefused("bench in a capture", [&] { bench(stream, [] {}); });
    expectRefused("Device::synchronize", [&] { device().synchronize(); });
    expectRefused("download", [&] { y.download(); });
    expectRefused("upload", [&] { x.fill(0); });
    expectRefused("Event::synchronize", [&] { event.synchronize(); });
    expectRefused("Event::query", [&] { event.query(); });
    expectRefused("Event::elapsedMs", [&] { event.elapsedMs(event); });
    addTo.consts(256)(stream, x, y, 1.0f);
  });
  step.replay(stream);
  EXPECT_EQ(y.download(), times(ramp(kCount, 1), 3));
}

TEST_P(Graphs, CapturesAndReplaysDoNotNest) {
  auto x = tensorOf(1), y = tensorOf(0);
  Stream other = device().stream();
  Graph inner = Graph::capture(stream, [&] { scaled.consts(256)(stream, x, y, 2.0f); });
  Graph outer = Graph::capture(stream, [&] {
    expectRefused("call the function itself", [&] { Graph::capture(stream, [] {}); });
    expectRefused("call the function itself", [&] { Graph::capture(other, [] {}); });
    expectRefused("call the function itself", [&] { inner.replay(stream); });
    expectRefused("call the function itself", [&] { inner.update(other, [] {}); });
    addTo.consts(256)(stream, x, y, 1.0f);
  });
  inner.replay(stream);
  outer.replay(stream);
  EXPECT_EQ(y.download(), times(ramp(kCount, 1), 3));
}

TEST_P(Graphs, WhatIsThrownEndsTheCapture) {
  auto x = tensorOf(1), y = tensorOf(0);
  struct Own {};
  EXPECT_THROW(Graph::capture(stream,
                              [&] {
                                scaled.consts(256)(stream, x, y, 2.0f);
                                throw Own();
                              }),
               Own);
  EXPECT_EQ(errorOf([&] {
              Graph::capture(stream, [&] { scaled.consts(256)(Stream(), x, y, 2.0f); });
            }).code(),
            ErrorCode::InvalidHandle);
  EXPECT_EQ(y.download(), ramp(kCount, 0));
  scaled.consts(256)(stream, x, y, 2.0f);
  stream.synchronize();
  EXPECT_EQ(y.download(), times(ramp(kCount, 1), 2));
}

TEST_P(Graphs, OtherThreadsLeaveACapturedStreamAlone) {
  auto x = tensorOf(1), y = tensorOf(0), z = tensorOf(0);
  Stream other = device().stream();
  Graph step = Graph::capture(stream, [&] {
    scaled.consts(256)(stream, x, y, 2.0f);
    std::thread([&] {
      expectRefused("another thread", [&] { scaled.consts(256)(stream, x, y, 4.0f); });
      expectRefused("another thread", [&] { stream.synchronize(); });
      expectRefused("another thread", [&] { Graph::capture(stream, [] {}); });
      scaled.consts(256)(other, x, z, 4.0f);
      EXPECT_EQ(z.download(other), times(ramp(kCount, 1), 4));
      Graph own = Graph::capture(other, [&] { scaled.consts(256)(other, x, z, 5.0f); });
      own.replay(other);
      other.synchronize();
    }).join();
  });
  step.replay(stream);
  EXPECT_EQ(y.download(), times(ramp(kCount, 1), 2));
  EXPECT_EQ(z.download(), times(ramp(kCount, 1), 5));
}

TEST_P(Graphs, EmptyHandlesClosedStreamsAndOtherDevicesAreNamed) {
  Graph none;
  EXPECT_EQ(errorOf([&] { none.replay(stream); }).code(), ErrorCode::InvalidHandle);
  EXPECT_EQ(errorOf([&] { none.update(stream, [] {}); }).code(), ErrorCode::InvalidHandle);
  EXPECT_EQ(errorOf([&] { none.device(); }).code(), ErrorCode::InvalidHandle);
  Stream brief = device().stream();
  brief.close();
  EXPECT_EQ(errorOf([&] { Graph::capture(brief, [] {}); }).code(), ErrorCode::InvalidHandle);
  Graph empty = Graph::capture(stream, [] {});
  EXPECT_EQ(errorOf([&] { empty.replay(brief); }).code(), ErrorCode::InvalidHandle);
  Device elsewhere =
      Device::open(device().name() == "virtual:sm_86" ? "virtual:sm_89" : "virtual:sm_86");
  Stream foreign = elsewhere.stream();
  for (const Error &error :
       {errorOf([&] { empty.replay(foreign); }), errorOf([&] { empty.update(foreign, [] {}); })}) {
    EXPECT_EQ(error.code(), ErrorCode::WrongDevice);
    EXPECT_NE(std::string(error.what()).find("GraphTest.cpp"), std::string::npos) << error.what();
  }
}

// --- Update --------------------------------------------------------------------------------------

TEST_P(Graphs, UpdatesExchangeAddressesNumbersAndKernels) {
  auto x = tensorOf(1), y = tensorOf(0), z = device().tensor<float>({kCount - 500});
  Graph step = Graph::capture(stream, [&] { scaled.consts(256)(stream, x, y, 2.0f); });
  step.replay(stream);
  step.update(stream, [&] { scaled.consts(128)(stream, y.slice(0, 0, kCount - 500), z, 5.0f); });
  step.replay(stream);
  EXPECT_EQ(y.download(), times(ramp(kCount, 1), 2));
  EXPECT_EQ(z.download(), times(ramp(kCount - 500, 1), 10));
}

TEST_P(Graphs, AnotherTopologyIsRefusedAndNamed) {
  auto x = tensorOf(1), y = tensorOf(0);
  Stream other = device().stream();
  Graph step = Graph::capture(stream, [&] {
    scaled.consts(256)(stream, x, y, 2.0f);
    addTo.consts(256)(stream, x, y, 1.0f);
  });
  auto refused = [&](const std::string &part, auto work) {
    Error error = errorOf([&] { step.update(stream, work); });
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_NE(error.message().find(part), std::string::npos) << error.what();
    EXPECT_NE(error.message().find("capture another graph"), std::string::npos) << error.what();
  };
  refused("piece 2 of its work was the launch of add_to",
          [&] { scaled.consts(256)(stream, x, y, 9.0f); });
  std::vector<float> values(kCount);
  refused("is now a copy to the device", [&] {
    x.uploadAsync(stream, values);
    addTo.consts(256)(stream, x, y, 1.0f);
  });
  refused("piece 3 of its work was nothing and is now the launch of scaled", [&] {
    for (int i = 0; i < 3; ++i)
      scaled.consts(256)(stream, x, y, 9.0f);
  });
  refused("is now a point that is waited for", [&] {
    other.wait(stream);
    scaled.consts(256)(other, x, y, 9.0f);
    stream.wait(other);
  });
  step.replay(stream);
  EXPECT_EQ(y.download(), times(ramp(kCount, 1), 3)) << "the graph is as it was";
}

// --- Memory --------------------------------------------------------------------------------------

TEST_P(Graphs, TensorsOfACaptureAreItsOwn) {
  auto x = tensorOf(1), y = tensorOf(0);
  stream.tensor<float>({kCount}); // a block is kept
  Graph step;
  TensorOf<float> result;
  step = Graph::capture(stream, [&] {
    auto a = stream.tensor<float>({kCount});
    scaled.consts(256)(stream, x, a, 2.0f);
    void *first = a.data();
    result = stream.tensor<float>({kCount});
    scaled.consts(256)(stream, a, result, 2.0f);
    a = {};
    auto b = stream.tensor<float>({kCount});
    EXPECT_EQ(b.data(), first) << "memory is taken again within the capture";
    scaled.consts(256)(stream, result, b, 2.0f);
    scaled.consts(256)(stream, b, y, 1.0f);
  });
  // What others make meanwhile has other memory.
  auto c = stream.tensor<float>({kCount}), d = stream.tensor<float>({kCount});
  c.upload(ramp(kCount, 70)), d.upload(ramp(kCount, 80));
  step.replay(stream);
  step.replay(stream);
  EXPECT_EQ(y.download(), times(ramp(kCount, 1), 8));
  EXPECT_EQ(result.download(), times(ramp(kCount, 1), 4));
  EXPECT_EQ(c.download(), ramp(kCount, 70));
  EXPECT_EQ(d.download(), ramp(kCount, 80));
  step = {};
  EXPECT_EQ(result.download(), times(ramp(kCount, 1), 4)) << "a result outlives its graph";
}

TEST_P(Graphs, KeepWhatTheyReferTo) {
  auto y = tensorOf(0);
  Graph step;
  {
    auto x = tensorOf(1), weights = stream.tensor<float>({kCount});
    weights.upload(ramp(kCount, 3));
    step = Graph::capture(stream, [&] {
      scaled.consts(256)(stream, x, y, 2.0f);
      addTo.consts(256)(stream, weights, y, 1.0f);
    });
  }
  auto other = stream.tensor<float>({kCount}); // would take the weights' memory
  other.upload(ramp(kCount, 90));
  step.replay(stream);
  std::vector<float> expected(kCount);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = 2 * (static_cast<float>(i) + 1) + static_cast<float>(i) + 3;
  EXPECT_EQ(y.download(), expected);
  uint64_t allocations = stream.usage().allocations;
  step = {};
  auto again = stream.tensor<float>({kCount});
  EXPECT_EQ(stream.usage().allocations, allocations) << "the stream has its memory back";
}

TEST_P(Graphs, KeepTheResultsOfOthers) {
  auto x = tensorOf(1), y = tensorOf(0);
  Graph second;
  {
    TensorOf<float> middle;
    Graph first = Graph::capture(stream, [&] {
      middle = stream.tensor<float>({kCount});
      scaled.consts(256)(stream, x, middle, 2.0f);
    });
    second = Graph::capture(stream, [&] { scaled.consts(256)(stream, middle, y, 3.0f); });
    first.replay(stream);
  }
  second.replay(stream);
  EXPECT_EQ(y.download(), times(ramp(kCount, 1), 6));
}

TEST_P(Graphs, UpdatesLetOldMemoryGo) {
  auto y = tensorOf(0);
  auto x = stream.tensor<float>({kCount});
  x.upload(ramp(kCount, 1));
  auto work = [&] {
    auto middle = stream.tensor<float>({kCount});
    scaled.consts(256)(stream, x, middle, 2.0f);
    scaled.consts(256)(stream, middle, y, 2.0f);
  };
  Graph step = Graph::capture(stream, work);
  uint64_t allocations = 0;
  for (int round = 0; round < 5; ++round) {
    step.replay(stream);
    x = stream.tensor<float>({kCount}); // while the graph keeps the one before
    x.upload(stream, ramp(kCount, static_cast<float>(round)));
    step.update(stream, work);
    step.replay(stream);
    EXPECT_EQ(y.download(), times(ramp(kCount, static_cast<float>(round)), 4));
    if (round == 1)
      allocations = stream.usage().allocations;
  }
  EXPECT_EQ(stream.usage().allocations, allocations);
}

TEST_P(Graphs, EndWithTheirLastHandleAfterTheirReplays) {
  auto x = tensorOf(1), y = tensorOf(0);
  for (int round = 0; round < 3; ++round) {
    Graph step = Graph::capture(stream, [&] {
      auto middle = stream.tensor<float>({kCount});
      scaled.consts(256)(stream, x, middle, 2.0f);
      addTo.consts(256)(stream, middle, y, 1.0f);
    });
    Graph copy = step;
    step = {};
    copy.replay(stream);
  }
  std::vector<float> expected = ramp(kCount, 0);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] += 6 * (static_cast<float>(i) + 1);
  EXPECT_EQ(y.download(), expected);
}

// --- The virtual GPU's checks --------------------------------------------------------------------

Device checking(const char *schedule) {
  return Device::wrap(device::openVirtual({.checks = "all", .schedule = schedule}), "virtual");
}

TEST(GraphsOnTheVirtualGpu, RacesWithOtherStreamsNameTheCapturedLine) {
  for (const char *schedule : {"eager", "lazy", "random"}) {
    Device device = checking(schedule);
    Stream stream = device.stream(), other = device.stream();
    auto x = device.tensor<float>({kCount}, ramp(kCount, 1)),
         y = device.tensor<float>({kCount}, ramp(kCount, 0));
    int line = __LINE__ + 1;
    Graph step = Graph::capture(stream, [&] { scaled.consts(256)(stream, x, y, 2.0f); });
    step.replay(stream);
    Error error = errorOf([&] {
      scaled.consts(256)(other, y, x, 2.0f);
      device.synchronize();
    });
    EXPECT_EQ(error.code(), ErrorCode::DeviceFinding);
    std::string text = error.what();
    EXPECT_NE(text.find("race"), std::string::npos) << text;
    EXPECT_NE(text.find("GraphTest.cpp:" + std::to_string(line)), std::string::npos) << text;
  }
}

TEST(GraphsOnTheVirtualGpu, RacesWithinAGraphAreFound) {
  Device device = checking("lazy");
  Stream stream = device.stream(), other = device.stream();
  auto x = device.tensor<float>({kCount}, ramp(kCount, 1)),
       y = device.tensor<float>({kCount}, ramp(kCount, 0));
  for (bool isOrdered : {true, false}) {
    Graph step = Graph::capture(stream, [&] {
      other.wait(stream);
      scaled.consts(256)(other, x, y, 2.0f);
      if (isOrdered)
        stream.wait(other);
      addTo.consts(256)(stream, x, y, 2.0f);
      stream.wait(other);
    });
    auto replays = [&] {
      step.replay(stream);
      step.replay(stream);
      stream.synchronize();
    };
    if (isOrdered)
      EXPECT_NO_THROW(replays());
    else
      EXPECT_EQ(errorOf(replays).code(), ErrorCode::DeviceFinding);
  }
}

TEST(GraphsOnTheVirtualGpu, UnsetElementsAreFoundInReplays) {
  Device device = checking("eager");
  Stream stream = device.stream();
  auto y = device.tensor<float>({kCount});
  Graph step = Graph::capture(stream, [&] {
    auto first = stream.tensor<float>({kCount});
    scaled.consts(256)(stream, y, first, 2.0f);
    first = {};
    auto second = stream.tensor<float>({kCount}); // where `first` was
    scaled.consts(256)(stream, second, y, 2.0f);
  });
  y.upload(ramp(kCount, 1));
  Error error = errorOf([&] {
    step.replay(stream);
    stream.synchronize();
  });
  EXPECT_EQ(error.code(), ErrorCode::DeviceFinding) << error.what();
}

TEST(GraphsOnTheVirtualGpu, ReplaysOfTwoStreamsComeAfterEachOther) {
  Device device = checking("random");
  Stream stream = device.stream(), other = device.stream();
  auto x = device.tensor<float>({kCount}, ramp(kCount, 1)),
       y = device.tensor<float>({kCount}, ramp(kCount, 0));
  Graph step = Graph::capture(stream, [&] { addTo.consts(256)(stream, x, y, 1.0f); });
  for (int round = 0; round < 4; ++round)
    step.replay(round % 2 ? stream : other);
  EXPECT_NO_THROW(device.synchronize());
}

} // namespace
