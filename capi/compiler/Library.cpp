// Libraries of kernels, and what their kernels are.
#include "capi/Dtype.h"
#include "capi/Handles.h"
#include "capi/Sized.h"
#include "capi/compiler/LoadedLibrary.h"
#include "capi/compiler/ParameterNames.h"

#include <tile/c/Library.h>

#include <algorithm>

using namespace tile;
using namespace tile::capi;
using detail::ParamSpec;

namespace {

LoadedKernel named(Record record) {
  std::vector<std::string> names = parameterNamesOf(*record);
  return {std::move(record), std::move(names)};
}

int32_t numberOf(ParamSpec::Kind kind) {
  switch (kind) {
  case ParamSpec::In:
    return TILE_IN;
  case ParamSpec::Out:
    return TILE_OUT;
  case ParamSpec::InOut:
    return TILE_IN_OUT;
  case ParamSpec::Scalar:
    return TILE_SCALAR;
  case ParamSpec::Const:
    return TILE_CONST;
  }
  return 0;
}

[[noreturn]] void refuseIndex(size_t index, size_t count, const char *what) {
  refuse(ErrorCode::InvalidArgument, "index " + std::to_string(index) + ": there are " +
                                         std::to_string(count) + " " + what + ", from 0 on");
}

} // namespace

tile_status tile_library_open(const char *path, tile_library **library) {
  return guarded([&] {
    required(path, "path");
    required(library, "library");
    *library = give<tile_library>(LoadedLibrary::open(path));
  });
}

tile_status tile_library_release(tile_library *library) {
  return guarded([&] { release(library); });
}

tile_status tile_library_kernel_count(tile_library *library, size_t *count) {
  return guarded([&] {
    auto object = at(library, "library");
    *required(count, "count") = object->kernels().size();
  });
}

tile_status tile_library_kernel_at(tile_library *library, size_t index, tile_kernel **kernel) {
  return guarded([&] {
    auto object = at(library, "library");
    required(kernel, "kernel");
    if (index >= object->kernels().size())
      refuseIndex(index, object->kernels().size(), "kernels");
    *kernel = give<tile_kernel>(named(object->kernels()[index]));
  });
}

tile_status tile_library_kernel(tile_library *library, const char *name, tile_kernel **kernel) {
  return guarded([&] {
    auto object = at(library, "library");
    required(name, "name");
    required(kernel, "kernel");
    *kernel = give<tile_kernel>(named(object->kernel(name)));
  });
}

tile_status tile_kernel_release(tile_kernel *kernel) {
  return guarded([&] { release(kernel); });
}

tile_status tile_kernel_info(tile_kernel *kernel, tile_kernel_description *description) {
  return guarded([&] {
    auto object = at(kernel, "kernel");
    const detail::KernelRecord &record = *object->record;
    tile_kernel_description known = {};
    known.name = record.name.c_str();
    known.file = record.where.file;
    known.line = record.where.line;
    known.parameters = static_cast<int32_t>(record.params.size());
    known.constants =
        static_cast<int32_t>(std::ranges::count(record.params, ParamSpec::Const, &ParamSpec::kind));
    known.is_tuned = record.tuning != nullptr;
    writeSized(description, "description", known);
  });
}

tile_status tile_kernel_parameter(tile_kernel *kernel, size_t index,
                                  tile_parameter_description *parameter) {
  return guarded([&] {
    auto object = at(kernel, "kernel");
    if (index >= object->names.size())
      refuseIndex(index, object->names.size(), "parameters");
    const ParamSpec &spec = object->record->params[index];
    tile_parameter_description known = {};
    known.name = object->names[index].c_str();
    known.kind = numberOf(spec.kind);
    known.dtype = capi::numberOf(spec.dtype);
    known.rank = spec.kind == ParamSpec::Const || spec.kind == ParamSpec::Scalar ? 0 : spec.rank;
    writeSized(parameter, "parameter", known);
  });
}
