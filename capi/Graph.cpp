#include <tile/Graph.h>

#include "capi/Guard.h"
#include "capi/Handles.h"

#include <tile/c/Graph.h>

using namespace tile;
using namespace tile::capi;

namespace {

/// The caller's function, whose failure ends the capture.
auto captured(tile_status (*work)(void *), void *context) {
  required(work, "work");
  return [work, context] {
    if (tile_status status = work(context); status != TILE_OK)
      throw CallbackFailed{status};
  };
}

} // namespace

tile_status tile_graph_capture(tile_stream *stream, tile_status (*work)(void *context),
                               void *context, tile_graph **graph) {
  return guarded([&] {
    auto object = at(stream, "stream");
    required(graph, "graph");
    *graph = give<tile_graph>(Graph::capture(*object, captured(work, context), here()));
  });
}

tile_status tile_graph_replay(tile_graph *graph, tile_stream *stream) {
  return guarded([&] { at(graph, "graph")->replay(*at(stream, "stream"), here()); });
}

tile_status tile_graph_update(tile_graph *graph, tile_stream *stream,
                              tile_status (*work)(void *context), void *context) {
  return guarded([&] {
    auto object = at(graph, "graph");
    object->update(*at(stream, "stream"), captured(work, context), here());
  });
}

tile_status tile_graph_release(tile_graph *graph) {
  return guarded([&] { release(graph); });
}
