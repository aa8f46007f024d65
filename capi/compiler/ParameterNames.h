// The names of a kernel's parameters. C++ does not tell those of a lambda, so they are read from its source.
#pragma once

#include <tile/Kernel.h>

#include <string>
#include <vector>

namespace tile::capi {

/// One name a parameter: those of named(...), else those in the source file around the kernel's line, else "arg1",
/// "arg2", ... and "C1", "C2", ... for constants.
std::vector<std::string> parameterNamesOf(const detail::KernelRecord &record);

/// The last identifiers of the lambda's parameters in `text`, the source from the line of a kernel(...) on: "A" and "BM"
/// of `[](In<f16, 2> A, Const BM) {`. Empty if it is not understood.
std::vector<std::string> lambdaParameters(const std::string &text);

} // namespace tile::capi
