// What tests see of the fake CUDA driver: faults to order, and a record of all that was asked of it.
//
// libcuda_fake.so exports the driver functions that the CUDA device looks up. Device memory is host memory behind
// addresses that the host cannot reach, kernels are recorded and not run, and misuse that a driver answers with an
// error, or not at all, is found. One primary context per device; time advances with each recorded event, or as it is told to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct FakeLaunch {
  std::string kernel;
  unsigned grid[3], block[3], cluster[3];
  unsigned sharedBytes;
  bool hasCluster, isProgrammatic;
  const void *stream;
  std::vector<std::vector<unsigned char>> params; // as long as the kernel's parameters
};

/// The arguments of one encoding of a tensor map.
struct FakeTensorMap {
  int type;
  uint64_t address;
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, elementStrides;
  int interleave, swizzle, l2Promotion, fill;
};

extern "C" {
/// Forgets calls, failed calls, launches, tensor maps, faults, hazards and a lost context; objects stay.
void fakeCudaReset();
/// The nth call of `function` from now on (1 is the next) returns `result` and does nothing. Results that corrupt a
/// context do so: all later calls return them too.
void fakeCudaFail(const char *function, int nth, int result);
/// What functions say a thread takes, until the next reset; 40 at first.
void fakeCudaSetRegisters(int count);
/// Sets a device attribute.
void fakeCudaSetAttribute(int attribute, int value);
/// The version of the driver, until the next reset; 12080 at first.
void fakeCudaSetVersion(int version);
/// How far recording an event and a launch advance the time, until the next reset; 0.5 and 0 at first. A slow host finds that
/// events have been reached already when it asks.
void fakeCudaSetClock(double eventMilliseconds, double launchMilliseconds, bool isSlowHost);
/// Two of four launches take so much longer, as part of their time, until the next reset.
void fakeCudaSetUnsteady(double share);
/// Whether calls and launches are recorded, as they are at first; a benchmark's are not.
void fakeCudaRecord(bool isOn);
/// From now on making a context current and launching what nobody captures is answered at once, unlooked at: for benchmarks, whose
/// time is then that of who calls.
void fakeCudaSkipLaunches(bool isOn);
/// The number of all calls ever made.
uint64_t fakeCudaCallCount();
/// "stream", "event", "module", "memory", "graph" or "context": how many there are.
size_t fakeCudaLive(const char *kind);
/// The depth of the calling thread's stack of contexts.
size_t fakeCudaContextDepth();
/// As another library does: a context of its own for a device, made current to the thread until it is popped.
void *fakeCudaPushForeignContext(int device);
/// The primary context of a device, which that library has retained, made current.
void *fakeCudaPushPrimaryContext(int device);
/// As that library resets a device: all that was in the primary context is gone. It is made again, by somebody, at the same
/// address; or not, and is none until then.
void fakeCudaResetPrimary(int device, bool isMadeAgain);
/// Pops what was pushed, and gives a primary context back.
void fakeCudaPopContext();
/// A stream of the context that is current, and its end.
void *fakeCudaMakeStream();
void fakeCudaEndStream(void *stream);
/// As that library captures it, so that unsafe calls of this thread spoil it; the end returns the number of pieces of work.
void fakeCudaBeginCapture(void *stream);
size_t fakeCudaEndCapture(void *stream);
}

/// Names of the driver functions called since the last reset, in order, without those that make a context current or
/// put the former one back.
const std::vector<std::string> &fakeCudaCalls();
/// "function: result" of the calls since the last reset that returned an error.
const std::vector<std::string> &fakeCudaFailedCalls();
const std::vector<FakeLaunch> &fakeCudaLaunches();
const std::vector<FakeTensorMap> &fakeCudaTensorMaps();
/// Uses of memory that a real driver lets pass and that go wrong now and then.
const std::vector<std::string> &fakeCudaHazards();
/// The images given to be loaded since the last reset, "cubin" or "ptx" each.
const std::vector<std::string> &fakeCudaImages();
