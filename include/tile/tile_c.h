// tilec from C, and from whatever calls C: devices, streams, tensors, ops and kernels of libraries.
// C99 and C++; include nothing else of tile/. docs/c.md has a program to copy.
//
//   tile_device *device = NULL;
//   if (tile_device_open("virtual:sm_90a", &device) != TILE_OK)
//     fprintf(stderr, "%s\n", tile_last_error_text());
//
// Status. Every function returns a tile_status, TILE_OK or what went wrong, of which
// tile_last_error_*() tell the rest; but those that cannot fail return what they are asked: of
// versions, names and the last error. After an error the process and the device stay usable, and
// what the call would have returned through its pointers is not written. No C++ exception comes
// out.
//
// Handles. tile_device, tile_stream, tile_event, tile_tensor, tile_graph, tile_library,
// tile_kernel, tile_archive and tile_function are opaque; pointers to them are names, not
// addresses. Each is given back by its release function, in any order: a tensor keeps the device
// that it is of, a graph the tensors that it uses. Releasing NULL does nothing. A handle that is
// NULL, of another kind or released is TILE_INVALID_HANDLE and names the argument.
//
// Threads. All functions may be called by any thread, for the same handle too, and a handle may be
// released while another thread uses it, whose call then still ends well. The last error and the
// line of tile_at() are of each thread. A capture is of the thread that began it.
//
// Texts are UTF-8 and end in a zero. Those that functions return belong to the library and live as
// long as the handle that they are of; those of the last error until the next error of the thread.
//
// Growth. Functions are added and never changed. Structures that begin with `size` grow at their
// end: the caller sets it to sizeof of the structure that it was compiled with, and a library does
// not touch what lies behind. Fields that are zero mean what a caller gets who does not know them.
#pragma once

#include <tile/c/Archive.h>
#include <tile/c/Argument.h>
#include <tile/c/Device.h>
#include <tile/c/Graph.h>
#include <tile/c/Library.h>
#include <tile/c/OpSignature.h>
#include <tile/c/Ops.h>
#include <tile/c/Predict.h>
#include <tile/c/Status.h>
#include <tile/c/Tensor.h>
