// Work of several streams: with an order between them it is clean, and without one a race is reported that names both.
#include "tests/runtime/vgpu/Kernels.h"

namespace tile::vgpu {
namespace {

constexpr uint32_t kCount = 256;

// set: out[i] = value. move: out[i] = in[i]. count: adds 1 to out[0]. Threads from `first` on.
const char *const kStreamKernels = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry set(.param .u64 out, .param .u32 value, .param .u32 first)
{
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  ld.param.u32 %r2, [first];
  mov.u32 %r3, %tid.x;
  add.u32 %r3, %r3, %r2;
  mad.wide.u32 %rd2, %r3, 4, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}
.visible .entry move(.param .u64 out, .param .u64 in)
{
  .reg .u32 %r<4>;
  .reg .u64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd3, %r1, 4, %rd2;
  mad.wide.u32 %rd4, %r1, 4, %rd1;
  ld.global.u32 %r2, [%rd3];
  st.global.u32 [%rd4], %r2;
  ret;
}
.visible .entry count(.param .u64 out)
{
  .reg .u32 %r<2>;
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [out];
  atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;
  ret;
}
)";

std::string gpuAddress(device::DevicePtr pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(pointer));
  return text;
}

/// Two streams, `a` made in line 1 and `b` made in line 2 of main.cpp, and two buffers of kCount words. Work is given in lines 10,
/// 11, ...
class TwoStreams : public testing::TestWithParam<Schedule> {
protected:
  void SetUp() override {
    gpu().setFindingSink([this](const std::vector<Finding> &found) {
      findings.insert(findings.end(), found.begin(), found.end());
    });
    a = gpu().createStream({"main.cpp", 1});
    b = gpu().createStream({"main.cpp", 2});
    x = upload(7), y = upload(8);
    gpu().nameMemory(x, "x");
    gpu().nameMemory(y, "y");
    gpu().setSchedule(GetParam(), 3);
  }

  device::DevicePtr upload(uint32_t value) {
    return gpu_.upload(std::vector<uint32_t>(kCount, value));
  }
  template <class... Args>
  void launch(device::Stream stream, const std::string &kernel, uint32_t threads, Args... args) {
    std::vector<device::Arg> list = {{&args, sizeof(args)}...};
    device::LaunchConfig config{{1}, {threads}, {}, 0, false, line()};
    gpu().launch(gpu().getFunction(gpu_.module, kernel), config, list, stream);
  }
  void set(device::Stream stream, device::DevicePtr out, uint32_t value, uint32_t first = 0,
           uint32_t threads = kCount) {
    launch(stream, "set", threads, out, value, first);
  }
  void move(device::Stream stream, device::DevicePtr out, device::DevicePtr in) {
    launch(stream, "move", kCount, out, in);
  }
  Loc line() { return {"main.cpp", nextLine_++}; }
  /// `later` waits for `earlier` by an event.
  void order(device::Stream earlier, device::Stream later) {
    device::Event event = gpu().createEvent();
    gpu().record(event, earlier);
    gpu().wait(later, event);
    gpu().destroyEvent(event);
  }

  VirtualDevice &gpu() { return *gpu_.device; }
  /// What the streams have done wrong, after all of it.
  std::string found() {
    gpu().synchronize();
    std::string text;
    for (const Finding &finding : findings) {
      EXPECT_EQ(finding.kind, FindingKind::Race);
      text += finding.text() + "\n";
    }
    findings.clear();
    return text;
  }
  void expectFound(const std::vector<std::string> &parts) {
    std::string text = found();
    for (const std::string &part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is missing in:\n" << text;
  }

  Gpu gpu_{kStreamKernels};
  device::Stream a, b;
  device::DevicePtr x = 0, y = 0;
  std::vector<Finding> findings;

private:
  int nextLine_ = 10;
};

INSTANTIATE_TEST_SUITE_P(Schedules, TwoStreams,
                         testing::Values(Schedule::Eager, Schedule::Lazy, Schedule::Random),
                         [](const auto &info) { return nameOf(info.param); });

class LazyStreams : public TwoStreams {};
INSTANTIATE_TEST_SUITE_P(Schedules, LazyStreams, testing::Values(Schedule::Eager, Schedule::Lazy),
                         [](const auto &info) { return nameOf(info.param); });
class RandomStreams : public TwoStreams {};
INSTANTIATE_TEST_SUITE_P(Schedules, RandomStreams, testing::Values(Schedule::Random),
                         [](const auto &info) { return nameOf(info.param); });

// --- Without an order ----------------------------------------------------------------------------

TEST_P(TwoStreams, ReadingWhatAnotherStreamWrites) {
  set(a, x, 1);
  move(b, y, x);
  gpu().synchronize();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].text(),
            "[race] kernel 'move' on stream 2 (main.cpp:11) reads what kernel 'set' on stream 1 "
            "(main.cpp:10) writes, and nothing orders them: 1024 bytes from offset 0 of x (1024 "
            "bytes at " +
                gpuAddress(x) +
                ")\n  let stream 2 (b, made at main.cpp:2) wait for stream 1 (a, made at "
                "main.cpp:1) before main.cpp:11: b.wait(a), an Event, or a.synchronize()");
  EXPECT_EQ(findings[0].sourceFile, "main.cpp");
  EXPECT_EQ(findings[0].sourceLine, 11);
  EXPECT_EQ(findings[0].kernel, "move");
  EXPECT_EQ(findings[0].address, x);
  EXPECT_EQ(findings[0].bytes, 4 * kCount);
  EXPECT_EQ(findings[0].allocation.name, "x");
}

