// A process that is forked while a CUDA device is open: the driver is not called there, whatever is done.
#include "tests/runtime/device/fakecuda/FakeDevice.h"

#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace tile::device {
namespace {

/// What a child finds wrong, as its exit status.
class Findings {
public:
  void expect(bool isRight, const char *what) {
    if (!isRight)
      std::fprintf(stderr, "in the child: %s\n", what), ++count_;
  }
  void expectForked(const char *what, const std::function<void()> &call) {
    try {
      call();
      expect(false, what);
    } catch (const Error &error) {
      expect(error.code() == ErrorCode::ForkedContext, what);
    }
  }
  int count() const { return count_; }

private:
  int count_ = 0;
};

/// Runs `act` in a child; false if it found anything, died, or hung for ten seconds.
bool isFineInChild(const std::function<void(Findings &)> &act) {
  constexpr unsigned kSeconds = 10;
  pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    Findings findings;
    act(findings);
    _exit(findings.count());
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST_F(FakeCuda, AForkedChildNeverCallsTheDriver) {
  Stream stream = device->createStream();
  Event event = device->createEvent(), end = device->createEvent();
  DevicePtr pointer = device->alloc(64);
  Module module = device->loadModule(kKernels);
  Function function = device->getFunction(module, "nothing");
  EXPECT_TRUE(isFineInChild([&](Findings &findings) {
    uint64_t before = fakeCudaCallCount();
    uint32_t word = 0;
    findings.expect(device->isOfParent(), "isOfParent");
    findings.expectForked("alloc", [&] { device->alloc(64); });
    findings.expectForked("free", [&] { device->free(pointer); });
    findings.expectForked("allocationOf", [&] { device->allocationOf(pointer); });
    findings.expectForked("copyToDevice", [&] { device->copyToDevice(pointer, &word, 4); });
    findings.expectForked("copyToHost", [&] { device->copyToHost(&word, pointer, 4); });
    findings.expectForked("copyOnDevice", [&] { device->copyOnDevice(pointer, pointer, 4); });
    findings.expectForked("fill", [&] { device->fill(pointer, 0, 4); });
    findings.expectForked("loadModule", [&] { device->loadModule(kKernels); });
    findings.expectForked("unloadModule", [&] { device->unloadModule(module); });
    findings.expectForked("getFunction", [&] { device->getFunction(module, "scale"); });
    findings.expectForked("functionInfo", [&] { device->functionInfo(function); });
    findings.expectForked("launch", [&] { device->launch(function, {}, {}, stream); });
    findings.expectForked("createStream", [&] { device->createStream(); });
    findings.expectForked("destroyStream", [&] { device->destroyStream(stream); });
    findings.expectForked("synchronize", [&] { device->synchronize(); });
    findings.expectForked("synchronize a stream", [&] { device->synchronize(stream); });
    findings.expectForked("synchronize an event", [&] { device->synchronize(event); });
    findings.expectForked("createEvent", [&] { device->createEvent(); });
    findings.expectForked("destroyEvent", [&] { device->destroyEvent(event); });
    findings.expectForked("record", [&] { device->record(event, stream); });
    findings.expectForked("wait", [&] { device->wait(stream, event); });
    findings.expectForked("isDone", [&] { device->isDone(event); });
    findings.expectForked("elapsedMs", [&] { device->elapsedMs(event, end); });
    findings.expectForked("openCuda", [] { openCuda(0); });
    findings.expectForked("openCuda of another", [] { openCuda(1); });
    findings.expectForked("currentCudaContext", [] { currentCudaContext(); });
    device->drain();
    device->drain(stream);
    device.reset();
    findings.expect(fakeCudaCallCount() == before, "the driver was called");
  }));
  device->synchronize(); // the parent goes on
  for (Event one : {event, end})
    device->destroyEvent(one);
}

// A thread that holds locks of the device is not there in the child, which must not wait for it.
TEST_F(FakeCuda, AForkedChildWaitsForNoThread) {
  std::atomic<bool> isOver = false;
  std::thread busy([&] {
    while (!isOver) {
      Stream stream = device->createStream();
      DevicePtr pointer = device->alloc(64);
      device->free(pointer);
      device->destroyStream(stream);
    }
  });
  int wrong = 0;
  for (int round = 0; round < 20; ++round)
    wrong += !isFineInChild([&](Findings &findings) {
      findings.expectForked("alloc", [&] { device->alloc(64); });
      findings.expectForked("createStream", [&] { device->createStream(); });
      findings.expectForked("synchronize", [&] { device->synchronize(); });
      device.reset();
    });
  isOver = true;
  busy.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace tile::device
