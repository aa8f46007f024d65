// What a compile leaves behind: dumps of its stages, machine code, errors that say whose fault it
// is.
#include "runtime/jit/Compile.h"
#include "codegen/report/KernelReport.h"
#include "runtime/toolchain/Assemble.h"
#include "tests/runtime/jit/Devices.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <locale>
#include <sstream>

using namespace tile;
using namespace tile::test;
namespace fs = std::filesystem;

namespace {

auto copy = kernel("copy_rows", [](In<f32, 1> x, Out<f32, 1> y, Const block) {
  Value i = grid1d(y, {block});
  y.tile({block})(i) = x.tile({block})(i);
});

KernelRequest request(int block) {
  return {copy.consts(block), {exampleView(f32, {1024}), exampleView(f32, {1024})}};
}

/// A folder and an environment variable, both gone with the object.
class DumpFolder {
public:
  explicit DumpFolder(const std::string &value = "") {
    path = fs::temp_directory_path() / ("tile-dump-test-" + std::to_string(getpid()));
    setenv("TILE_DUMP", value.empty() ? path.c_str() : value.c_str(), 1);
  }
  ~DumpFolder() {
    unsetenv("TILE_DUMP");
    fs::remove_all(path);
  }
  fs::path path;
};

TEST(Compile, DumpsNumberedStages) {
  DumpFolder folder;
  codegen::CompiledKernel kernel = jit::compileRequest(request(128), {});
  std::vector<fs::path> kernels(fs::directory_iterator(folder.path), {});
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_TRUE(kernels[0].filename().string().starts_with("copy_rows-"));
  std::vector<std::string> names;
  for (const fs::directory_entry &entry : fs::directory_iterator(kernels[0]))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"1-tile.mlir", "2-tilegpu.mlir", "3-llvm.mlir",
                                             "4-kernel.ll", "5-kernel.ptx"}));
  std::ifstream file(kernels[0] / "5-kernel.ptx");
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text, kernel.ptx);
}

TEST(Compile, DumpsForSeveralTargetsStandSideBySide) {
  DumpFolder folder;
  for (const char *target : {"sm_80", "sm_90a"})
    jit::compileRequest(request(128), {.target = target});
  std::vector<fs::path> kernels(fs::directory_iterator(folder.path), {});
  EXPECT_EQ(kernels.size(), 2u);
}

TEST(Compile, SurvivesDumpsThatCannotBeWritten) {
  DumpFolder folder("/proc/no/such/folder");
  testing::internal::CaptureStderr();
  EXPECT_FALSE(jit::compileRequest(request(64), {}).ptx.empty());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("warning: TILE_DUMP"), std::string::npos);
}

/// PTX without the lines that name source lines.
std::string codeOf(const std::string &ptx) {
  std::istringstream lines(ptx);
  std::string code;
  for (std::string line; std::getline(lines, line);)
    if (line.find(".loc\t") == line.npos && line.find(".file\t") == line.npos)
      code += line + "\n";
  return code;
}

TEST(Compile, ADumpedStageCompilesToTheSameCode) {
  codegen::CompileOptions options;
  options.keepStages = true;
  codegen::CompiledKernel kernel = jit::compileRequest(request(128), options);
  codegen::CompiledKernel again = jit::compileText(kernel.stages.front().second, "stage.mlir", {});
  EXPECT_EQ(codeOf(again.ptx), codeOf(kernel.ptx));
}

/// Numbers as in German: 1.000,5.
struct GermanNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

auto third = kernel("third", [](In<f32, 1> x, Out<f32, 1> y) {
  Value i = grid1d(y, {4096});
  y.tile({4096})(i) = x.tile({4096})(i) * 0.333f + 12345.5f;
});

TEST(Compile, NumbersDoNotDependOnTheLocale) {
  codegen::CompileOptions options;
  options.keepStages = true;
  KernelRequest wanted(third, {exampleView(f32, {100000}), exampleView(f32, {100000})});
  codegen::CompiledKernel expected = jit::compileRequest(wanted, options);
  std::locale before = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  codegen::CompiledKernel german = jit::compileRequest(wanted, options);
  std::locale::global(before);
  EXPECT_EQ(german.ptx, expected.ptx);
  EXPECT_EQ(german.stages, expected.stages);
}

