// Arguments of a launch, from the caller's structures.
#pragma once

#include <tile/HostArg.h>
#include <tile/c/Argument.h>

namespace tile::capi {

/// A tensor as the runtime takes it. `name` is that of the parameter, for messages. Errors: InvalidArgument for a kind
/// or dtype that is none; what a kernel cannot take is for its launch to tell.
HostArg tensorArgument(const tile_argument &argument, const char *name);

/// A number as a scalar of `dtype`. Errors: InvalidArgument for tensors, for numbers that the dtype cannot hold and for
/// reals where an integer is expected.
HostArg scalarArgument(const tile_argument &argument, DType dtype, const char *name);

} // namespace tile::capi
