// Collects the PTX of a test program through TILE_DUMP and gives it to ptxas when the tests are
// over. Kernels are merged into a few files: starting ptxas costs more than most kernels do.
#include "tests/execution/Assembly.h"

#include "tests/Ptxas.h"
#include "tests/execution/Findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tile::test {

namespace {

namespace fs = std::filesystem;

constexpr size_t kKernelsPerFile = 64;

std::string read(const fs::path &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// The text without debug lines, and, but for the first part of a file, without what a file has once.
std::string withoutLines(const std::string &ptx, bool isFirst) {
  std::istringstream lines(ptx);
  std::string part;
  for (std::string line; std::getline(lines, line);) {
    size_t start = line.find_first_not_of(" \t");
    auto begins = [&](const char *word) {
      return start != std::string::npos && line.compare(start, std::string(word).size(), word) == 0;
    };
    bool isDebug = begins(".loc\t") || begins(".loc ") || begins(".file") || begins(".section");
    bool isHead = begins(".version") || begins(".target") || begins(".address_size") ||
                  begins(".extern .shared");
    if (!isDebug && (isFirst || !isHead))
      part += line + "\n";
  }
  return part;
}

/// The kernel as one of many of a file: under the name k<number>, without debug lines, and, but for
/// the first, without what a file has once.
std::string asPart(std::string ptx, const std::string &kernel, size_t number, bool isFirst) {
  std::string name = "k" + std::to_string(number);
  replaceAll(ptx, kernel + "_param_", name + "_param_");
  replaceAll(ptx, ".entry " + kernel + "(", ".entry " + name + "(");
  if (ptx.find(".func") != ptx.npos) // functions that the kernel calls: kernel__name
    ptx = std::regex_replace(ptx, std::regex("\\b" + kernel + "__"), name + "__");
  std::smatch function; // those of the library, which are called where inlining them would be long
  std::regex defined("\\.func\\s+(?:\\([^)]*\\)\\s*)?(_Z\\w+)");
  std::set<std::string> functions;
  for (std::string rest = ptx; std::regex_search(rest, function, defined); rest = function.suffix())
    functions.insert(function[1]);
  for (const std::string &each : functions)
    ptx = std::regex_replace(ptx, std::regex("\\b" + each + "\\b"), name + each);
  std::smatch table; // the tables of math functions
  std::regex declared("\\.const [^\n\\[]*?(\\w+)\\[");
  std::vector<std::string> tables;
  for (std::string rest = ptx; std::regex_search(rest, table, declared); rest = table.suffix())
    tables.push_back(table[1]);
  for (const std::string &each : tables)
    replaceAll(ptx, each, name + "_" + each);
  replaceAll(ptx, "tile_text_", name + "_text_");
  return withoutLines(ptx, isFirst);
}

/// What the kernel is made of, whatever its name and target.
std::string codeOf(std::string ptx, const std::string &kernel) {
  replaceAll(ptx, kernel, "kernel");
  return withoutLines(ptx, /*isFirst=*/false);
}

class Gate : public ::testing::Environment {
public:
  explicit Gate(Spills spills) : spills_(spills) {}

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
  }

  void TearDown() override {
    if (folder_.empty())
      return;
    std::vector<Merged> merged = merge();
    std::vector<std::future<void>> runs;
    for (const auto &[file, targets] : merged)
      for (const std::string &target : targets) {
        if (runs.size() >= 2)
          runs[runs.size() - 2].wait();
        runs.push_back(std::async(std::launch::async, [=, this] { assemble(file, target); }));
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
    std::vector<std::string> targets; ///< that it is assembled for
  };

  /// The kernels that the tests compiled.
  std::vector<Kernel> collect() const {
    std::vector<Kernel> kernels;
    for (const auto &found : fs::recursive_directory_iterator(folder_)) {
      if (found.path().filename() != "5-kernel.ptx")
        continue;
      std::string ptx = read(found.path());
      std::smatch entry, target;
      if (!std::regex_search(ptx, entry, std::regex("\\.entry ([^(\\s]+)\\("))) {
        ADD_FAILURE() << found.path() << " has no entry";
        continue;
      }
      EXPECT_FALSE(std::regex_search(ptx, std::regex("\\.target[^\\n]*debug"))) << found.path();
      std::regex_search(ptx, target, std::regex("\\.target\\s+([a-z0-9_]+)"));
      kernels.push_back({ptx, entry[1], target[1]});
    }
    return kernels;
  }

  /// Writes the kernels found into files of kKernelsPerFile that have the same targets, and returns those. What is compiled
  /// for sm_80 must be fit for later machines as well; where a kernel compiled for sm_90a has the same text, it is.
  std::vector<Merged> merge() {
    struct Open {
      std::ofstream file;
      size_t kernels = 0;
    };
    std::vector<Kernel> kernels = collect();
    std::set<std::string> ofHopper;
    for (const Kernel &kernel : kernels)
      if (kernel.target == "sm_90a")
        ofHopper.insert(codeOf(kernel.ptx, kernel.entry));
    std::vector<Merged> merged;
    std::map<std::vector<std::string>, Open> openFiles;
    for (const Kernel &kernel : kernels) {
      std::vector<std::string> targets = {kernel.target};
      if (kernel.target == "sm_80" && !ofHopper.contains(codeOf(kernel.ptx, kernel.entry)))
        targets.push_back("sm_90a");
      Open &open = openFiles[targets];
      bool isFirst = open.kernels++ % kKernelsPerFile == 0;
      if (isFirst) {
        merged.push_back({folder_ / ("merged-" + std::to_string(merged.size())), targets});
        open.file = std::ofstream(merged.back().file);
      }
      open.file << asPart(kernel.ptx, kernel.entry, origins_.size(), isFirst);
      origins_.push_back(kernel.ptx.substr(kernel.ptx.find(".entry"), 60));
    }
    return merged;
  }

  void assemble(const fs::path &file, const std::string &target) {
    std::string command =
        "'" + ptxas_ + "' -v -arch=" + target + " -o /dev/null '" + file.string() + "' 2>&1";
    FILE *pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr) << command;
    std::string log;
    std::array<char, 4096> part;
    while (size_t size = fread(part.data(), 1, part.size(), pipe))
      log.append(part.data(), size);
    EXPECT_EQ(pclose(pipe), 0) << target << ": " << log.substr(0, 2000);
    std::istringstream lines(log);
    std::string kernel;
    for (std::string line; std::getline(lines, line);) {
      if (size_t at = line.find("Function properties for k"); at != std::string::npos)
        kernel = origins_[std::stoul(line.substr(at + 25))];
      bool spilled = line.find(" spill stores") != std::string::npos &&
                     line.find(" 0 bytes spill stores") == std::string::npos;
      // Kernels compiled without the optional passes need more registers; that is what the passes are for.
      bool isWhole = std::getenv("TILE_BISECT") == nullptr;
      EXPECT_FALSE(spilled && isWhole && spills_ == Spills::Forbidden)
          << kernel << " for " << target << ":" << line;
      // What it says of tensor core instructions that it made wait for each other, or for an instruction of its own.
      EXPECT_EQ(line.find("(C75"), std::string::npos) << kernel << " for " << target << ":" << line;
    }
  }

  Spills spills_;
  std::string ptxas_;
  fs::path folder_;
  std::vector<std::string> origins_; ///< of each kernel, the start of its entry
};

} // namespace

bool assembleEverything(Spills spills) {
  return ::testing::AddGlobalTestEnvironment(new Gate(spills)) != nullptr;
}

} // namespace tile::test