TEST(Compile, TextThatIsNoModuleIsTheUsersFault) {
  Error error = errorOf([] { jit::compileText("module {\n  what\n}", "bad.mlir", {}); });
  EXPECT_EQ(error.code(), ErrorCode::Parse);
  EXPECT_EQ(error.file(), "bad.mlir");
  EXPECT_EQ(error.line(), 2);
  EXPECT_EQ(errorOf([] { jit::compileText("module {}", "empty.mlir", {}); }).code(),
            ErrorCode::InvalidArgument);
  codegen::CompileOptions options;
  options.target = "sm_1";
  EXPECT_EQ(errorOf([&] { jit::compileRequest(request(128), options); }).code(),
            ErrorCode::InvalidArgument);
}

TEST(Compile, TextThatAPassRefusesIsTheUsersFault) {
  Error error = errorOf([] {
    jit::compileText("func.func @f() attributes {tile.kernel, tile.warps = 4 : i32} {\n"
                     "  tilegpu.order_wait\n"
                     "  return\n"
                     "}\n",
                     "order.mlir", {});
  });
  EXPECT_EQ(error.fault(), Fault::User) << error.what();
  EXPECT_EQ(error.code(), ErrorCode::Verify);
  EXPECT_EQ(error.file(), "order.mlir");
  EXPECT_EQ(error.line(), 2);
}

auto namedAsTheDrivers = kernel("vprintf", [](Out<f32, 1> y, Const block) {
  device_print("block");
  y.tile({block})(grid1d(y, {block})) = zeros(f32, {block});
});

TEST(Compile, ANameThatTheDriverHasIsTheUsersToChange) {
  Error error = errorOf([] {
    jit::compileRequest({namedAsTheDrivers.consts(32), {exampleView(f32, {32})}}, {});
  });
  EXPECT_EQ(error.fault(), Fault::User) << error.what();
  EXPECT_NE(error.message().find("another function of that name; rename it"), std::string::npos)
      << error.what();
}

auto wide = kernel("wide", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c) {
  auto [m, n] = grid2d(c, {64, 64});
  auto sums = var(zeros(f32, {64, 64}));
  for (auto k : range(cdiv(a.dim(1), 1024)))
    sums = dot(a.tile({64, 1024})(m, k), b.tile({1024, 64})(k, n), sums);
  c.tile({64, 64})(m, n) = sums;
});

TEST(Compile, ResourcesThatTheTargetLacksAreTheUsersToChange) {
  std::vector<detail::HostArg> args = {exampleView(f16, {512, 2048}), exampleView(f16, {2048, 512}),
                                       exampleView(f32, {512, 512})};
  Error shared = errorOf([&] { jit::compileRequest({wide.warps(16), args}, {}); });
  EXPECT_EQ(shared.code(), ErrorCode::ResourceExceeded) << shared.what();
  EXPECT_EQ(shared.fault(), Fault::User);
  EXPECT_TRUE(shared.message().starts_with("shared memory: ")) << shared.what();
  EXPECT_NE(shared.file().find("CompileTest.cpp"), std::string::npos) << shared.what();
  std::string text = shared.what();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_NE(text.find("most for a tile of "), std::string::npos) << text;
  EXPECT_EQ(text.find("smem<"), std::string::npos) << text;
}

auto idle = kernel("idle", [](In<f32, 1> x, Out<f32, 1> y, Out<f32, 1> z, Out<f32, 1> w) {
              Value i = grid1d(y, {64});
              auto sum = var(zeros(f32, {64}));
              for (auto k : range(x.dim(0)).stages(3))
                sum += x.tile({64})(k);
              for (auto k : range(x.dim(0)).stages(1))
                if_(k > 3, [&] { store(w.ptr() + arange(64), sum); });
              Value unused = reshape(z.ptr() + arange(64), {8, 8});
              y.tile({64})(i) = sum + cast(f32, z.dim(0));
            }).named("x", "y", "z", "w");

