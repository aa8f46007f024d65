// Kernels that were compiled ahead of time.
#include "base/StackArray.h"
#include "capi/Argument.h"
#include "capi/Handles.h"
#include "capi/Parameter.h"
#include "capi/Sized.h"

#include <tile/Aot.h>
#include <tile/c/Archive.h>

namespace tile::capi {

/// A function, and the texts that its handle keeps.
struct ArchivedEntry {
  ArchivedFunction function;
  std::vector<ArchivedParameter> parameters;
  std::string targets;
};

} // namespace tile::capi

using namespace tile;
using namespace tile::capi;

namespace {

ArchivedEntry entryOf(const ArchivedFunction &function) {
  ArchivedEntry entry{function, function.parameters(), ""};
  for (const std::string &target : function.targets())
    entry.targets += (entry.targets.empty() ? "" : ", ") + target;
  return entry;
}

constexpr size_t kUsualArguments = 16;

void launch(const ArchivedFunction &function, tile_stream *stream, const tile_argument *arguments,
            size_t count) {
  auto object = at(stream, "stream");
  required(arguments, count, "arguments");
  const detail::KernelRecord &record = function.record();
  if (count != record.params.size())
    refuse(ErrorCode::InvalidArgument, "function '" + function.name() + "' takes " +
                                           std::to_string(record.params.size()) +
                                           " arguments, got " + std::to_string(count));
  base::StackArray<HostArg, kUsualArguments> args(count);
  for (size_t i = 0; i < count; ++i) {
    const detail::ParamSpec &spec = record.params[i];
    const char *name = record.paramNames[i].c_str();
    args[i] = spec.kind == detail::ParamSpec::Scalar
                  ? scalarArgument(arguments[i], spec.dtype, name)
                  : tensorArgument(arguments[i], name);
  }
  function.launch(CallSite(*object, here()), args);
}

const ArchivedFunction &embedded(const unsigned char *bytes, size_t size, const char *name) {
  return detail::embeddedFunction(required(bytes, "bytes"), size, required(name, "name"));
}

} // namespace

tile_status tile_archive_open(const char *path, tile_archive **archive) {
  return guarded([&] {
    required(archive, "archive");
    *archive = give<tile_archive>(KernelArchive::open(required(path, "path"), here()));
  });
}

tile_status tile_archive_read(const void *bytes, size_t size, const char *source,
                              tile_archive **archive) {
  return guarded([&] {
    required(archive, "archive");
    required(bytes, size, "bytes");
    *archive = give<tile_archive>(KernelArchive::of({static_cast<const std::byte *>(bytes), size},
                                                    required(source, "source"), here()));
  });
}

tile_status tile_archive_release(tile_archive *archive) {
  return guarded([&] { release(archive); });
}

tile_status tile_archive_function_count(tile_archive *archive, size_t *count) {
  return guarded([&] {
    auto object = at(archive, "archive");
    *required(count, "count") = object->names().size();
  });
}

tile_status tile_archive_function_at(tile_archive *archive, size_t index,
                                     tile_function **function) {
  return guarded([&] {
    auto object = at(archive, "archive");
    required(function, "function");
    std::vector<std::string> names = object->names();
    if (index >= names.size())
      refuseIndex(index, names.size(), "functions");
    *function = give<tile_function>(entryOf(object->function(names[index], here())));
  });
}

tile_status tile_archive_function(tile_archive *archive, const char *name,
                                  tile_function **function) {
  return guarded([&] {
    auto object = at(archive, "archive");
    required(function, "function");
    *function = give<tile_function>(entryOf(object->function(required(name, "name"), here())));
  });
}

tile_status tile_function_release(tile_function *function) {
  return guarded([&] { release(function); });
}

tile_status tile_function_info(tile_function *function, tile_function_description *description) {
  return guarded([&] {
    auto object = at(function, "function");
    tile_function_description known = {};
    known.name = object->function.name().c_str();
    known.targets = object->targets.c_str();
    known.parameters = static_cast<int32_t>(object->parameters.size());
    known.constants = static_cast<int32_t>(object->function.constants().size());
    writeSized(description, "description", known);
  });
}

tile_status tile_function_parameter(tile_function *function, size_t index,
                                    tile_parameter_description *parameter) {
  return guarded([&] {
    auto object = at(function, "function");
    if (index >= object->parameters.size())
      refuseIndex(index, object->parameters.size(), "parameters");
    const ArchivedParameter &known = object->parameters[index];
    writeParameter(parameter, known.name, {known.kind, known.dtype, known.rank});
  });
}

tile_status tile_function_constant(tile_function *function, size_t index, const char **name,
                                   int64_t *value) {
  return guarded([&] {
    auto object = at(function, "function");
    required(name, "name");
    required(value, "value");
    const auto &constants = object->function.constants();
    if (index >= constants.size())
      refuseIndex(index, constants.size(), "constants");
    *name = constants[index].first.c_str();
    *value = constants[index].second;
  });
}

tile_status tile_function_launch(tile_function *function, tile_stream *stream,
                                 const tile_argument *arguments, size_t argument_count) {
  return guarded(
      [&] { launch(at(function, "function")->function, stream, arguments, argument_count); });
}

tile_status tile_function_prepare(tile_function *function, tile_device *device) {
  return guarded([&] {
    auto object = at(function, "function");
    object->function.prepare(*at(device, "device"), here());
  });
}

tile_status tile_embedded_launch(const unsigned char *bytes, size_t size, const char *name,
                                 tile_stream *stream, const tile_argument *arguments,
                                 size_t argument_count) {
  return guarded([&] { launch(embedded(bytes, size, name), stream, arguments, argument_count); });
}

tile_status tile_embedded_prepare(const unsigned char *bytes, size_t size, const char *name,
                                  tile_device *device) {
  return guarded([&] { embedded(bytes, size, name).prepare(*at(device, "device"), here()); });
}
