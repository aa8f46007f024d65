// Modules of the CUDA device: machine code first, PTX where that does not fit, and what a function is.
#include "tests/runtime/device/fakecuda/FakeDevice.h"

#include <cstring>

namespace tile::device {
namespace {

using Images = std::vector<std::string>;
constexpr const char *kLoad = "cuModuleLoadDataEx";
constexpr int kInvalidImage = 200, kNoBinaryForGpu = 209, kInvalidPtx = 218,
              kJitCompilerNotFound = 221, kUnsupportedPtxVersion = 222;

TEST_F(FakeCuda, MachineCodeIsPreferred) {
  Module module = device->loadModule(kKernels, cubinOf(kKernels));
  EXPECT_EQ(fakeCudaImages(), Images{"cubin"});
  EXPECT_NO_THROW(device->getFunction(module, "scale"));
}

TEST_F(FakeCuda, MachineCodeThatDoesNotFitIsReplacedByPtx) {
  for (int result : {kNoBinaryForGpu, kInvalidImage}) {
    fakeCudaReset();
    fakeCudaFail(kLoad, 1, result);
    EXPECT_NO_THROW(device->loadModule(kKernels, cubinOf(kKernels)));
    EXPECT_EQ(fakeCudaImages(), (Images{"cubin", "ptx"}));
  }
}

TEST_F(FakeCuda, TheAssemblersLogSurvivesTheAttemptWithMachineCode) {
  fakeCudaFail(kLoad, 1, kNoBinaryForGpu);
  fakeCudaFail(kLoad, 2, kInvalidPtx);
  expectError(
      ErrorCode::Parse,
      {"loading wrong.ptx", "CUDA_ERROR_INVALID_PTX (218)", "fake ptxas: the text was refused"},
      [&] { device->loadModule(kKernels, cubinOf(kKernels), "wrong.ptx"); });
}

TEST_F(FakeCuda, WrongPtxIsTheCompilersFault) {
  try {
    device->loadModule("nonsense", {}, "wrong.ptx");
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.fault(), Fault::Compiler);
    ASSERT_EQ(error.notes().size(), 1u);
    EXPECT_EQ(error.notes()[0], "fake ptxas: no .version or no .target");
  }
  EXPECT_NO_THROW(device->loadModule(kKernels));
}

TEST_F(FakeCuda, OtherFaultsOfLoadingAreNotTheCompilers) {
  const std::pair<int, ErrorCode> cases[] = {{2, ErrorCode::OutOfMemory},
                                             {kJitCompilerNotFound, ErrorCode::ToolMissing},
                                             {kUnsupportedPtxVersion, ErrorCode::Unsupported}};
  for (auto [result, code] : cases) {
    fakeCudaFail(kLoad, 1, result);
    try {
      device->loadModule(kKernels, {}, "good.ptx");
      FAIL() << result;
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_EQ(error.fault(), Fault::Device) << error.what();
      EXPECT_NE(error.message().find("good.ptx"), std::string::npos) << error.what();
    }
  }
}

TEST_F(FakeCuda, PtxThatIsTooNewSaysWhatToDo) {
  fakeCudaFail(kLoad, 1, kUnsupportedPtxVersion);
  expectError(ErrorCode::Unsupported, {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "update the driver"},
              [&] { device->loadModule(kKernels); });
  fakeCudaFail(kLoad, 1, kNoBinaryForGpu);
  expectError(ErrorCode::Unsupported, {"CUDA_ERROR_NO_BINARY_FOR_GPU"},
              [&] { device->loadModule("", cubinOf(kKernels)); });
}

TEST_F(FakeCuda, PtxNeedNotEndInZero) {
  std::string text = std::string(kKernels) + "garbage after the view";
  EXPECT_NO_THROW(device->loadModule(std::string_view(text).substr(0, std::strlen(kKernels))));
}

TEST_F(FakeCuda, UnknownKernelsAreListedWithTheKnown) {
  Module module = device->loadModule(kKernels, {}, "two.ptx");
  expectError(ErrorCode::InvalidArgument, {"two.ptx", "'scales'", "its kernels are scale, nothing"},
              [&] { device->getFunction(module, "scales"); });
  expectError(ErrorCode::InvalidArgument, {"has no kernel ''"}, [&] {
    device->getFunction(device->loadModule(".version 8.0 .target sm_80 .entry"), "");
  });
}

TEST_F(FakeCuda, FunctionsAreDescribed) {
  FunctionInfo info = device->functionInfo(scale());
  EXPECT_EQ(info.name, "scale");
  EXPECT_EQ(info.paramSizes, (std::vector<size_t>{8, 4, 2, 24}));
  EXPECT_EQ(info.staticSharedBytes, 4096u);
  EXPECT_EQ(info.localBytes, 16u);
  EXPECT_EQ(info.registers, 40);
  EXPECT_EQ(info.maxThreadsPerBlock, 1024);
}

TEST_F(FakeCuda, LookingUpAKernelAsksNothingThatFails) {
  Module module = device->loadModule(kKernels);
  for (const char *name : {"scale", "nothing"})
    device->functionInfo(device->getFunction(module, name));
  EXPECT_EQ(timesCalled("cuFuncGetParamInfo"), 4u);
  EXPECT_EQ(fakeCudaFailedCalls(), std::vector<std::string>());
}

// How many parameters there are is not known, and no call that may fail asks for it.
TEST_F(FakeCuda, KernelsOfACubinAloneAreLaunchedUnchecked) {
  Function function = device->getFunction(device->loadModule("", cubinOf(kKernels)), "scale");
  EXPECT_TRUE(device->functionInfo(function).paramSizes.empty());
  EXPECT_EQ(timesCalled("cuFuncGetParamInfo"), 0u);
  uint64_t pointer = 0;
  float factor = 1;
  uint16_t half = 0;
  unsigned char bytes[24] = {};
  std::vector<Arg> arguments = {{&pointer, 8}, {&factor, 4}, {&half, 2}, {bytes, 24}};
  EXPECT_NO_THROW(device->launch(function, {}, arguments));
  EXPECT_EQ(fakeCudaFailedCalls(), std::vector<std::string>());
}

TEST_F(FakeCuda, UnloadedModulesAndTheirFunctionsAreInvalid) {
  Module module = device->loadModule(kKernels);
  Function function = device->getFunction(module, "nothing");
  device->unloadModule(module);
  fakeCudaReset();
  expectError(ErrorCode::InvalidHandle, {"has been unloaded"},
              [&] { device->launch(function, {}, {}); });
  expectError(ErrorCode::InvalidHandle, {"has been unloaded"},
              [&] { device->functionInfo(function); });
  expectError(ErrorCode::InvalidHandle, {"module"}, [&] { device->unloadModule(module); });
  expectError(ErrorCode::InvalidHandle, {"module"},
              [&] { device->getFunction(module, "nothing"); });
  EXPECT_EQ(fakeCudaCalls(), std::vector<std::string>());
}

} // namespace
} // namespace tile::device
