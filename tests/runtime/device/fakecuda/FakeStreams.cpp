// Streams and events.
#include "tests/runtime/device/fakecuda/FakeDriver.h"

#include <algorithm>

namespace fakecuda {

bool isStream(CUstream stream) { return !stream || state().streams.count(stream); }
CUstream_st &queueOf(CUstream stream) { return stream ? *stream : state().nullStream; }
void submit(CUstream stream) { ++queueOf(stream).submitted; }

void complete(CUstream stream, uint64_t mark) {
  CUstream_st &queue = queueOf(stream);
  queue.completed = std::max(queue.completed, mark);
  // Work that the host has waited for comes before all work that it asks for next.
  if (!queue.isBusy())
    for (auto &[base, block] : state().memory)
      if (block.orderedAfter.count(stream))
        block.isStreamOrdered = false;
}

FAKE_API cuStreamCreate(CUstream *stream, unsigned flags) {
  FAKE_ENTER("cuStreamCreate", Needs::Context);
  if (flags > 1)
    return kInvalidValue;
  *stream = new CUstream_st{contextStack.items[contextStack.depth - 1]};
  state().streams.insert(*stream);
  return kSuccess;
}
FAKE_API cuStreamDestroy_v2(CUstream stream) {
  FAKE_ENTER("cuStreamDestroy_v2", Needs::Context);
  if (!state().streams.count(stream))
    return kInvalidHandle;
  if (CUresult result = refuseCaptured(stream); result != kSuccess)
    return result;
  state().streams.erase(stream);
  delete stream;
  return kSuccess;
}
FAKE_API cuStreamGetCtx(CUstream stream, CUcontext *context) {
  FAKE_ENTER("cuStreamGetCtx", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  *context = stream ? stream->context : contextStack.items[contextStack.depth - 1];
  return kSuccess;
}
FAKE_API cuStreamSynchronize(CUstream stream) {
  FAKE_ENTER("cuStreamSynchronize", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  if (CUresult result = refuseCaptured(stream); result != kSuccess)
    return result;
  complete(stream, queueOf(stream).submitted);
  return kSuccess;
}
FAKE_API cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  FAKE_ENTER("cuStreamWaitEvent", Needs::Context);
  if (flags)
    return kInvalidValue;
  if (!isStream(stream) || !state().events.count(event))
    return kInvalidHandle;
  if (event->capture) {
    if (event->capture->isOver)
      return kCapturedEvent;
    if (!stream->capture)
      stream->capture = event->capture;
    if (stream->capture != event->capture)
      return kCaptureIsolation;
    stream->frontier.insert(event->frontier.begin(), event->frontier.end());
    return kSuccess;
  }
  if (captureOf(stream)) {
    stream->capture->isValid = false;
    return kCaptureIsolation;
  }
  submit(stream);
  if (event->recorded)
    for (auto &[base, block] : state().memory)
      if (block.orderedAfter.count(event->stream))
        block.orderedAfter.insert(stream);
  return kSuccess;
}
FAKE_API cuEventCreate(CUevent *event, unsigned flags) {
  FAKE_ENTER("cuEventCreate", Needs::Context);
  if (flags > 7)
    return kInvalidValue;
  *event = new CUevent_st;
  state().events.insert(*event);
  return kSuccess;
}
FAKE_API cuEventDestroy_v2(CUevent event) {
  FAKE_ENTER("cuEventDestroy_v2", Needs::Context);
  if (!state().events.erase(event))
    return kInvalidHandle;
  delete event;
  return kSuccess;
}
FAKE_API cuEventRecord(CUevent event, CUstream stream) {
  FAKE_ENTER("cuEventRecord", Needs::Context);
  if (!isStream(stream) || !state().events.count(event))
    return kInvalidHandle;
  if (Capture *capture = captureOf(stream)) {
    if (!capture->isValid)
      return kCaptureInvalidated;
    *event = {stream, 0, 0, false, stream->capture, stream->frontier};
    return kSuccess;
  }
  submit(stream);
  *event = {stream, queueOf(stream).submitted,
            state().clockMilliseconds += state().eventMilliseconds, true};
  return kSuccess;
}
FAKE_API cuEventSynchronize(CUevent event) {
  FAKE_ENTER("cuEventSynchronize", Needs::Context);
  if (!state().events.count(event))
    return kInvalidHandle;
  if (event->capture)
    return kCapturedEvent;
  if (event->recorded && isStream(event->stream))
    complete(event->stream, event->mark);
  return kSuccess;
}
// The first question finds the work under way, unless the host is slow, the next one finds it done.
FAKE_API cuEventQuery(CUevent event) {
  FAKE_ENTER("cuEventQuery", Needs::Context);
  if (!state().events.count(event))
    return kInvalidHandle;
  if (event->capture)
    return kCapturedEvent;
  if (!event->recorded || !isStream(event->stream) ||
      queueOf(event->stream).completed >= event->mark)
    return kSuccess;
  complete(event->stream, event->mark);
  return state().isSlowHost ? kSuccess : kNotReady;
}
FAKE_API cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop) {
  FAKE_ENTER("cuEventElapsedTime", Needs::Context);
  for (CUevent event : {start, stop}) {
    if (!state().events.count(event) || !event->recorded)
      return kInvalidHandle;
    if (isStream(event->stream) && queueOf(event->stream).completed < event->mark)
      return kNotReady;
  }
  *milliseconds = static_cast<float>(stop->milliseconds - start->milliseconds);
  return kSuccess;
}

} // namespace fakecuda
