#include "capi/Handles.h"
#include "capi/Sized.h"

#include <tile/Tensor.h>
#include <tile/c/Device.h>

using namespace tile;
using namespace tile::capi;

tile_status tile_stream_create(tile_device *device, tile_stream **stream) {
  return guarded([&] {
    auto object = at(device, "device");
    required(stream, "stream");
    *stream = give<tile_stream>(object->stream(here()));
  });
}

tile_status tile_stream_adopt(tile_device *device, void *native, tile_stream **stream) {
  return guarded([&] {
    auto object = at(device, "device");
    required(stream, "stream");
    *stream = give<tile_stream>(object->externalStream(native, here()));
  });
}

tile_status tile_stream_release(tile_stream *stream) {
  return guarded([&] { release(stream); });
}

tile_status tile_stream_native(tile_stream *stream, void **native) {
  return guarded([&] {
    auto object = at(stream, "stream");
    *required(native, "native") = object->native();
  });
}

tile_status tile_stream_device(tile_stream *stream, tile_device **device) {
  return guarded([&] {
    auto object = at(stream, "stream");
    required(device, "device");
    *device = give<tile_device>(object->device());
  });
}

tile_status tile_stream_synchronize(tile_stream *stream) {
  return guarded([&] { at(stream, "stream")->synchronize(); });
}

tile_status tile_stream_wait(tile_stream *stream, tile_stream *other) {
  return guarded([&] { at(stream, "stream")->wait(*at(other, "other")); });
}

tile_status tile_stream_wait_event(tile_stream *stream, tile_event *event) {
  return guarded([&] { at(stream, "stream")->wait(*at(event, "event")); });
}

tile_status tile_stream_overlap_launches(tile_stream *stream, int32_t overlap) {
  return guarded([&] { at(stream, "stream")->overlapLaunches(overlap != 0); });
}

tile_status tile_stream_trim(tile_stream *stream) {
  return guarded([&] { at(stream, "stream")->trim(); });
}

tile_status tile_stream_get_usage(tile_stream *stream, tile_stream_usage *usage) {
  return guarded([&] {
    StreamUsage now = at(stream, "stream")->usage();
    writeSized(usage, "usage",
               tile_stream_usage{sizeof *usage, now.usedBytes, now.keptBytes, now.allocations});
  });
}
