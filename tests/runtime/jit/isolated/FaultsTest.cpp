// Compiles that crash, never end or take all memory: the error, what is left to see it again, and that the next compile works.
#include "base/AddressSpace.h"
#include "runtime/jit/Isolated.h"
#include "runtime/jit/WorkerPool.h"
#include "tests/runtime/jit/isolated/Isolated.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include <unistd.h>

using namespace tile;
using namespace tile::test;
namespace fs = std::filesystem;

namespace {

/// A folder for temporary files, gone with the test.
class IsolatedFaults : public Isolated {
protected:
  void SetUp() override {
    Isolated::SetUp();
    fs::create_directories(folder);
  }
  void TearDown() override {
    EXPECT_FALSE(compiledPtx().empty()) << "the next compile";
    fs::remove_all(folder);
  }

  std::string leftFile(const std::string &name) const {
    for (const fs::directory_entry &entry : fs::recursive_directory_iterator(folder))
      if (entry.path().filename() == name)
        return entry.path().string();
    return {};
  }
  static std::string textOf(const std::string &file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  const fs::path folder =
      fs::temp_directory_path() / ("tilec-isolated-test-" + std::to_string(getpid()));
  Variable temporary{"TMPDIR", folder.string()};
};

TEST_F(IsolatedFaults, ACrashIsAnErrorWithAReproducer) {
  if (!kHasFaults)
    GTEST_SKIP();
  if (!base::kCanBoundAddressSpace)
    GTEST_SKIP() << "the address sanitizer takes the signal that would say what happened";
  auto fault = std::make_optional<Variable>("TILE_FAULT", "pass:crash@tile-assign-layouts");
  Error error = errorOf([] { compiledPtx(); });
  fault.reset();
  EXPECT_STREQ(nameOf(error.code()), "InternalCompilerError");
  EXPECT_EQ(error.fault(), Fault::Compiler);
  EXPECT_NE(error.file().find("Isolated.h"), std::string::npos) << "the kernel's place";
  EXPECT_TRUE(hasPart(error, "killed by Segmentation fault")) << error.what();
  EXPECT_TRUE(hasPart(error, "in kernel 'shifted'")) << error.what();
  std::string module = leftFile("kernel.mlir"), step = leftFile("before-the-crash.mlir");
  ASSERT_FALSE(module.empty() || step.empty()) << error.what();
  EXPECT_TRUE(hasPart(error, "tilec build " + module)) << error.what();
  EXPECT_TRUE(hasPart(error, "tile-opt --run-reproducer " + step)) << error.what();
  EXPECT_NE(textOf(step).find("tile-assign-layouts"), std::string::npos) << "the step that crashed";
  EXPECT_FALSE(jit::compileText(textOf(module), "again", {}).ptx.empty());
}

TEST_F(IsolatedFaults, ACompileThatNeverEndsIsStopped) {
  if (!kHasFaults)
    GTEST_SKIP();
  Variable fault("TILE_FAULT", "pass:hang@tile-assign-layouts"), limit("TILE_COMPILE_SECONDS", "1");
  auto begun = std::chrono::steady_clock::now();
  Error error = errorOf([] { compiledPtx(); });
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  EXPECT_STREQ(nameOf(error.code()), "Timeout");
  EXPECT_TRUE(hasPart(error, "did not end within 1 s")) << error.what();
  EXPECT_FALSE(leftFile("kernel.mlir").empty());
}

TEST_F(IsolatedFaults, ACompileThatTakesAllMemoryIsOutOfIt) {
  if (!kHasFaults)
    GTEST_SKIP();
  Variable fault("TILE_FAULT", "pass:memory@tile-assign-layouts"), limit("TILE_COMPILE_MB", "1024");
  Error error = errorOf([] { compiledPtx(); });
  EXPECT_STREQ(nameOf(error.code()), "OutOfMemory");
  EXPECT_TRUE(hasPart(error, "1024 MB that it may have")) << error.what();
}

TEST_F(IsolatedFaults, InvalidIrOfAPassIsTheErrorThatItIsInProcess) {
  if (!kHasFaults)
    GTEST_SKIP();
  Variable fault("TILE_FAULT", "pass:invalid@tile-assign-layouts");
  setCompileMode(CompileMode::InProcess);
  Error here = errorOf([] { compiledPtx(); });
  setCompileMode(CompileMode::Isolated);
  Error there = errorOf([] { compiledPtx(); });
  EXPECT_EQ(here.message(), there.message());
  EXPECT_EQ(here.line(), there.line());
  EXPECT_EQ(here.notes().size(), there.notes().size()); // the file has another name
  EXPECT_STREQ(nameOf(there.code()), "InternalCompilerError");
}

TEST_F(IsolatedFaults, CrashesInManyThreadsAreToldToEach) {
  if (!kHasFaults)
    GTEST_SKIP();
  constexpr int kThreads = 6;
  Variable fault("TILE_FAULT", "pass:crash@tile-assign-layouts");
  std::atomic<int> told = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      try {
        compiledPtx(32 << i);
      } catch (const Error &error) {
        told += error.code() == ErrorCode::InternalCompilerError;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(told, kThreads);
}

/// Whether a process of this number runs, and is no zombie.
bool isRunning(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string words((std::istreambuf_iterator<char>(file)), {});
  size_t end = words.rfind(')');
  return end != words.npos && words.substr(end, 4).find('Z') == words.npos;
}

// An assembler that hangs ends with the worker that started it.
TEST_F(IsolatedFaults, AnAssemblerThatNeverEndsIsStopped) {
  fs::path script = folder / "ptxas", note = folder / "number";
  std::ofstream(script) << "#!/bin/sh\n"
                           "case \"$*\" in *version*) echo 'release 13.0, V13.0.88'; exit;; esac\n"
                           "echo $$ > "
                        << note.string() << "\nexec sleep 1000\n";
  fs::permissions(script, fs::perms::owner_all);
  std::string ptx = compiledPtx();
  Variable assembler("TILE_PTXAS", script.string()), limit("TILE_COMPILE_SECONDS", "2");
  Error error = errorOf([&] { jit::assembleIsolated(ptx, "sm_80", 80, "shifted"); });
  EXPECT_STREQ(nameOf(error.code()), "Timeout") << error.what();
  EXPECT_FALSE(leftFile("kernel.ptx").empty());
  pid_t number = 0;
  std::ifstream(note) >> number;
  ASSERT_GT(number, 0);
  for (int i = 0; i < 500 && isRunning(number); ++i)
    usleep(10'000);
  EXPECT_FALSE(isRunning(number));
}

} // namespace
