// CUDA C++ functions in kernels: all types, sources side by side, libraries, and what is refused.
#include "runtime/toolchain/LinkCuda.h"
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

class InlineCuda : public OnDevice {
protected:
  void SetUp() override {
    OnDevice::SetUp();
    std::string why;
    if (jit::nvrtcVersion(&why).empty())
      GTEST_SKIP() << "no NVRTC: " << why;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, InlineCuda, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

TEST_P(InlineCuda, AFunctionOfSeveralOperandsThatBroadcast) {
  static const auto program =
      kernel("polynomial", [](In<f32, 1> x, Out<f32, 1> y, Scalar<i32> n, Const B) {
        Value i = grid1d(y, {B});
        y.tile({B})(i) = inline_cuda(R"(
      __device__ float power(float x, int n) {
        float result = 1;
        for (int i = 0; i < n; ++i)
          result *= x;
        return result;
      })",
                                     "power", {x.tile({B})(i), n}, f32);
      });
  auto x = uniform<float>(300);
  auto y = output<float>({300});
  program.consts(128)(stream, input({300}, x), y.tensor(), 3);
  expectAll(y.result(), [&](int64_t i) { return std::pow(double(x[size_t(i)]), 3); }, {0, 1e-5});
}

/// The function of that C++ type adds one (to bool: negates).
template <class T> const char *sourceFor();
#define SOURCE(T, text)                                                                            \
  template <> const char *sourceFor<T>() { return text; }
SOURCE(bool, "__device__ bool next(bool x) { return !x; }")
SOURCE(int8_t, "__device__ signed char next(signed char x) { return x + 1; }")
SOURCE(int16_t, "__device__ short next(short x) { return x + 1; }")
SOURCE(int32_t, "__device__ int next(int x) { return x + 1; }")
SOURCE(int64_t, "__device__ long long next(long long x) { return x + 1; }")
SOURCE(uint8_t, "__device__ unsigned char next(unsigned char x) { return x + 1; }")
SOURCE(uint16_t, "__device__ unsigned short next(unsigned short x) { return x + 1; }")
SOURCE(uint32_t, "__device__ unsigned next(unsigned x) { return x + 1; }")
SOURCE(uint64_t, "__device__ unsigned long long next(unsigned long long x) { return x + 1; }")
SOURCE(half, "__device__ __half next(__half x) { return __float2half(__half2float(x) + 1); }")
SOURCE(bfloat16, "__device__ __nv_bfloat16 next(__nv_bfloat16 x) { return "
                 "__float2bfloat16(__bfloat162float(x) + 1); }")
SOURCE(float, "__device__ float next(float x) { return x + 1; }")
SOURCE(double, "__device__ double next(double x) { return x + 1; }")

TEST_P(InlineCuda, EveryType) {
  auto check = [&]<class T>(T) {
    SCOPED_TRACE(nameOf(dtypeOf<T>));
    static const auto program = kernel("next", [](In<any, 1> x, Out<any, 1> y) {
      y.tile({64})(0) = inline_cuda(sourceFor<T>(), "next", {x.tile({64})(0)}, dtypeOf<T>);
    });
    std::vector<T> x;
    for (int i = 0; i < 64; ++i)
      x.push_back(static_cast<T>(std::is_same_v<T, bool> ? i % 2 : (i - 32) * 5));
    auto y = output<T>({64});
    program.grid(1)(stream, input({64}, x), y.tensor());
    expectAll(y.result(), [&](int64_t i) -> Exact<T> {
      if constexpr (std::is_same_v<T, bool>)
        return !x[size_t(i)];
      else
        return static_cast<T>(static_cast<T>(exact(x[size_t(i)]) + 1));
    });
  };
  check(false), check(int8_t()), check(int16_t()), check(int32_t()), check(int64_t());
  check(uint8_t()), check(uint16_t()), check(uint32_t()), check(uint64_t());
  check(half()), check(bfloat16()), check(0.0f), check(0.0);
}

// Both define `helper` and `table`, and both bring the library's tables for sines of large numbers.
TEST_P(InlineCuda, SourcesDoNotMeetEachOther) {
  static const auto program = kernel("two_sources", [](In<f32, 1> x, Out<f32, 2> y) {
    auto source = [](const char *scale) {
      return std::string("__device__ float table[2] = {") + scale + R"(, 1};
        __device__ __noinline__ float helper(float x) { return table[0] * sinf(x); }
        template <int N> __device__ float f(float x) { return helper(x) + N; })";
    };
    Value v = x.tile({64})(0);
    y.tile({1, 64})(0, 0) = expand_dims(inline_cuda(source("2"), "f<1>", {v}, f32), 0);
    y.tile({1, 64})(1, 0) = expand_dims(inline_cuda(source("3"), "f<1>", {v}, f32), 0);
    y.tile({1, 64})(2, 0) = expand_dims(inline_cuda(source("3"), "f<5>", {v}, f32), 0);
  });
  auto x = uniform<float>(64, -1e6, 1e6);
  auto y = output<float>({3, 64});
  program.grid(1)(stream, input({64}, x), y.tensor());
  expectAll(y.result(),
            [&](int64_t i) {
              double sine = std::sin(double(x[size_t(i % 64)]));
              return i < 64 ? 2 * sine + 1 : 3 * sine + (i < 128 ? 1 : 5);
            },
            {0, 1e-5});
}

