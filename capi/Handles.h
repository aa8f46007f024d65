// The handles of the C API: names of shared objects in one table, so that every word a caller may pass is looked up and
// none is followed.
//
// A word holds a mark, the kind, the place in the table and how often that place was taken before; a handle that was
// released never means its successor. Lookups lock the place alone and take a share of the object: a call that has
// looked a handle up is not disturbed by its release.
#pragma once

#include <tile/Error.h>

#include <cstddef>
#include <cstdint>
#include <memory>

struct tile_archive;
struct tile_device;
struct tile_event;
struct tile_function;
struct tile_graph;
struct tile_kernel;
struct tile_library;
struct tile_prediction;
struct tile_stream;
struct tile_tensor;

namespace tile {

class Device;
class Event;
class Graph;
class KernelArchive;
class Stream;
class Tensor;

namespace capi {

struct ArchivedEntry;
struct KeptPrediction;
class LoadedLibrary;
struct LoadedKernel;

/// Part of the word: numbers are not used again.
enum class Kind : uint8_t {
  Device = 1,
  Stream,
  Event,
  Tensor,
  Graph,
  Library,
  Kernel,
  Archive,
  Function,
  Prediction
};

template <class T, Kind kind> struct NamedAs {
  using Object = T;
  static constexpr Kind kKind = kind;
};
/// What a handle's type says: the object behind it, and the kind.
template <class Handle> struct Named;
template <> struct Named<tile_device> : NamedAs<Device, Kind::Device> {};
template <> struct Named<tile_stream> : NamedAs<Stream, Kind::Stream> {};
template <> struct Named<tile_event> : NamedAs<Event, Kind::Event> {};
template <> struct Named<tile_tensor> : NamedAs<Tensor, Kind::Tensor> {};
template <> struct Named<tile_graph> : NamedAs<Graph, Kind::Graph> {};
template <> struct Named<tile_library> : NamedAs<LoadedLibrary, Kind::Library> {};
template <> struct Named<tile_kernel> : NamedAs<LoadedKernel, Kind::Kernel> {};
template <> struct Named<tile_archive> : NamedAs<KernelArchive, Kind::Archive> {};
template <> struct Named<tile_prediction> : NamedAs<KeptPrediction, Kind::Prediction> {};
template <> struct Named<tile_function> : NamedAs<ArchivedEntry, Kind::Function> {};

/// "device", "stream", ...
const char *nounOf(Kind kind);

uint64_t enter(Kind kind, std::shared_ptr<void> object);
/// The object; InvalidHandle, which calls the handle `argument`, if there is none of this kind.
std::shared_ptr<void> find(Kind kind, const void *handle, const char *argument);
/// The same for the last time.
std::shared_ptr<void> remove(Kind kind, const void *handle, const char *argument);
/// How many handles there are, of all kinds.
size_t liveHandles();

/// A handle of a new object.
template <class Handle> Handle *give(typename Named<Handle>::Object object) {
  auto shared = std::make_shared<typename Named<Handle>::Object>(std::move(object));
  return reinterpret_cast<Handle *>(enter(Named<Handle>::kKind, std::move(shared)));
}

/// The object of a handle, which the call keeps.
template <class Handle>
std::shared_ptr<typename Named<Handle>::Object> at(Handle *handle, const char *argument) {
  return std::static_pointer_cast<typename Named<Handle>::Object>(
      find(Named<Handle>::kKind, handle, argument));
}

/// Ends a handle; null is none. The object ends here unless a call still has it.
template <class Handle> void release(Handle *handle) {
  if (handle)
    remove(Named<Handle>::kKind, handle, nounOf(Named<Handle>::kKind));
}

} // namespace capi
} // namespace tile