TEST_P(TwoStreams, WritingWhatAnotherStreamReads) {
  move(a, y, x);
  set(b, x, 1);
  expectFound({"kernel 'set' on stream 2 (main.cpp:11) writes what kernel 'move' on stream 1 "
               "(main.cpp:10) reads"});
}

TEST_P(TwoStreams, WritingWhatAnotherStreamWrites) {
  set(a, x, 1);
  set(b, x, 1);
  expectFound({"kernel 'set' on stream 2 (main.cpp:11) writes what kernel 'set' on stream 1 "
               "(main.cpp:10) writes"});
}

TEST_P(TwoStreams, TheBytesThatBothTouchAreNamed) {
  set(a, x, 1, 0, 101);
  set(b, x, 2, 100, 64);
  expectFound({"4 bytes from offset 400 of x"});
}

TEST_P(TwoStreams, AnOrderOfOneDirectionIsNone) {
  set(a, x, 1);
  order(b, a); // the wrong way round
  move(b, y, x);
  expectFound({"kernel 'move' on stream 2"});
}

TEST_P(TwoStreams, WorkAfterTheEventIsNotPartOfIt) {
  order(a, b);
  set(a, x, 1);
  move(b, y, x);
  expectFound({"kernel 'move' on stream 2"});
}

TEST_P(TwoStreams, TheDefaultStreamIsOneMore) {
  set(a, x, 1);
  move({}, y, x);
  expectFound({"kernel 'move' on the default stream (main.cpp:11) reads what kernel 'set' on "
               "stream 1"});
}

TEST_P(TwoStreams, CopiesAndFillsAreWorkToo) {
  std::vector<uint32_t> words(kCount, 1);
  set(a, x, 1);
  gpu().copyToHost(words.data(), x, 4 * kCount, b, line());
  expectFound({"the download on stream 2 (main.cpp:11) reads what kernel 'set'"});
  move(a, y, x);
  gpu().copyToDevice(x, words.data(), 4 * kCount, b, line());
  expectFound({"the upload on stream 2 (main.cpp:13) writes what kernel 'move'"});
  gpu().fill(x, 0, 8, a, line());
  gpu().copyOnDevice(y, x, 16, b, line());
  expectFound({"the copy on stream 2 (main.cpp:15) reads what the fill on stream 1 (main.cpp:14) "
               "writes, and nothing orders them: 8 bytes"});
  gpu().copyToDeviceAsync(x, words.data(), 16, a, line());
  gpu().copyToHostAsync(words.data(), x, 16, b, line());
  expectFound({"the download on stream 2 (main.cpp:17) reads what the upload on stream 1"});
}

TEST_P(TwoStreams, EachPairOfCallsIsReportedOnce) {
  set(a, x, 1);
  set(a, x, 2);
  move(b, y, x);
  gpu().synchronize();
  EXPECT_EQ(findings.size(), 2u);
}

TEST_P(TwoStreams, LongHistoriesKeepWhatCanBeMet) {
  set(a, y, 1, 200, 1);
  for (uint32_t i = 0; i < 500; ++i)
    set(a, x, i);
  move(b, x, y);
  expectFound({"reads what kernel 'set' on stream 1 (main.cpp:10) writes, and nothing orders them: "
               "4 bytes from offset 800 of y",
               "writes what kernel 'set' on stream 1 (main.cpp:510) writes"});
}

// --- With one ------------------------------------------------------------------------------------

TEST_P(TwoStreams, EventsOrder) {
  set(a, x, 1);
  order(a, b);
  move(b, y, x);
  order(b, a);
  set(a, x, 2);
  EXPECT_EQ(found(), "");
}

TEST_P(TwoStreams, OrderPassesThroughOthers) {
  device::Stream c = gpu().createStream();
  set(a, x, 1);
  order(a, c);
  order(c, b);
  move(b, y, x);
  EXPECT_EQ(found(), "");
}

