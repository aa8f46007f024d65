// A kernel is the same, and so is what is wrong with it, wherever it is compiled.
#include "tests/runtime/jit/isolated/Isolated.h"
#include "codegen/compiled/KernelFacts.h"

#include <unistd.h>

using namespace tile;
using namespace tile::test;

namespace {

// Of the first test that runs: the program sets the mode later.
const CompileMode modeAtStart = compileMode();

TEST(IsolatedMode, IsWhatTheEnvironmentSays) {
  const char *text = std::getenv("TILE_COMPILE");
  bool isAsked = text && std::string(text) == "isolated";
  EXPECT_EQ(modeAtStart, isAsked ? CompileMode::Isolated : CompileMode::InProcess);
  setCompileMode(CompileMode::InProcess);
  EXPECT_EQ(compileMode(), CompileMode::InProcess);
}

// Of ops that name their kernel, which are the largest.
TEST_F(Isolated, KernelsOfOpsAreTheSame) {
  for (const std::string &name : opNames())
    for (const char *target : {"sm_80", "sm_90a"}) {
      if (findOp(name)->example)
        continue;
      codegen::CompileOptions options;
      options.target = target;
      KernelRequest request = findOp(name)->kernel({});
      setCompileMode(CompileMode::InProcess);
      codegen::CompiledKernel here = jit::compileRequest(request, options);
      setCompileMode(CompileMode::Isolated);
      codegen::CompiledKernel there = jit::compileRequest(request, options);
      EXPECT_EQ(here.ptx, there.ptx) << name << " for " << target;
      EXPECT_EQ(codegen::factsOf(here), codegen::factsOf(there)) << name << " for " << target;
    }
}

TEST_F(Isolated, LaunchesWork) {
  constexpr int64_t kCount = 1000;
  Device device = Device::open("virtual");
  auto a = device.tensor<float>({kCount}), b = device.tensor<float>({kCount});
  a.fill(41);
  shifted.consts(32)(device.stream(), a, b);
  EXPECT_EQ(b.download()[kCount - 1], 42);
}

void expectSame(const Error &here, const Error &there) {
  EXPECT_EQ(here.fault(), there.fault());
  EXPECT_STREQ(nameOf(here.code()), nameOf(there.code()));
  EXPECT_EQ(here.message(), there.message());
  EXPECT_EQ(here.file(), there.file());
  EXPECT_EQ(here.line(), there.line());
  EXPECT_EQ(here.notes(), there.notes());
  EXPECT_STREQ(here.what(), there.what());
}

void expectSameError(ErrorCode code, const std::function<void()> &compile) {
  setCompileMode(CompileMode::InProcess);
  Error here = errorOf(compile);
  setCompileMode(CompileMode::Isolated);
  Error there = errorOf(compile);
  EXPECT_STREQ(nameOf(here.code()), nameOf(code)) << here.what();
  EXPECT_NE(here.file().find("IsolatedTest.cpp"), std::string::npos) << here.what();
  expectSame(here, there);
}

TEST_F(Isolated, ErrorsOfKernelsAreTheSameWithTheirLinesAndNotes) {
  static const auto large = kernel("too_large", [](In<f32, 2> a, In<f32, 2> b, Out<f32, 2> c) {
    auto sums = var(zeros(f32, {128, 128}));
    for (auto k : range(cdiv(a.dim(1), 256)).stages(4))
      sums = dot(a.tile({128, 256})(0, k), b.tile({256, 128})(k, 0), sums);
    c.tile({128, 128})(0, 0) = sums;
  });
  expectSameError(ErrorCode::ResourceExceeded, [] {
    std::vector<HostArg> arguments(3, exampleView(f32, {1024, 1024}));
    jit::compileRequest({large.grid(1), arguments}, {});
  });
  static const auto spilling = kernel("spilling", [](In<f32, 2> a, Out<f32, 2> b) {
    b.tile({256, 1024})(0, 0) = sort(a.tile({256, 1024})(0, 0), 1);
  });
  expectSameError(ErrorCode::ResourceExceeded, [] {
    std::vector<HostArg> arguments(2, exampleView(f32, {1024, 1024}));
    jit::compileRequest({spilling.grid(1), arguments}, {});
  });
}

TEST_F(Isolated, WhatTheCompilerPrintsIsPrinted) {
  Variable timed("TILE_TIME_PASSES", "1");
  testing::internal::CaptureStderr();
  compiledPtx();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("ms  shifted"), std::string::npos);
}

} // namespace
