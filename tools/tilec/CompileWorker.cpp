// tilec compile-worker: the process in which others have their kernels compiled.
#include "runtime/jit/CompileWorker.h"

#include "tools/tilec/Commands.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace tile::tilec {

void addCompileWorker(CLI::App &app, std::function<int()> &chosen) {
  CLI::App *command = app.add_subcommand("compile-worker", "")->group("");
  auto megabytes = std::make_shared<int64_t>(0);
  command->add_option("--megabytes", *megabytes)->required()->check(CLI::PositiveNumber);
  command->callback(
      [megabytes, &chosen] { chosen = [megabytes] { return jit::runCompileWorker(*megabytes); }; });
}

} // namespace tile::tilec
