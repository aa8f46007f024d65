// Handles that go while other threads compile and launch.
#include "tests/runtime/device/faulty/FaultySetup.h"

#include <atomic>
#include <optional>
#include <thread>

using namespace tile;

namespace {

constexpr int kThreads = 4, kRounds = 8;

TEST_P(FaultyDevices, MayGoWhileThreadsCompileAndLaunch) {
  std::atomic<int> started = 0, right = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number)
    threads.emplace_back([own = device, number, &started, &right] {
      Stream stream = own.stream();
      ++started;
      for (int round = 0; round < kRounds; ++round) {
        auto a = stream.tensor<float>({kCount}), b = stream.tensor<float>({kCount});
        a.fill(static_cast<float>(round));
        addOne.consts(32 << (round + number) % 4)(stream, a, b); // another compile now and then
        right += b.download(stream)[kCount - 1] == static_cast<float>(round + 1);
      }
    });
  while (started < kThreads)
    std::this_thread::yield();
  std::weak_ptr<device::FaultyDevice> last = faulty;
  device = Device::wrap(device::openVirtual(), "another");
  faulty.reset();
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, kThreads * kRounds);
  EXPECT_TRUE(last.expired()) << "the last thread's handles ended the device";
}

// The owner of a device ends it while work that was given is still to be done.
TEST(FaultyDevicesInFlight, EndAfterTheirWork) {
  device::VirtualOptions lazy;
  lazy.schedule = "lazy";
  for (bool isTensorLast : {false, true}) {
    auto device = std::make_optional(Device::wrap(device::openVirtual(lazy), "lazy"));
    auto a = std::make_optional(device->tensor<float>({kCount}));
    auto b = std::make_optional(device->tensor<float>({kCount}));
    a->fill(1);
    auto stream = std::make_optional(device->stream());
    auto graph =
        std::make_optional(Graph::capture(*stream, [&] { addOne.consts(256)(*stream, *a, *b); }));
    graph->replay(*stream);
    device.reset(), graph.reset(), a.reset();
    if (isTensorLast) {
      stream.reset();
      EXPECT_EQ(b->download()[0], 2);
    }
    b.reset(), stream.reset();
  }
}

TEST_P(FaultyDevices, LossIsToldToEachThread) {
  std::atomic<int> told = 0;
  std::vector<std::thread> threads;
  faulty->order({Seam::Launch, Kind::Illegal, 3});
  for (int number = 0; number < kThreads; ++number)
    threads.emplace_back([&, number] {
      try {
        Stream stream = device.stream();
        auto a = stream.tensor<float>({kCount}), b = stream.tensor<float>({kCount});
        a.fill(1);
        for (int round = 0; round < kRounds; ++round) {
          addOne.consts(32 << number)(stream, a, b);
          stream.synchronize();
        }
      } catch (const Error &error) {
        told += error.code() == ErrorCode::ContextLost;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(told, kThreads);
}

} // namespace