TEST(Compile, RemarksSayWhatIsIgnoredOrLeftUndone) {
  std::vector<detail::HostArg> args(4, exampleView(f32, {512}));
  codegen::CompiledKernel kernel = jit::compileRequest({idle, args}, {});
  ASSERT_EQ(kernel.remarks.size(), 2u);
  EXPECT_EQ(kernel.remarks[0].message,
            "output 'z' is never stored to: its tensor keeps what it holds");
  EXPECT_EQ(kernel.remarks[1].message,
            "stages: 3 asked, 1 given: no product of its body depends on what it loads");
  EXPECT_GT(kernel.remarks[1].line, kernel.remarks[0].line);
}

auto deep = kernel("deep", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c) {
  auto [m, n] = grid2d(c, {128, 128});
  auto sums = var(zeros(f32, {128, 128}));
  for (auto k : range(cdiv(a.dim(1), 64)).stages(8))
    sums = dot(a.tile({128, 64})(m, k), b.tile({64, 128})(k, n), sums);
  c.tile({128, 128})(m, n) = sums;
});

TEST(Compile, StagesThatDoNotFitAreLeftOutAndARemarkSaysSo) {
  std::vector<detail::HostArg> args = {exampleView(f16, {512, 512}), exampleView(f16, {512, 512}),
                                       exampleView(f32, {512, 512})};
  codegen::CompiledKernel kernel = jit::compileRequest({deep, args}, {.target = "sm_80"});
  ASSERT_EQ(kernel.remarks.size(), 1u);
  EXPECT_EQ(kernel.remarks[0].message,
            "stages: 8 asked, 5 given: more do not fit in shared memory");
  EXPECT_LE(kernel.sharedBytes, 163 * 1024);
}

TEST(Compile, LoopsAreRotatedOrARemarkSaysWhyNot) {
  auto rotated = kernel("rotated", [](In<f16, 2> q, In<f16, 2> k, In<f16, 2> v, Out<f32, 2> out,
                                      ConstOf<bool> chained) {
    Value queries = q.tile({64, 32})(0, 0);
    auto sums = var(zeros(f32, {64, 32}));
    for (auto j : range(cdiv(k.dim(0), 32)).overlap_dots()) {
      Value scores = dot(queries, k.T().tile({32, 32})(0, j));
      sums = chained ? dot(cast(f16, exp2(scores)), v.tile({32, 32})(j, 0), sums) : sums + scores;
    }
    out.tile({64, 32})(0, 0) = sums;
  });
  auto compile = [&](bool chained) {
    return jit::compileRequest({rotated.consts(chained),
                                {exampleView(f16, {64, 32}), exampleView(f16, {512, 32}),
                                 exampleView(f16, {512, 32}), exampleView(f32, {64, 32})}},
                               {.keepReport = true});
  };
  codegen::CompiledKernel chain = compile(true), alone = compile(false);
  EXPECT_TRUE(chain.remarks.empty());
  EXPECT_TRUE(chain.report->loops.at(0).skewed);
  ASSERT_EQ(alone.remarks.size(), 1u);
  EXPECT_EQ(
      alone.remarks[0].message,
      "overlap_dots: the loop stays as it is: no product of its body that depends on loads alone "
      "comes before one that does not");
  EXPECT_FALSE(alone.report->loops.at(0).skewed);
}

