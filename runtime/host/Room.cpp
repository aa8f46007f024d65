#include "runtime/host/Room.h"

namespace tile::detail {

static bool isCaptured(const StreamState &stream) {
  return stream.capture ||
         (stream.isExternal && stream.owner->device->isCapturedByOthers(stream.handle));
}

bool makeRoom(DeviceState &device) {
  bool hasFreed = false;
  std::lock_guard lock(device.streamsMutex);
  for (StreamState *stream : device.streams)
    // What the stream's work did wrong another call tells.
    quietly([&] {
      if (!stream->isClosed && !isCaptured(*stream))
        hasFreed |= stream->memory.tryTrim(*device.device, stream->handle);
    });
  return hasFreed;
}

} // namespace tile::detail
