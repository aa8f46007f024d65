// What is told of a parameter of a kernel.
#pragma once

#include <tile/c/Argument.h>
#include <tile/detail/KernelRecord.h>

#include <string>

namespace tile::capi {

/// `name` belongs to whoever has the parameter.
void writeParameter(tile_parameter_description *target, const std::string &name,
                    const detail::ParamSpec &spec);

/// Throws InvalidArgument: there are `count` of what is counted.
[[noreturn]] void refuseIndex(size_t index, size_t count, const char *what);

} // namespace tile::capi
