// Single instructions before two judges: the virtual GPU, and ptxas where it is installed.
#pragma once

#include "tests/Ptxas.h"
#include "tests/runtime/vgpu/Kernels.h"

#include <algorithm>
#include <array>
#include <set>
#include <unistd.h>

namespace tile::vgpu {

struct Level {
  std::string target;
  int version;
  bool operator<(const Level &other) const {
    return std::tie(target, version) < std::tie(other.target, other.version);
  }
};

inline const Level kHighest = {"sm_90a", 88};

struct Case {
  Level least;
  std::string instruction;
};

inline std::string versionText(int version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

// Lines of "sm_80 7.0|instruction".
inline std::vector<Case> readCases() {
  std::ifstream file(TILE_TEST_REQUIREMENTS);
  EXPECT_TRUE(file);
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    size_t space = line.find(' '), bar = line.find('|');
    Level least{line.substr(0, space), line[space + 1] * 10 + line[space + 3] - '0' * 11};
    cases.push_back({least, line.substr(bar + 1)});
  }
  return cases;
}

// A kernel of these instructions, one a line from line `kFirstLine` on.
inline constexpr int kFirstLine = 11;
inline std::string kernelOf(const Level &level, const std::vector<std::string> &instructions) {
  bool isWide = std::ranges::any_of(
      instructions, [](const std::string &text) { return text.find("%q") != text.npos; });
  std::string ptx = ".version " + versionText(level.version) + "\n.target " + level.target +
                    "\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
                    ".visible .entry k(.param .u64 p) {\n.reg .pred %p<9>;" +
                    (isWide ? " .reg .b128 %q<3>;" : "") +
                    "\n.reg .b16 %h<33>;\n.reg .b32 %r<200>; .reg .b64 %d<33>;\n"
                    ".reg .f32 %f<33>; .reg .f64 %e<9>;\nld.param.u64 %d0, [p];\n";
  for (const std::string &instruction : instructions)
    ptx += instruction + "\n";
  return ptx + "ret;\n}\n";
}

// The virtual GPU's objection to an instruction at a level; empty if there is none.
inline std::string objection(const Level &level, const std::string &instruction) {
  device::VirtualOptions options;
  options.target = "sm_90a";
  auto device = device::openVirtual(options);
  try {
    std::string ptx = kernelOf(level, {instruction});
    device->functionInfo(device->getFunction(device->loadModule(ptx, {}, "test.ptx"), "k"));
  } catch (const Error &error) {
    EXPECT_EQ(error.line(), kFirstLine) << instruction;
    return error.message();
  }
  return "";
}

class Assembler : public testing::Test {
protected:
  void SetUp() override {
    ptxas_ = test::findPtxas();
    if (ptxas_.empty())
      GTEST_SKIP() << "there is no ptxas";
    std::string pattern = testing::TempDir() + "requirements-XXXXXX";
    file_ = std::string(mkdtemp(pattern.data())) + "/k.ptx";
  }
  void TearDown() override {
    if (!file_.empty()) {
      unlink(file_.c_str());
      rmdir(file_.substr(0, file_.rfind('/')).c_str());
    }
  }

  // Which of the instructions ptxas objects to, by index.
  std::set<size_t> objections(const Level &level, const std::vector<std::string> &instructions) {
    std::ofstream(file_) << kernelOf(level, instructions);
    std::string command = ptxas_ + " -arch=" + level.target + " -o /dev/null " + file_ + " 2>&1";
    FILE *output = popen(command.c_str(), "r");
    std::set<size_t> lines;
    std::array<char, 4096> line;
    while (fgets(line.data(), line.size(), output)) {
      std::string text = line.data();
      size_t at = text.find(", line ");
      bool counts =
          at != text.npos && text.find("Advisory") == text.npos && text.find("error") != text.npos;
      if (counts)
        lines.insert(static_cast<size_t>(std::atoi(text.c_str() + at + 7) - kFirstLine));
    }
    pclose(output);
    return lines;
  }

  std::string ptxas_, file_;
};

} // namespace tile::vgpu
