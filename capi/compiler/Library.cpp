// Libraries of kernels, and what their kernels are.
#include "capi/Dtype.h"
#include "capi/Handles.h"
#include "capi/Parameter.h"
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
  LoadedKernel kernel{record, parameterNamesOf(*record), {}, {}};
  for (size_t i = 0; i < kernel.names.size(); ++i) {
    bool isConstant = kernel.record->params[i].kind == detail::ParamSpec::Const;
    (isConstant ? kernel.constantNames : kernel.argumentNames).push_back(kernel.names[i]);
  }
  return kernel;
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
    writeParameter(parameter, object->names[index], object->record->params[index]);
  });
}