TEST_P(TwoStreams, TheHostOrders) {
  set(a, x, 1);
  gpu().synchronize(a);
  move(b, y, x);
  gpu().synchronize();
  set(a, x, 2);
  device::Event event = gpu().createEvent();
  gpu().record(event, a);
  gpu().synchronize(event);
  move(b, y, x);
  EXPECT_EQ(found(), "");
}

TEST_P(TwoStreams, AnEventThatIsReachedOrders) {
  set(a, x, 1);
  device::Event event = gpu().createEvent();
  EXPECT_TRUE(gpu().isDone(event)) << "never recorded";
  gpu().record(event, a);
  int asked = 1;
  while (!gpu().isDone(event) && asked < 10)
    ++asked;
  EXPECT_LT(asked, 10);
  move(b, y, x);
  EXPECT_EQ(found(), "");
}

TEST_P(TwoStreams, OtherBytesAreNoConcern) {
  for (uint32_t i = 0; i < kCount; ++i)
    set(i % 2 ? a : b, x, i, i, 1);
  move(a, y, upload(1));
  EXPECT_EQ(found(), "");
}

TEST_P(TwoStreams, TwoReadersAreClean) {
  device::DevicePtr z = upload(1);
  move(a, y, x);
  move(b, z, x);
  EXPECT_EQ(found(), "");
}

TEST_P(TwoStreams, AtomicsDoNotRaceWithEachOther) {
  launch(a, "count", 32, x);
  launch(b, "count", 32, x);
  EXPECT_EQ(found(), "");
  launch(a, "count", 32, x);
  set(b, x, 1);
  expectFound({"kernel 'set' on stream 2 (main.cpp:13) writes what kernel 'count' on stream 1 "
               "(main.cpp:12) updates atomically"});
}

TEST_P(TwoStreams, AStreamThatHasEndedIsForgottenWithItsWork) {
  for (int i = 0; i < 3; ++i) {
    device::Stream c = gpu().createStream();
    set(c, x, 1);
    gpu().synchronize(c);
    gpu().destroyStream(c);
  }
  move(b, y, x);
  EXPECT_EQ(found(), "");
  device::Stream c = gpu().createStream();
  set(c, x, 1);
  gpu().destroyStream(c);
  move(b, y, x);
  expectFound({"kernel 'move' on stream 2", "kernel 'set' on stream 6"});
}

TEST_P(TwoStreams, AdoptedHandlesAreTheSameStream) {
  device::Stream again = gpu().adoptStream(gpu().nativeOf(a));
  set(a, x, 1);
  move(again, y, x);
  EXPECT_EQ(found(), "");
  gpu().destroyStream(again);
  gpu().synchronize(a);
  EXPECT_THROW(gpu().adoptStream(reinterpret_cast<void *>(uintptr_t{99})), Error);
}

TEST_P(TwoStreams, IsPartOfTheCheckOfRaces) {
  gpu().setChecks(parseChecks("memory,init,sync,async"));
  set(a, x, 1);
  move(b, y, x);
  EXPECT_EQ(found(), "");
}

// --- Memory that comes and goes ------------------------------------------------------------------

// The kernel may run before the release or after it.
TEST_P(TwoStreams, FreeingWhatAnotherStreamUses) {
  device::DevicePtr z = gpu().alloc(4 * kCount, a, line());
  order(a, b);
  set(b, z, 1);
  gpu().free(z, a, line());
  gpu().synchronize();
  ASSERT_FALSE(findings.empty());
  if (GetParam() == Schedule::Eager)
    EXPECT_EQ(findings[0].text().rfind("[race] the release on stream 1 (main.cpp:12) frees what "
                                       "kernel 'set' on stream 2 (main.cpp:11) writes",
                                       0),
              0u)
        << findings[0].text();
  else
    EXPECT_EQ(findings[0].kind, FindingKind::UseAfterFree) << findings[0].text();
}

TEST_P(TwoStreams, FreeingInOrderIsClean) {
  device::DevicePtr z = gpu().alloc(4 * kCount, a);
  order(a, b);
  set(b, z, 1);
  order(b, a);
  gpu().free(z, a);
  set(a, x, 1);
  gpu().free(x); // waits for all
  EXPECT_EQ(found(), "");
}

TEST_P(TwoStreams, MemoryOfAStreamIsThereAfterItsAllocation) {
  device::DevicePtr z = gpu().alloc(4 * kCount, a, line());
  set(b, z, 1);
  expectFound({"kernel 'set' on stream 2 (main.cpp:11) writes what the allocation on stream 1 "
               "(main.cpp:10) allocates"});
  device::DevicePtr again = gpu().alloc(4 * kCount, a, line());
  set(a, again, 1);
  set(b, again, 2);
  gpu().synchronize();
  if (GetParam() == Schedule::Eager) // else the second may run when the first has not
    EXPECT_EQ(findings.size(), 1u) << "what was done with it says more";
  expectFound({"writes what kernel 'set' on stream 1 (main.cpp:13) writes"});
}

