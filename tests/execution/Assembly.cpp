// Collects the PTX of a test program through TILE_DUMP and gives it to ptxas when the tests are
// over. Kernels are merged into a few files: starting ptxas costs more than most kernels do. What it has
// accepted before it is not given again.
#include "tests/execution/Assembly.h"

#include "tests/Ptxas.h"
#include "tests/execution/AcceptedKernels.h"
#include "tests/execution/Findings.h"
#include "tests/execution/MergedPtx.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tile::test {

namespace {

namespace fs = std::filesystem;

constexpr size_t kKernelsPerFile = 32; // whose tables of constants stay below 64 KB together

std::string read(const fs::path &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Runs a command; its output is added to `log`.
int outputOf(const std::string &command, std::string &log) {
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe)
    return -1;
  std::array<char, 4096> part;
  while (size_t size = fread(part.data(), 1, part.size(), pipe))
    log.append(part.data(), size);
  return pclose(pipe);
}

class Gate : public ::testing::Environment {
public:
  explicit Gate(Spills spills, Share share) : spills_(spills), share_(share) {}

  void SetUp() override {
    if (const char *model = std::getenv("TILE_VGPU_MODEL"); model && *model)
      return; // the same kernels as under no model
    if (isChildOfATest()) {
      unsetenv("TILE_DUMP"); // the parent's folder
      return;
    }
    if (const char *dump = std::getenv("TILE_DUMP"); dump && *dump)
      return; // whoever set it wants the kernels there
    ptxas_ = findPtxas();
    if (ptxas_.empty()) {
      std::printf("[  SKIPPED ] no ptxas: the PTX of these tests is not assembled\n");
      return;
    }
    std::string pattern = ::testing::TempDir() + "tile-ptx-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("TILE_DUMP", folder_.c_str(), 1);
    setenv("TILE_DUMP_STAGES", "ptx",
           1); // the others take long to print; kernels of the cache are dumped, too
  }

  void TearDown() override {
    if (folder_.empty())
      return;
    std::string version;
    EXPECT_EQ(outputOf("'" + ptxas_ + "' --version", version), 0) << version;
    accepted_.emplace(version);
    std::vector<Merged> merged = merge();
    std::vector<std::future<void>> runs;
    for (const Merged &each : merged) {
      if (runs.size() >= 2)
        runs[runs.size() - 2].wait();
      runs.push_back(std::async(std::launch::async, [&each, this] { assemble(each); }));
    }
    for (std::future<void> &run : runs)
      run.get();
    fs::remove_all(folder_);
    unsetenv("TILE_DUMP"); // tests that are repeated collect anew
    folder_.clear();
  }

private:
  struct Kernel {
    std::string ptx, entry, target;
  };
  struct Merged {
    fs::path file;
    std::string target;
    std::vector<AcceptedKernels::Key> keys; ///< of its kernels
  };

  /// The kernels that the tests compiled.
  std::vector<Kernel> collect() const {
    std::vector<Kernel> kernels;
    for (const auto &found : fs::recursive_directory_iterator(folder_)) {
      if (found.path().filename() != "5-kernel.ptx")
        continue;
      std::string ptx = read(found.path());
      std::string entry = entryOf(ptx), target = targetLineOf(ptx);
      if (entry.empty()) {
        ADD_FAILURE() << found.path() << " has no entry";
        continue;
      }
      EXPECT_EQ(target.find("debug"), target.npos) << found.path();
      kernels.push_back({ptx, entry, target.substr(0, target.find_first_of(", "))});
    }
    return kernels;
  }

  /// What is compiled for sm_80 must be fit for later machines as well: of those kernels one in eight is assembled for both,
  /// always the same ones, which finds what such texts have in common in an eighth of the time. Without the optional passes
  /// the same kernels come once more, larger: one in four is assembled.
  std::vector<std::string> targetsOf(const Kernel &kernel, const std::string &code) const {
    size_t number = std::hash<std::string>()(code);
    if (lacksPasses())
      return number % 4 == 0 ? std::vector<std::string>{kernel.target} : std::vector<std::string>{};
    if (share_ == Share::Half && number / 8 % 2 && !isAllWanted())
      return {};
    return kernel.target == "sm_80" && number % 8 == 0
               ? std::vector<std::string>{kernel.target, "sm_90a"}
               : std::vector<std::string>{kernel.target};
  }

