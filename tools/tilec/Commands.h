// The commands of tilec. Each registers itself with the command line and returns an exit code when
// chosen.
#pragma once

#include <functional>

namespace CLI {
class App;
} // namespace CLI

namespace tile::tilec {

/// Adds a command; what it is to do is stored in `chosen` when the user names it.
void addBuild(CLI::App &app, std::function<int()> &chosen);
void addAot(CLI::App &app, std::function<int()> &chosen);
void addRun(CLI::App &app, std::function<int()> &chosen);
void addExplain(CLI::App &app, std::function<int()> &chosen);
void addCache(CLI::App &app, std::function<int()> &chosen);
void addOps(CLI::App &app, std::function<int()> &chosen);
void addTime(CLI::App &app, std::function<int()> &chosen);
void addTune(CLI::App &app, std::function<int()> &chosen);
/// Compiles for another process (runtime/jit/CompileWorker.h); it is not for users, and not in the help.
void addCompileWorker(CLI::App &app, std::function<int()> &chosen);
void addDoctor(CLI::App &app, std::function<int()> &chosen);

} // namespace tile::tilec
