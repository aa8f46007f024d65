#include "tools/tilec/input/HostCompiler.h"

#include "base/Environment.h"
#include "base/UserLibrary.h"
#include "tools/tilec/Child.h"

#include <tile/Error.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tile::tilec {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone with the object.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code fault;
    std::string name = (fs::temp_directory_path(fault) / "tilec-XXXXXX").string();
    if (fault || !mkdtemp(name.data()))
      throw Error(Fault::User, ErrorCode::IoError,
                  "cannot make a temporary folder: " +
                      (fault ? fault.message() : std::strerror(errno)));
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  fs::path path;
};

/// include/ beside the bin/ of this program: so it is in a build folder and once installed.
std::string includeFolder() {
  std::error_code fault;
  fs::path program = fs::read_symlink("/proc/self/exe", fault);
  fs::path folder = program.parent_path().parent_path() / "include";
  if (fault || !fs::exists(folder / "tile" / "tile.h", fault))
    throw Error(Fault::User, ErrorCode::ToolMissing,
                "the headers of tilec are not where it is installed: there is no " +
                    (folder / "tile" / "tile.h").string());
  return folder.string();
}

/// The exit code of a program, -1 if it could not be started.
int runProgram(const std::vector<std::string> &words) {
  std::vector<char *> argv;
  for (const std::string &word : words)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0)
    return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status)
         : WIFEXITED(status)                             ? -1
                                                         : 128 + WTERMSIG(status);
}

std::vector<std::string> wordsOf(const std::string &text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

void compile(const std::string &file, const std::string &library) {
  std::string named = base::environmentText("CXX");
  std::vector<std::string> compilers = {"c++", "g++", "clang++"};
  if (!named.empty())
    compilers = {named};
  for (const std::string &compiler : compilers) {
    std::vector<std::string> words = wordsOf(compiler); // CXX may be "ccache g++"
    for (const char *word : {"-std=c++20", "-O1", "-shared", "-fPIC"})
      words.push_back(word);
    words.push_back("-I" + includeFolder());
    for (const std::string &word : wordsOf(base::environmentText("TILE_CXXFLAGS")))
      words.push_back(word);
    words.insert(words.end(), {"-o", library, file});
    int code = runProgram(words);
    if (code > 0)
      throw Error(Fault::User, ErrorCode::Parse,
                  compiler + " does not compile '" + file + "' (exit code " + std::to_string(code) +
                      ")");
    if (code == 0)
      return;
  }
  throw Error(Fault::User, ErrorCode::ToolMissing,
              "kernels in C++ need a compiler, g++ 12 or clang 16 and later; there is no " +
                  (named.empty() ? "c++, g++ or clang++ in PATH" : "'" + named + "' (CXX)"));
}

/// Of this process: the library compiled last, whose file has no name any more, and the one that need not be compiled.
int openLibrary = -1;
std::string expectedLibrary;

// An earlier one stays open: the loader knows libraries by their names, here by the number of the file.
void keepOpen(const std::string &library) {
  openLibrary = open(library.c_str(), O_RDONLY | O_CLOEXEC);
  if (openLibrary < 0)
    throw Error(Fault::User, ErrorCode::IoError,
                "cannot read '" + library + "': " + std::strerror(errno));
}

/// The file whose static variables are being made, which is the user's code: it may end the process.
std::string loading;

void tellExitWhileLoading() {
  if (loading.empty())
    return;
  std::cerr << "error: cannot load '" << loading << "': a static variable of it ends the process\n";
  _exit(kBadInput);
}

void load(const std::string &library, const std::string &shown) {
  static const int registered = std::atexit(tellExitWhileLoading);
  static_cast<void>(registered);
  loading = shown;
  try {
    base::loadUserLibrary(library, shown);
  } catch (...) {
    loading.clear();
    throw;
  }
  loading.clear();
}

} // namespace

std::string compiledLibrary() {
  return openLibrary < 0
             ? ""
             : "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(openLibrary);
}

void expectCompiled(const std::string &library) { expectedLibrary = library; }

void loadSource(const std::string &file) {
  if (!expectedLibrary.empty() && access(expectedLibrary.c_str(), R_OK) == 0)
    return load(expectedLibrary, file);
  {
    TemporaryFolder folder; // gone before the file's own code runs, which may crash or never end
    std::string library = (folder.path / "kernels.so").string();
    compile(file, library);
    keepOpen(library);
  }
  load(compiledLibrary(), file);
}

void loadLibrary(const std::string &file) {
  load(fs::absolute(file).string(), file); // a name without '/' would be looked up elsewhere
}

} // namespace tile::tilec
