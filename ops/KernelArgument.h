// An argument of a kernel as an operand, for rules that hold before there are tensors: of examples and of what is tuned.
#pragma once

#include <tile/ops/Operand.h>

namespace tile::ops {

struct KernelArgument {
  HostArg arg;
  friend HostArg toHostArg(const KernelArgument &argument) { return argument.arg; }
};

} // namespace tile::ops
