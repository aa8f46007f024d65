// Inside the fake driver: what it knows, and how each of its functions begins. It is strict about handles, contexts and
// sizes.
//
// Work is done when it is asked for; a count of submitted and completed steps a stream tells what a real driver might
// still be doing, which is how uses of memory without an order between them are found.
#pragma once

#include "tests/runtime/device/fakecuda/FakeCuda.h"
#include "tests/runtime/device/fakecuda/FakeImage.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
struct CUctx_st {
  int device;
  int retained = 0;
  unsigned long long identity = 1;
  bool isReset = false; // and not made again
};
namespace fakecuda {
struct Capture;
}
struct CUstream_st {
  CUctx_st *context = nullptr;
  uint64_t submitted = 0, completed = 0;
  std::shared_ptr<fakecuda::Capture> capture = nullptr; // if it is captured
  std::set<size_t> frontier = {}; // nodes of that which the next one comes after
  bool isBusy() const { return completed < submitted; }
};
struct CUevent_st {
  CUstream_st *stream = nullptr;
  uint64_t mark = 0;
  double milliseconds = 0;
  bool recorded = false;
  std::shared_ptr<fakecuda::Capture> capture = nullptr; // in which it was recorded
  std::set<size_t> frontier = {};
};
struct CUfunc_st {
  std::string name;
  fakecuda::KernelImage image;
  long maxDynamicShared;
  bool allowsLargeClusters = false;
};
struct CUmod_st {
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
};
using CUcontext = CUctx_st *;
using CUstream = CUstream_st *;
using CUevent = CUevent_st *;
using CUfunction = CUfunc_st *;
using CUmodule = CUmod_st *;

namespace fakecuda {
/// A piece of work of a graph.
struct FakeNode {
  enum Kind { Launch, Copy, Fill } kind;
  std::function<void(CUstream)> run;
  std::vector<CUdeviceptr> memory = {}; // bases of the memory that it refers to
  std::set<size_t> after = {};
};
struct Capture {
  CUstream origin = nullptr;
  int mode = 0;
  std::thread::id thread;
  bool isValid = true, isOver = false;
  std::vector<FakeNode> nodes;
};
} // namespace fakecuda
struct CUgraph_st {
  std::vector<fakecuda::FakeNode> nodes;
};
struct CUgraphExec_st {
  CUgraph_st graph;
};
using CUgraph = CUgraph_st *;
using CUgraphExec = CUgraphExec_st *;
struct CUgraphExecUpdateResultInfo {
  int result;
  void *errorNode, *errorFromNode;
};

struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    struct {
      unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
    void *alignment;
    char bytes[64];
  } value;
};
struct CUlaunchConfig {
  unsigned grid[3], block[3], sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};

namespace fakecuda {

enum : CUresult {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kContextDestroyed = 709,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
  kGraphUpdateFailure = 910,
  kInvalidClusterSize = 912,
};

constexpr size_t kTotalMemory = size_t{1} << 30;
constexpr CUdeviceptr kFirstAddress = 0x7'0000'0000'0000;
constexpr int kDeviceCount = 2;

struct Memory {
  std::vector<unsigned char> bytes;
  bool isStreamOrdered = false;
  std::set<CUstream> orderedAfter; // streams in which the allocation has surely happened
};

struct State {
  int registers = 40; ///< of a thread of every function
  int version = 12080;
  std::recursive_mutex mutex;
  bool isInitialised = false, isDown = false, isRecording = true;
  CUresult lost = kSuccess;
  std::map<int, int> attributes = {
      {1, 1024},  {2, 1024},    {3, 1024},   {4, 64},      {5, 2147483647}, {6, 65535},
      {7, 65535}, {8, 49152},   {10, 32},    {16, 132},    {38, 52428800},  {75, 9},
      {76, 0},    {81, 233472}, {82, 65536}, {97, 232448}, {115, 1}};
  CUctx_st contexts[kDeviceCount] = {{0}, {1}};        // primary ones
  std::vector<std::unique_ptr<CUctx_st>> foreign = {}; // contexts of others
  std::map<CUdeviceptr, Memory> memory;
  std::multimap<size_t, CUdeviceptr>
      freed;                        // by rounded size: given out again, as a real driver does
  std::vector<unsigned char> spare; ///< behind the large memory that was freed last
  CUdeviceptr nextAddress = kFirstAddress;
  size_t usedBytes = 0;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::set<CUgraph> graphs;
  std::set<CUgraphExec> graphExecs;
  std::map<CUmodule, std::unique_ptr<CUmod_st>> modules;
  std::set<CUfunction> functions;
  CUstream_st nullStream;
  double clockMilliseconds = 0, eventMilliseconds = 0.5, launchMilliseconds = 0;
  double unsteadyShare = 0;
  uint64_t timedLaunches = 0;
  bool isSlowHost = false;
  std::map<std::string, std::map<int, CUresult>, std::less<>>
      faults; // function -> calls from now -> result
  uint64_t callCount = 0;
  std::vector<std::string> calls, failedCalls, hazards, images;
  std::string call; ///< the function called last
  std::vector<FakeLaunch> launches;
  std::vector<FakeTensorMap> tensorMaps;
};

/// Never destroyed: whoever calls too late is told so.
State &state();

// Without a destructor: threads end, and the main thread's variables go, before the last calls come.
struct ContextStack {
  CUcontext items[16];
  size_t depth;
};
extern constinit thread_local ContextStack contextStack;

/// Launches are not looked at.
extern std::atomic<bool> skipsLaunches;

enum class Needs { Nothing, Start, Context };

/// What was in a context is gone.
void dropObjects();

/// One call of the driver: locks, records, and decides what fails before its arguments are looked at.
class Call {
public:
  Call(const char *name, Needs needs, bool isRecorded = true);
  CUresult result;

private:
  std::lock_guard<std::recursive_mutex> lock_;
};

/// What a function of the driver returns: a CUresult that takes note of failures. "Not ready" is an answer.
struct Answer {
  CUresult result;
  Answer(CUresult result);
};

// Streams are queues of steps; the null stream is one of them.
bool isStream(CUstream stream);
CUstream_st &queueOf(CUstream stream);
void submit(CUstream stream);
/// The first address of the memory that holds `pointer`; 0 if none does.
CUdeviceptr memoryAt(CUdeviceptr pointer);
/// Runs it in the order of the stream, or captures it.
CUresult perform(CUstream stream, FakeNode node);
/// The capture that a stream is in, or null.
Capture *captureOf(CUstream stream);
/// An error, and the capture is spoilt, for what a captured stream cannot do; ...
CUresult refuseCaptured(CUstream stream);
/// ... for what no stream may be captured at;
CUresult refuseAnyCapture();
/// ... and for what is unsafe in captures of this thread.
CUresult refuseUnsafe();
/// The host has waited for the stream's steps up to `mark`.
void complete(CUstream stream, uint64_t mark);

} // namespace fakecuda

#ifdef __clang__ // an Answer is returned as the integer in it is
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif
#define FAKE_API extern "C" __attribute__((visibility("default"))) fakecuda::Answer
#define FAKE_ENTER(name, needs, ...)                                                               \
  Call call(name, needs, ##__VA_ARGS__);                                                           \
  if (call.result != kSuccess)                                                                     \
  return call.result
