#include "bench/gpu/Driver.h"

#include "base/AtomicFile.h"

#include <tile/Error.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tile::bench {

namespace {

namespace fs = std::filesystem;

struct Script {
  const char *name, *text;
};
constexpr Script kScripts[] = {
#include "bench/gpu/scripts.inc"
};

/// A folder of its own, which goes with the object.
class ScratchFolder {
public:
  ScratchFolder() : path_((fs::temp_directory_path() / "gpu-bench-XXXXXX").string()) {
    if (!mkdtemp(path_.data()))
      throw Error(Fault::User, ErrorCode::IoError,
                  "cannot make the folder " + path_ + ": " + std::strerror(errno));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder &) = delete;
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

int exitCodeOf(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

void writeScripts(const std::string &folder) {
  std::error_code fault;
  fs::create_directories(folder, fault); // what went wrong, writing a file says
  for (const Script &script : kScripts)
    base::writeFile((fs::path(folder) / script.name).string(), script.text);
}

int runDriver(const std::vector<std::string> &words) {
  ScratchFolder folder;
  writeScripts(folder.path());
  std::vector<std::string> command = {"python3", "-B", folder.path(), "--program",
                                      fs::read_symlink("/proc/self/exe").string()};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<char *> argv;
  for (std::string &word : command)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  pid_t child = 0;
  if (int fault = posix_spawnp(&child, "python3", nullptr, nullptr, argv.data(), environ)) {
    std::fprintf(stderr, "error: cannot start python3, which drives the benchmark: %s\n",
                 std::strerror(fault));
    return 2;
  }
  // An interrupt is the driver's to answer: it writes down what it has, and ends.
  std::signal(SIGINT, SIG_IGN);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return exitCodeOf(status);
}

} // namespace tile::bench
