// Launches that must fail, on every device.
//
// An assertion of a kernel ends a GPU's context, and with it all that the process does there afterwards. So such a launch
// happens in a child process, one of GoogleTest's death tests: the program is started again, runs the test up to the
// launch and says what it got. The virtual GPU goes on, and its launches need no child.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tile::test {

/// Expects an error with all of `parts` in its text, or on a GPU in what the driver prints.
void expectFinding(const std::string &device, const std::function<void()> &launch,
                   const std::vector<std::string> &parts);

/// As expectFinding, but always in a child process, for launches that spoil the device.
void expectFindingInChild(const std::function<void()> &launch,
                          const std::vector<std::string> &parts);

/// True in a child process that one of these functions has started.
bool isChildOfATest();

} // namespace tile::test
