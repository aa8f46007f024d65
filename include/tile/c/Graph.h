// For C: graphs, work that is recorded once and given as a whole, again and again (docs/graphs.md).
// Part of tile/tile_c.h.
#pragma once

#include <tile/c/Device.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Captured work of a stream.
typedef struct tile_graph tile_graph;

/// Calls `work`, whose calls for the stream are recorded instead of executed. A status other
/// than TILE_OK that it returns ends the capture and is what this function returns. What waits, as
/// copies that are not asynchronous do, is TILE_NOT_PREPARED_FOR_CAPTURE meanwhile.
tile_status tile_graph_capture(tile_stream *stream, tile_status (*work)(void *context),
                               void *context, tile_graph **graph);
/// Gives the captured work to the stream, in whose order it runs.
tile_status tile_graph_replay(tile_graph *graph, tile_stream *stream);
/// Captures again; later replays do that work. TILE_INVALID_ARGUMENT, and the graph is as it was,
/// where the pieces of work are others than before in more than addresses, numbers and grids.
tile_status tile_graph_update(tile_graph *graph, tile_stream *stream,
                              tile_status (*work)(void *context), void *context);
tile_status tile_graph_release(tile_graph *graph);

#ifdef __cplusplus
} // extern "C"
#endif
