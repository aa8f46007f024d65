#include "tools/tilec/Child.h"

#include "base/AddressSpace.h"
#include "base/AtomicFile.h"
#include "base/Environment.h"
#include "codegen/Reproducer.h"

#include <tile/Error.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tile::tilec {
namespace {

using Clock = std::chrono::steady_clock;

constexpr rlim_t kMaxMemory = rlim_t(16) << 30;

/// Seconds a compile may take: TILE_COMPILE_SECONDS, else two minutes.
int timeLimit() {
  return static_cast<int>(base::environmentInteger("TILE_COMPILE_SECONDS", 120, 1, 1000000));
}

void limit(int resource, rlim_t value) {
  rlimit bounds = {value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &bounds);
}

/// Replaces this process. Only calls that are allowed between fork and exec.
[[noreturn]] void becomeChild(char *const *argv, ChildKind kind, bool isQuiet) {
  if (kind == ChildKind::Compile) {
    setpgid(0, 0); // and so out of reach of what stops the parent
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    base::boundAddressSpace(kMaxMemory);
  }
  if (int null = isQuiet ? open("/dev/null", O_WRONLY) : -1; null >= 0)
    dup2(null, STDOUT_FILENO), dup2(null, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
  execv("/proc/self/exe", argv);
  _exit(127);
}

/// The status of the child, or nothing when time is up; then it is killed with all it started.
bool waitFor(pid_t child, ChildKind kind, int &status) {
  if (kind == ChildKind::Run) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return true;
  }
  auto deadline = Clock::now() + std::chrono::seconds(timeLimit());
  for (auto pause = std::chrono::microseconds(500);;
       pause = std::min(pause * 2, std::chrono::microseconds(20000))) {
    pid_t done = waitpid(child, &status, WNOHANG);
    if (done == child)
      return true;
    if ((done < 0 && errno != EINTR) || Clock::now() > deadline) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(pause);
  }
}

std::string commandLine(const std::vector<std::string> &arguments) {
  std::string text = "tilec";
  for (const std::string &argument : arguments)
    if (argument != "--in-child")
      text += " '" + argument + "'";
  return text + "\n";
}

/// Keeps what is needed to see the failure again; returns the folder, empty if it cannot be
/// written.
std::string writeReproducer(const std::vector<std::string> &arguments, const std::string &input) {
  namespace fs = std::filesystem;
  std::error_code fault;
  fs::path folder = fs::temp_directory_path(fault) / ("tilec-crash-" + std::to_string(getpid()));
  fs::create_directories(folder, fault);
  if (!input.empty() && !fault)
    fs::copy_file(input, folder / fs::path(input).filename(), fs::copy_options::overwrite_existing,
                  fault);
  if (fault)
    return {};
  try {
    base::writeFile((folder / "command.txt").string(), commandLine(arguments));
  } catch (const Error &) {
    return {};
  }
  return folder.string();
}

int reportDeath(const std::string &what, const std::string &folder) {
  std::cerr << "tilec: error: " << what << "; this is a fault of tilec, please report it\n";
  if (!folder.empty())
    std::cerr << "  note: a reproducer is in " << folder << "\n";
  return kInternal;
}

/// Runs this program with the arguments; `isQuiet` drops what it writes. The status is not
/// meaningful when time was up.
bool runOnce(const std::vector<std::string> &arguments, ChildKind kind, bool isQuiet, int &status) {
  std::vector<char *> argv = {const_cast<char *>("tilec")};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  std::cout.flush();
  pid_t child = fork();
  if (child < 0)
    throw Error(Fault::User, ErrorCode::IoError,
                std::string("cannot start a compile process: ") + std::strerror(errno));
  if (child == 0)
    becomeChild(argv.data(), kind, isQuiet);
  return waitFor(child, kind, status);
}

/// The compiler crashed: runs it once more with the IR kept before each step. What is left then is
/// the IR that the crashing step was given.
void keepCrash(std::vector<std::string> arguments, const std::string &folder) {
  if (folder.empty())
    return;
  std::string file = folder + "/before-the-crash.mlir";
  arguments.insert(arguments.begin() + 1, {"--reproducer", file}); // after the command
  int status = 0;
  runOnce(arguments, ChildKind::Compile, true, status);
  if (std::string how = codegen::howToReproduce(file); !how.empty())
    std::cerr << "  note: to see it again: " << how << "\n";
}

} // namespace

ExitCode exitCodeOf(const Error &error) {
  if (error.fault() == Fault::Compiler)
    return kInternal;
  switch (error.code()) {
  case ErrorCode::Unsupported:
  case ErrorCode::ToolMissing:
  case ErrorCode::NoDevice:
    return kUnsupported;
  case ErrorCode::DeviceFinding:
  case ErrorCode::DeviceAssert:
  case ErrorCode::DeviceLost:
  case ErrorCode::ContextLost:
    return kFinding;
  case ErrorCode::OutOfMemory: // what the machine lacks is no fault of the kernel
    return kBadInput;
  default:
    return error.fault() == Fault::Device ? kFinding : kBadInput;
  }
}

int runInChild(const std::vector<std::string> &arguments, const std::string &input,
               ChildKind kind) {
  int status = 0;
  if (!runOnce(arguments, kind, false, status))
    return reportDeath("the compile did not end within " + std::to_string(timeLimit()) +
                           " s and was stopped",
                       writeReproducer(arguments, input));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 127)
    return WEXITSTATUS(status);
  if (WIFEXITED(status))
    return reportDeath("the compile process could not start", "");
  std::string signal = strsignal(WTERMSIG(status));
  if (kind == ChildKind::Run) {
    std::cerr << "tilec: error: the process that ran the kernel crashed (" << signal << ")\n";
    return kInternal;
  }
  std::string folder = writeReproducer(arguments, input);
  reportDeath("the compiler crashed (" + signal + ")", folder);
  keepCrash(arguments, folder);
  return kInternal;
}

} // namespace tile::tilec
