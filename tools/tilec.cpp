// tilec, the command: builds kernels without a device, runs ops on files, tells what is installed.
//
// Exit codes: 0 fine, 1 a finding of the checkers or the device, 2 usage or bad input, 3
// unsupported or not installed, 70 a fault of tilec itself.
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/tune/Worker.h"

#include <tile/Error.h>
#include <tile/Version.h>

#include <CLI/CLI.hpp>

#include <cerrno>
#include <csignal>
#include <iostream>

#include <fcntl.h>
#include <unistd.h>

namespace tile::tilec {
namespace {

/// A closed standard stream must not become the number of a file that is opened next. Reading from these yields nothing,
/// writing to them fails.
void occupyStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDONLY) < 0)
      std::abort();
}

/// Flushes standard output; if that fails, says so by the exit code.
int finished(int code) {
  if (code != kOk || std::cout.flush())
    return code;
  std::cerr << "error: cannot write to standard output\n";
  return kBadInput;
}

/// A first word that is no command, or behind one that has commands of its own; the parser would say only that a command is
/// missing.
bool refuseUnknownCommand(const CLI::App &app, int argc, char **argv) {
  std::string word = argc > 1 ? argv[1] : "", known;
  if (word.empty() || word[0] == '-')
    return false;
  for (const CLI::App *command : app.get_subcommands({})) {
    if (command->check_name(word))
      return !command->get_subcommands({}).empty() &&
             refuseUnknownCommand(*command, argc - 1, argv + 1);
    if (!command->get_group().empty()) // for users
      known += (known.empty() ? "" : ", ") + command->get_name();
  }
  std::cerr << "error: '" << word << "' is no command; there are " << known << "\n";
  return true;
}

int runChosen(const std::function<int()> &chosen) {
  try {
    return finished(chosen());
  } catch (const Error &error) {
    std::cerr << error.what() << "\n";
    return exitCodeOf(error);
  } catch (const std::bad_alloc &) {
    std::cerr << "error: out of memory\n";
    return kBadInput;
  } catch (const std::exception &error) {
    std::cerr << "error: " << error.what() << "; this is a fault of tilec, please report it\n";
    return kInternal;
  }
}

} // namespace

int mainOf(int argc, char **argv) {
  // A reader that closes early and a limit on file sizes are errors of writing, not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  occupyStandardStreams();
  CLI::App app("tilec: compile and run tile kernels", "tilec");
  app.require_subcommand(1);
  app.set_version_flag("--version", "tilec " TILE_VERSION_STRING);
  std::function<int()> chosen;
  addBuild(app, chosen);
  addAot(app, chosen);
  addRun(app, chosen);
  addExplain(app, chosen);
  addCache(app, chosen);
  addOps(app, chosen);
  addTune(app, chosen);
  addTime(app, chosen);
  addTuneWorker(app, chosen);
  addCompileWorker(app, chosen);
  addDoctor(app, chosen);
  if (refuseUnknownCommand(app, argc, argv))
    return kBadInput;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return finished(app.exit(error) == 0 ? kOk : kBadInput);
  }
  return runChosen(chosen);
}

} // namespace tile::tilec

int main(int argc, char **argv) { return tile::tilec::mainOf(argc, argv); }
