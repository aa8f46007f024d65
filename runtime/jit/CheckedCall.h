// Calls of ops by name, whose rules are checked before the op's own functions run.
#pragma once

#include <tile/Registry.h>

namespace tile::jit {

/// The op with `outputs` and `run` that check what the entry says of them (OpEntry).
OpEntry checked(OpEntry op);

} // namespace tile::jit