TEST_P(InlineCuda, ImpureFunctionsRunInOrder) {
  static const auto program = kernel("impure_cuda", [](InOut<i32, 1> y) {
    y.tile({32})(0) = index(0, {32}) * 2;
    Value zero = inline_cuda("__device__ int fence(int x) { __threadfence(); return x; }", "fence",
                             {0}, i32, {.pure = false});
    y.tile({32})(0) = flip(y.tile({32})(0), 0) + zero;
  });
  auto y = output<int32_t>({32});
  program.grid(1)(stream, y.tensor());
  expectAll(y.result(), [](int64_t i) { return 2 * (31 - i); });
}

struct Refused {
  const char *name, *source, *entry;
  ErrorCode code;
  const char *words;
};

class InlineCudaRefuses : public testing::TestWithParam<Refused> {};

TEST_P(InlineCudaRefuses, AtTheCall) {
  if (jit::nvrtcVersion().empty())
    GTEST_SKIP() << "no NVRTC";
  int line = 0;
  auto program = kernel_capturing(
      GetParam().name, "refused", [&line, refused = GetParam()](In<f32, 1> x, Out<f32, 1> y) {
        line = __LINE__ + 1;
        y.tile({32})(0) = inline_cuda(refused.source, refused.entry, {x.tile({32})(0)}, f32);
      });
  Device device = Device::open("virtual");
  Stream stream = device.stream();
  auto x = device.tensor<float>({32}, std::vector<float>(32)), y = device.tensor<float>({32});
  try {
    program.grid(1)(stream, x, y);
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), GetParam().code) << error.what();
    EXPECT_EQ(error.line(), line) << error.what();
    EXPECT_NE(std::string(error.what()).find(GetParam().words), std::string::npos) << error.what();
  }
}

const std::string kLarge = "// " + std::string(size_t(2) << 20, 'x');

INSTANTIATE_TEST_SUITE_P(
    Sources, InlineCudaRefuses,
    testing::Values(
        Refused{"SyntaxError", "\n__device__ float f(float x) {\n  return x +; }", "f",
                ErrorCode::InvalidArgument, "source, line 3: expected an expression"},
        Refused{"MissingHeader", "#include <nothing.h>\n", "f", ErrorCode::InvalidArgument,
                "nothing.h"},
        Refused{"AbsoluteInclude", "#include \"/etc/passwd\"\n", "f", ErrorCode::InvalidArgument,
                "includes '/etc/passwd': absolute paths and '..' are refused"},
        Refused{"IncludeAbove", "# inc\\\nlude <x/../../y.h>\n", "f", ErrorCode::InvalidArgument,
                "absolute paths and '..' are refused"},
        Refused{"IncludeOfAMacro", "#define X \"/etc/passwd\"\n#include X\n", "f",
                ErrorCode::InvalidArgument, "an include must name its header"},
        Refused{"EndlessTemplates",
                "template <int N> __device__ float f(float x) { return f<N + 1>(x); }", "f<0>",
                ErrorCode::InvalidArgument, "recursion"},
        Refused{"TooLarge", kLarge.c_str(), "f", ErrorCode::ResourceExceeded,
                "at most 1048576 are compiled"},
        Refused{"NoSuchFunction", "__device__ float f(float x) { return x; }", "g",
                ErrorCode::LinkError, "'g' is not a function of type float (*)(float)"},
        Refused{"AnotherType", "__device__ float f(int x) { return x; }", "f", ErrorCode::LinkError,
                "float (*)(int)"},
        Refused{"DeclaredOnly", "__device__ float f(float x);", "f", ErrorCode::LinkError,
                "which the source declares and nobody defines"},
        Refused{"DynamicSharedMemory",
                "extern __shared__ float s[];\n__device__ float f(float x) { return s[0] + x; }",
                "f", ErrorCode::LinkError, "dynamic shared memory, which belongs to the kernel"}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
