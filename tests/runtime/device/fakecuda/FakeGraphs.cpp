// Captures of streams, and graphs. As strict as a driver: what is illegal in a capture fails and spoils it.
#include "tests/runtime/device/fakecuda/FakeDriver.h"

#include <algorithm>
#include <cstring>

namespace fakecuda {
#ifndef FAKE_CUDA_OLD
namespace {

// The nodes that come before a node, itself included.
std::set<size_t> before(const std::vector<FakeNode> &nodes, const std::set<size_t> &from) {
  std::set<size_t> all = from;
  for (size_t node = nodes.size(); node-- > 0;)
    if (all.count(node))
      all.insert(nodes[node].after.begin(), nodes[node].after.end());
  return all;
}

bool isSameTopology(const CUgraph_st &one, const CUgraph_st &other) {
  return std::equal(
      one.nodes.begin(), one.nodes.end(), other.nodes.begin(), other.nodes.end(),
      [](const FakeNode &a, const FakeNode &b) { return a.kind == b.kind && a.after == b.after; });
}

} // namespace
#endif

Capture *captureOf(CUstream stream) {
  return stream && stream->capture ? stream->capture.get() : nullptr;
}

CUresult perform(CUstream stream, FakeNode node) {
  Capture *capture = captureOf(stream);
  if (!capture) {
    node.run(stream);
    submit(stream);
    return kSuccess;
  }
  if (!capture->isValid)
    return kCaptureInvalidated;
  node.after = stream->frontier;
  capture->nodes.push_back(std::move(node));
  stream->frontier = {capture->nodes.size() - 1};
  return kSuccess;
}

CUresult refuseCaptured(CUstream stream) {
  Capture *capture = captureOf(stream);
  if (!capture)
    return kSuccess;
  capture->isValid = false;
  return kCaptureUnsupported;
}

CUresult refuseAnyCapture() {
  CUresult result = kSuccess;
  for (CUstream stream : state().streams)
    if (refuseCaptured(stream) != kSuccess)
      result = kCaptureUnsupported;
  return result;
}

// Of this thread's captures all but relaxed ones, of others' the global ones.
CUresult refuseUnsafe() {
  CUresult result = kSuccess;
  for (CUstream stream : state().streams)
    if (Capture *capture = captureOf(stream);
        capture && (capture->mode == 0 ||
                    (capture->mode == 1 && capture->thread == std::this_thread::get_id())))
      result = refuseCaptured(stream);
  return result;
}

FAKE_API cuStreamIsCapturing(CUstream stream, int *status) {
  FAKE_ENTER("cuStreamIsCapturing", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  Capture *capture = captureOf(stream);
  *status = !capture ? 0 : capture->isValid ? 1 : 2;
  return kSuccess;
}

#ifndef FAKE_CUDA_OLD
FAKE_API cuStreamBeginCapture_v2(CUstream stream, int mode) {
  FAKE_ENTER("cuStreamBeginCapture_v2", Needs::Context);
  if (!stream || !isStream(stream) || mode < 0 || mode > 2)
    return kInvalidValue;
  if (stream->capture)
    return kIllegalState;
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  stream->frontier.clear();
  return kSuccess;
}
// A capture ends however its end fails.
FAKE_API cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  Call call("cuStreamEndCapture", Needs::Context);
  *graph = nullptr;
  if (!stream || !isStream(stream) || !stream->capture)
    return kIllegalState;
  std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin != stream)
    return kCaptureUnmatched;
  if (capture->mode != 2 && capture->thread != std::this_thread::get_id())
    return kCaptureWrongThread;
  bool isJoined = before(capture->nodes, stream->frontier).size() == capture->nodes.size();
  capture->isOver = true;
  for (CUstream other : state().streams)
    if (other->capture == capture)
      other->capture.reset(), other->frontier.clear();
  if (call.result != kSuccess)
    return call.result;
  if (!capture->isValid)
    return kCaptureInvalidated;
  if (!isJoined)
    return kCaptureUnjoined;
  *graph = new CUgraph_st{std::move(capture->nodes)};
  state().graphs.insert(*graph);
  return kSuccess;
}
FAKE_API cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
  FAKE_ENTER("cuGraphInstantiateWithFlags", Needs::Context);
  if (!state().graphs.count(graph))
    return kInvalidHandle;
  if (flags)
    return kInvalidValue;
  *exec = new CUgraphExec_st{*graph};
  state().graphExecs.insert(*exec);
  return kSuccess;
}
FAKE_API cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
  FAKE_ENTER("cuGraphExecUpdate_v2", Needs::Context);
  constexpr int kTopologyChanged = 2;
  if (!state().graphExecs.count(exec) || !state().graphs.count(graph))
    return kInvalidHandle;
  if (!isSameTopology(exec->graph, *graph)) {
    info->result = kTopologyChanged;
    return kGraphUpdateFailure;
  }
  exec->graph = *graph;
  return kSuccess;
}
FAKE_API cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  FAKE_ENTER("cuGraphLaunch", Needs::Context);
  if (!state().graphExecs.count(exec) || !isStream(stream))
    return kInvalidHandle;
  for (const FakeNode &node : exec->graph.nodes) {
    auto isLive = [](CUdeviceptr base) { return state().memory.count(base) > 0; };
    if (std::all_of(node.memory.begin(), node.memory.end(), isLive))
      node.run(stream);
    else
      state().hazards.push_back("a graph refers to memory that has been freed");
  }
  submit(stream);
  return kSuccess;
}
FAKE_API cuGraphExecDestroy(CUgraphExec exec) {
  FAKE_ENTER("cuGraphExecDestroy", Needs::Context);
  if (!state().graphExecs.erase(exec))
    return kInvalidHandle;
  delete exec;
  return kSuccess;
}
FAKE_API cuGraphDestroy(CUgraph graph) {
  FAKE_ENTER("cuGraphDestroy", Needs::Context);
  if (!state().graphs.erase(graph))
    return kInvalidHandle;
  delete graph;
  return kSuccess;
}
#endif

} // namespace fakecuda
