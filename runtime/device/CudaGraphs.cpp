#include "runtime/device/CudaGraphs.h"

namespace tile::device {

using namespace cuda;
using Current = CudaContext::Current;

namespace {

/// A graph of the driver, which nobody needs once it is instantiated.
class DriverGraph {
public:
  DriverGraph(const Driver &driver, CUgraph graph) : driver_(driver), graph_(graph) {}
  DriverGraph(const DriverGraph &) = delete;
  ~DriverGraph() {
    if (graph_)
      driver_.graphDestroy(graph_);
  }
  CUgraph handle() const { return graph_; }

private:
  const Driver &driver_;
  CUgraph graph_;
};

/// A stream of our own while the driver captures it. Nobody waits for the whole context meanwhile, which would spoil the capture.
class CapturedStream {
public:
  CapturedStream(Device &device, const CudaContext &context, Loc where)
      : device_(device), context_(context), stream_(device.createStream(where)),
        handle_(static_cast<CUstream>(device.nativeOf(stream_))), alone_(context.captureMutex()),
        lastLaunch_(context.lastLaunch()) {}
  CapturedStream(const CapturedStream &) = delete;
  ~CapturedStream() {
    CUgraph graph = nullptr;
    if (isCaptured_)
      endCapture(graph);
    DriverGraph dropped(context_.driver(), graph);
    context_.restoreLaunch(lastLaunch_); // what was captured has not been launched
    try {
      device_.destroyStream(stream_);
    } catch (const Error &) { // of a context that is lost
    }
  }
  Stream stream() const { return stream_; }
  void beginCapture() {
    context_.check(context_.driver().streamBeginCapture(handle_, kCaptureThreadLocal),
                   "beginning a capture");
    isCaptured_ = true;
  }
  CUresult endCapture(CUgraph &graph) {
    isCaptured_ = false;
    return context_.driver().streamEndCapture(handle_, &graph);
  }

private:
  Device &device_;
  const CudaContext &context_;
  Stream stream_;
  CUstream handle_;
  std::unique_lock<std::shared_mutex> alone_;
  LastLaunch lastLaunch_;
  bool isCaptured_ = false;
};

/// From 12.3 on an edge of the driver's graphs says that a launch may start early.
bool takesEarlyLaunches(const Driver &driver) {
  int version = 0;
  return driver.driverGetVersion(&version) == kSuccess && version >= 12030;
}

/// The graph that the driver makes of recorded work.
CUgraph captured(Device &device, const CudaContext &context, const GraphWork &work) {
  if (!context.driver().hasGraphs())
    throw Error(Fault::Device, ErrorCode::Unsupported,
                "the CUDA driver has no graphs: version 12.0 or newer is needed");
  GraphLanes lanes(device, work);
  CapturedStream first(device, context, work.where);
  first.beginCapture();
  if (hasEarlyLaunches(work) && !takesEarlyLaunches(context.driver()))
    lanes.give(withPlainLaunches(work), first.stream());
  else
    lanes.give(work, first.stream());
  CUgraph graph = nullptr;
  context.check(first.endCapture(graph), "capturing " + work.describe());
  return graph;
}

} // namespace

Graph CudaGraphs::create(Device &device, std::shared_ptr<const GraphWork> work) {
  Current current(context_);
  DriverGraph made(context_.driver(), captured(device, context_, *work));
  auto graph = std::make_shared<CudaGraph>();
  context_.check(context_.driver().graphInstantiate(&graph->handle, made.handle(), 0),
                 "instantiating " + work->describe());
  graph->name = std::make_shared<const std::string>(work->describe());
  graph->work = std::move(work);
  return graphs_.insert(graph);
}

void CudaGraphs::update(Device &device, Graph handle, std::shared_ptr<const GraphWork> work) {
  Current current(context_);
  auto graph = graphs_.get(handle);
  DriverGraph made(context_.driver(), captured(device, context_, *work));
  GraphUpdateInfo info{};
  CUresult result = context_.driver().graphExecUpdate(graph->handle, made.handle(), &info);
  if (result == kGraphUpdateFailure)
    refuse(ErrorCode::InvalidArgument,
           work->describe() + " cannot be exchanged for " + graph->work->describe() +
               " in place, says the CUDA driver (reason " + std::to_string(info.result) +
               "): capture another graph");
  context_.check(result, "updating " + graph->work->describe());
  graph->name = std::make_shared<const std::string>(work->describe());
  graph->work = std::move(work);
}

void CudaGraphs::replay(Graph handle, CUstream on) const {
  auto graph = graphs_.get(handle);
  CUresult result = context_.driver().graphLaunch(graph->handle, on);
  if (result != kSuccess)
    context_.check(result, "replaying " + graph->work->describe());
  context_.noteLaunch(graph->name);
}

void CudaGraphs::destroy(Graph handle) {
  Current current(context_);
  auto graph = graphs_.remove(handle);
  context_.check(context_.driver().graphExecDestroy(graph->handle), "destroying a graph");
}

void CudaGraphs::destroyAll() {
  for (const auto &graph : graphs_.all())
    context_.driver().graphExecDestroy(graph->handle);
}

} // namespace tile::device
