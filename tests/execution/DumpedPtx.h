// The PTX of a kernel that a test has launched, for checks of the instructions chosen.
#pragma once

#include <string>

namespace tile::test {

/// Makes the runtime write its stages to a folder, if nobody has yet. Call it before the launch.
void recordPtx();

/// All PTX written for kernels of this name, one after the other; empty if there is none.
std::string ptxOf(const std::string &kernel);

} // namespace tile::test