// --- Work that lies ------------------------------------------------------------------------------

// What a GPU may do, too: work of another stream has not run yet, and nobody has waited for it.
TEST_P(LazyStreams, ShowOldData) {
  bool isLazy = GetParam() == Schedule::Lazy;
  set(a, x, 1);
  std::vector<uint32_t> words(1);
  gpu().copyToHost(words.data(), x, 4, b);
  EXPECT_EQ(words[0], isLazy ? 7u : 1u);
  move(b, y, x);
  gpu().copyToHost(words.data(), y, 4, b);
  EXPECT_EQ(words[0], isLazy ? 7u : 1u);
  order(a, b);
  gpu().copyToHost(words.data(), x, 4, b);
  EXPECT_EQ(words[0], 1u) << "after an event";
}

TEST_P(LazyStreams, ReadAndWriteTheHostsMemoryLate) {
  bool isLazy = GetParam() == Schedule::Lazy;
  std::vector<uint32_t> words(1, 1), seen(1, 5);
  gpu().copyToDeviceAsync(x, words.data(), 4, a);
  words[0] = 2; // too early
  gpu().copyToHostAsync(seen.data(), x, 4, a);
  EXPECT_EQ(seen[0], isLazy ? 5u : 1u);
  gpu().synchronize(a);
  EXPECT_EQ(seen[0], isLazy ? 2u : 1u);
}

TEST_P(TwoStreams, WaitsPassThroughLongChains) {
  for (uint32_t i = 0; i < 2000; ++i) {
    set(i % 2 ? a : b, x, i, 0, 1);
    order(i % 2 ? a : b, i % 2 ? b : a);
  }
  std::vector<uint32_t> words(1);
  gpu().copyToHost(words.data(), x, 4, b);
  EXPECT_EQ(words[0], 1999u);
  EXPECT_EQ(found(), "");
}

TEST_P(TwoStreams, ElapsedTimeWaitsForBothEvents) {
  device::Event start = gpu().createEvent(), stop = gpu().createEvent();
  gpu().record(start, a);
  set(a, x, 1);
  EXPECT_THROW(gpu().elapsedMs(start, stop), Error) << "never recorded";
  gpu().record(stop, a);
  EXPECT_GT(gpu().elapsedMs(start, stop), 0);
  move(b, y, x);
  EXPECT_EQ(found(), "") << "the host has waited";
}

// Which of two streams comes first is any, and the same for a seed.
TEST_P(RandomStreams, TheirOrderDependsOnTheSeedAlone) {
  auto results = [&](uint64_t seed) {
    gpu().setSchedule(Schedule::Random, seed);
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < 16; ++i) {
      set(a, x, 1);
      set(b, x, 2);
      gpu().synchronize();
      all.push_back(gpu_.download<uint32_t>(x, 1)[0]);
    }
    return all;
  };
  std::vector<uint32_t> first = results(1);
  EXPECT_EQ(results(1), first);
  EXPECT_EQ(std::ranges::count(first, 1u) + std::ranges::count(first, 2u), 16);
  EXPECT_GT(std::ranges::count(first, 1u), 0);
  EXPECT_GT(std::ranges::count(first, 2u), 0);
}

// --- Without a sink ------------------------------------------------------------------------------

TEST_P(TwoStreams, IsAnErrorAtTheLineOfTheProgram) {
  gpu().setFindingSink(nullptr);
  set(a, x, 1);
  try {
    move(b, y, x);
    gpu().synchronize();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::DeviceFinding);
    EXPECT_EQ(error.file(), "main.cpp");
    EXPECT_EQ(error.line(), 11);
    EXPECT_EQ(std::string(error.what()).rfind("main.cpp:11: error: [race] kernel 'move'", 0), 0u)
        << error.what();
  }
  EXPECT_NO_THROW(gpu().synchronize());
}

// A release that nobody hears of is told by the next call that can.
TEST_P(TwoStreams, WhatMustNotThrowIsToldByTheNextCall) {
  gpu().setFindingSink(nullptr);
  device::DevicePtr z = gpu().alloc(4 * kCount, a);
  order(a, b);
  move(b, z, x);
  EXPECT_NO_THROW(gpu().free(z, a));
  EXPECT_NO_THROW(gpu().drain(a));
  EXPECT_THROW(gpu().synchronize(), Error);
}

} // namespace
} // namespace tile::vgpu