  /// Writes the kernels found, but for those that were accepted before, into files of kKernelsPerFile.
  std::vector<Merged> merge() {
    std::vector<Merged> merged;
    std::map<std::pair<std::string, std::string>, std::pair<size_t, std::ofstream>> open;
    std::set<AcceptedKernels::Key> seen;
    std::vector<Kernel> kernels = collect();
    // Where a kernel compiled for sm_90a has the same text as one for sm_80, it speaks for both.
    std::ranges::sort(kernels, std::greater(), &Kernel::target);
    for (const Kernel &kernel : kernels) {
      std::string code = codeOf(kernel.ptx, kernel.entry);
      for (const std::string &target : targetsOf(kernel, code)) {
        AcceptedKernels::Key key = keyOf(code, target);
        if (accepted_->contains(key) || !seen.insert(key).second)
          continue;
        auto &[at, file] = open[{kernel.target, target}]; // whose number in `merged` is `at`
        bool isFirst = !file.is_open() || merged[at].keys.size() == kKernelsPerFile;
        if (isFirst) {
          at = merged.size();
          merged.push_back({folder_ / ("merged-" + std::to_string(at)), target, {}});
          file = std::ofstream(merged[at].file);
        }
        file << asPart(kernel.ptx, kernel.entry, origins_.size(), isFirst);
        merged[at].keys.push_back(key);
        origins_.push_back(kernel.ptx.substr(kernel.ptx.find(".entry"), 60));
      }
    }
    return merged;
  }

  /// Whether registers may be spilled. Kernels compiled without the optional passes need more of them; that is what the
  /// passes are for.
  bool mayBeSpilled() const { return spills_ == Spills::Allowed || lacksPasses(); }

  static bool isAllWanted() {
    const char *wanted = std::getenv("TILE_ASSEMBLE");
    return wanted && std::string_view(wanted) == "all";
  }

  static bool lacksPasses() { return std::getenv("TILE_BISECT") != nullptr; }

  AcceptedKernels::Key keyOf(const std::string &code, const std::string &target) const {
    return AcceptedKernels::keyOf(code, target + (mayBeSpilled() ? ", spills" : ""));
  }

  void assemble(const Merged &merged) {
    const std::string &target = merged.target;
    std::string log;
    // Where spills are allowed nobody asks how good the code is: whether it is accepted shows in the least that allocates
    // registers across a kernel, in three quarters of the time.
    std::string level = mayBeSpilled() ? "-O1" : "-O3";
    int status = outputOf("'" + ptxas_ + "' -v " + level + " -arch=" + target + " -o /dev/null '" +
                              merged.file.string() + "'",
                          log);
    EXPECT_EQ(status, 0) << target << ": " << log.substr(0, 2000);
    bool isAccepted = status == 0;
    std::istringstream lines(log);
    std::string kernel;
    for (std::string line; std::getline(lines, line);) {
      if (size_t at = line.find("Function properties for k"); at != std::string::npos)
        kernel = origins_[std::stoul(line.substr(at + 25))];
      bool isSpilled = line.find(" spill stores") != std::string::npos &&
                       line.find(" 0 bytes spill stores") == std::string::npos;
      // What it says of tensor core instructions that it made wait for each other, or for an instruction of its own.
      bool hasWaits = line.find("(C75") != std::string::npos;
      if (hasWaits || (isSpilled && !mayBeSpilled())) {
        ADD_FAILURE() << kernel << " for " << target << ":" << line;
        isAccepted = false;
      }
    }
    std::lock_guard lock(mutex_);
    if (isAccepted)
      accepted_->add(merged.keys);
  }

  std::mutex mutex_;
  std::optional<AcceptedKernels> accepted_;
  Spills spills_;
  Share share_;
  std::string ptxas_;
  fs::path folder_;
  std::vector<std::string> origins_; ///< of each kernel, the start of its entry
};

} // namespace

bool assembleEverything(Spills spills, Share share) {
  return ::testing::AddGlobalTestEnvironment(new Gate(spills, share)) != nullptr;
}

} // namespace tile::test
