#include "capi/Guard.h"
#include "capi/Handles.h"

#include <tile/Device.h>
#include <tile/c/Device.h>

using namespace tile;
using namespace tile::capi;

tile_status tile_event_create(tile_device *device, tile_event **event) {
  return guarded([&] {
    auto object = at(device, "device");
    required(event, "event");
    *event = give<tile_event>(object->event());
  });
}

tile_status tile_event_release(tile_event *event) {
  return guarded([&] { release(event); });
}

tile_status tile_event_record(tile_event *event, tile_stream *stream) {
  return guarded([&] { at(event, "event")->record(*at(stream, "stream")); });
}

tile_status tile_event_synchronize(tile_event *event) {
  return guarded([&] { at(event, "event")->synchronize(); });
}

tile_status tile_event_query(tile_event *event, int32_t *is_reached) {
  return guarded([&] {
    auto object = at(event, "event");
    *required(is_reached, "is_reached") = object->query();
  });
}

tile_status tile_event_elapsed(tile_event *start, tile_event *end, float *milliseconds) {
  return guarded([&] {
    auto from = at(start, "start"), to = at(end, "end");
    *required(milliseconds, "milliseconds") = from->elapsedMs(*to);
  });
}