TEST(Compile, AWarpOfItsOwnLoadsOrARemarkSaysWhyNot) {
  auto specialized =
      kernel("specialized", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> out, ConstOf<bool> meets) {
        auto sums = var(zeros(f32, {128, 64}));
        for (auto k : range(cdiv(a.dim(1), 64)).warp_specialize())
          sums = dot(a.tile({128, 64})(0, k), b.tile({64, 64})(k, 0), sums);
        if (meets)
          debug_barrier();
        out.tile({128, 64})(0, 0) = sums;
      });
  auto compile = [&](const char *target, int warps, bool meets) {
    codegen::CompileOptions options;
    options.target = target;
    options.keepReport = true;
    return jit::compileRequest(
        {specialized.consts(meets).warps(warps),
         {exampleView(f16, {128, 512}), exampleView(f16, {512, 64}), exampleView(f32, {128, 64})}},
        options);
  };
  codegen::CompiledKernel kernel = compile("sm_90a", 8, false);
  EXPECT_TRUE(kernel.remarks.empty());
  EXPECT_TRUE(kernel.report->loops.at(0).hasProducer);
  EXPECT_EQ(kernel.report->loops.size(), 1u);
  EXPECT_EQ(kernel.threads, 12 * 32);
  auto expectRefused = [&](const char *target, int warps, bool meets, const std::string &why) {
    codegen::CompiledKernel refused = compile(target, warps, meets);
    ASSERT_EQ(refused.remarks.size(), 1u);
    EXPECT_EQ(refused.remarks[0].message, "warp_specialize: the loop stays as it is: " + why);
    EXPECT_FALSE(refused.report->loops.at(0).hasProducer);
    EXPECT_EQ(refused.threads, warps * 32);
  };
  expectRefused("sm_80", 8, false, "threads load some of what its products read");
  expectRefused("sm_90a", 8, true, "the kernel has a barrier, or code that may have one");
  expectRefused("sm_90a", 2, false,
                "the kernel has 2 warps, not groups of four that leave room for 4 more");
}

// --- Assembling ----------------------------------------------------------------------------------

class Assemble : public testing::Test {
protected:
  void SetUp() override {
    if (!jit::findPtxas())
      GTEST_SKIP() << "there is no ptxas";
  }
  void TearDown() override { unsetenv("TILE_PTXAS"); }
};

TEST_F(Assemble, TurnsPtxIntoWholeElfFiles) {
  std::vector<std::byte> cubin = jit::assemble(jit::compileRequest(request(128), {}).ptx, "sm_80");
  EXPECT_TRUE(jit::isWholeCubin(cubin));
  cubin.resize(cubin.size() - 100);
  EXPECT_FALSE(jit::isWholeCubin(cubin));
  EXPECT_FALSE(jit::isWholeCubin({}));
}

TEST_F(Assemble, ReportsWhatTheProgramSays) {
  Error error = errorOf([] { jit::assemble(".version 8.0\n.target sm_80\nnonsense", "sm_80"); });
  EXPECT_EQ(error.code(), ErrorCode::ToolFailed);
  ASSERT_FALSE(error.notes().empty());
  EXPECT_NE(error.notes()[0].find("nonsense"), std::string::npos) << error.what();
}

TEST_F(Assemble, NoticesProgramsThatLieOrCrash) {
  std::string ptx = jit::compileRequest(request(128), {}).ptx;
  setenv("TILE_PTXAS", "/bin/true", 1);
  EXPECT_EQ(errorOf([&] { jit::assemble(ptx, "sm_80"); }).code(), ErrorCode::IoError);
  setenv("TILE_PTXAS", "/bin/false", 1);
  EXPECT_EQ(errorOf([&] { jit::assemble(ptx, "sm_80"); }).code(), ErrorCode::ToolFailed);
}

TEST_F(Assemble, OtherRoutesWhereTheProgramIsMissing) {
  std::string ptx = jit::compileRequest(request(128), {}).ptx;
  setenv("TILE_PTXAS", "/usr", 1); // a folder
  EXPECT_FALSE(jit::findPtxas());
  if (jit::nvJitLinkVersion().empty()) {
    Error error = errorOf([&] { jit::assemble(ptx, "sm_80"); });
    EXPECT_EQ(error.code(), ErrorCode::ToolMissing);
    EXPECT_TRUE(jit::assembleForDevice(ptx, "sm_80", 80).empty()) << "the driver compiles then";
    return;
  }
  EXPECT_TRUE(jit::isWholeCubin(jit::assemble(ptx, "sm_80")));
  EXPECT_EQ(errorOf([&] { jit::assemble(".version 8.0\nnonsense", "sm_80"); }).code(),
            ErrorCode::ToolFailed);
  EXPECT_TRUE(jit::isWholeCubin(jit::assemble(ptx, "sm_80")))
      << "a failure leaves the library usable";
  Error error = errorOf([&] { jit::assemble(ptx + "// setmaxnreg", "sm_80"); });
  EXPECT_EQ(error.code(), ErrorCode::ToolMissing) << "nvJitLink drops setmaxnreg";
}

} // namespace
