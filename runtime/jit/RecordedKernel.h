// The kernel of an op that does not name it: the op is run on a virtual GPU with the kernels left out, and asked which they were.
#pragma once

#include <tile/Registry.h>

namespace tile::jit {

/// One of the kernels that the op launches for inputs as in its example, the first unless the setting `launch` says another;
/// its arguments have no memory. Errors: InvalidArgument if there are fewer; those of the op.
KernelRequest recordedKernel(const OpEntry &op, const OpSettings &settings);

} // namespace tile::jit
