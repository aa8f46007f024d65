// The host side of a kernel: identity, settings, what a call hands to the runtime, and the messages
// for wrong arguments. The runtime itself is replaced by a function that records.
#include "tests/frontend/Trace.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tile {
/// The runtime's class is not linked here.
class Stream {};
} // namespace tile

using namespace tile;
using namespace tile::test;

static struct {
  std::vector<detail::HostArg> args;
  std::vector<int64_t> consts;
  detail::LaunchOptions options;
  int launches = 0;
} recorded;

void tile::detail::launch(const KernelRecord &record, const Stream &, std::span<const HostArg> args,
                          std::span<const int64_t> consts, const LaunchOptions &options) {
  checkArguments(record, args);
  recorded.args.assign(args.begin(), args.end());
  recorded.consts.assign(consts.begin(), consts.end());
  recorded.options = options;
  ++recorded.launches;
}

/// A tensor whose dtype and rank are known at run time only.
struct DynamicTensor {
  DType type;
  std::vector<int64_t> extents;
  DType dtype() const { return type; }
  int rank() const { return static_cast<int>(extents.size()); }
  int64_t extent(int dim) const { return extents[dim]; }
  int64_t stride(int dim) const {
    return dim + 1 == rank() ? 1 : extents[dim + 1] * stride(dim + 1);
  }
  void *data() const { return nullptr; }
};

static auto scale =
    kernel("scale", [](In<f16, 2> x, Const B, Out<f16, 2> y, Scalar<f32> s, Scalar<i8> k, Const N) {
      y.tile({B, N})(0, 0) = cast(f16, x.tile({B, N})(0, 0) * s + k);
    }).named("x", "B", "y", "s", "k", "N");

TEST(Kernel, ACallHandsOverArgumentsAndConstants) {
  Stream stream;
  half a[6], b[6];
  int line = __LINE__ + 1;
  scale.consts(16, 32u).warps(8).grid(3, 2)(stream, ref(a, {2, 3}), ref(b, {2, 3}, {1, 2}), 0.5,
                                            -3);
  EXPECT_TRUE(std::string(recorded.options.call.file).ends_with("KernelTest.cpp"));
  EXPECT_NEAR(recorded.options.call.line, line, 1) << "compilers differ in which line a call has";
  scale.consts(16, 32)(CallSite(stream, {"caller.cpp", 7}), ref(a, {2, 3}), ref(b, {2, 3}), 0.5,
                       -3);
  EXPECT_EQ(recorded.options.call.line, 7);
  scale.consts(16, 32u).warps(8).grid(3, 2)(stream, ref(a, {2, 3}), ref(b, {2, 3}, {1, 2}), 0.5,
                                            -3);
  ASSERT_EQ(recorded.args.size(), 4u);
  EXPECT_EQ(recorded.args[0].pointer, a);
  EXPECT_EQ(recorded.args[0].dtype, f16);
  EXPECT_EQ(recorded.args[0].rank, 2);
  EXPECT_EQ(recorded.args[0].extents[1], 3);
  EXPECT_EQ(recorded.args[0].strides[0], 3);
  EXPECT_EQ(recorded.args[1].strides[1], 2);
  EXPECT_EQ(recorded.args[2].bits, std::bit_cast<uint32_t>(0.5f));
  EXPECT_EQ(recorded.args[3].bits, 0xfdu);
  EXPECT_EQ(recorded.consts, (std::vector<int64_t>{16, 32}));
  EXPECT_EQ(recorded.options.compile.warps, 8);
  EXPECT_TRUE(recorded.options.hasGrid);
  EXPECT_EQ(recorded.options.grid[1], 2);
}

TEST(Kernel, SpansAreTensorsOfAsManyElements) {
  half a[6];
  std::span<half> all(a);
  Ref<half, 2> matrix = ref(all, {2, 3});
  EXPECT_EQ(matrix.data(), a);
  EXPECT_EQ(matrix.stride(0), 3);
  EXPECT_EQ(ref(all.subspan(2)).data(), a + 2);
  EXPECT_EQ(ref(all.subspan(2)).extent(0), 4);
  EXPECT_EQ(ref(std::span<const half>(), {0, 3}).extent(1), 3);
  auto refused = [&](auto make) {
    try {
      make();
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidShape);
      EXPECT_TRUE(error.file().ends_with("KernelTest.cpp"));
      return error.message();
    }
    return std::string("nothing was refused");
  };
  EXPECT_EQ(refused([&] { ref(all, {2, 4}); }), "ref: a span of 6 elements is no tensor of 2x4");
  EXPECT_EQ(refused([&] {
              ref(all, {-2, -3});
            }),
            "ref: a span of 6 elements is no tensor of -2x-3");
  EXPECT_EQ(refused([&] {
              ref(all.first(0), {int64_t(1) << 32, int64_t(1) << 32});
            }),
            "ref: a span of 0 elements is no tensor of 4294967296x4294967296");
}

TEST(Kernel, SettingsDoNotChangeTheKernel) {
  auto wide = scale.warps(8);
  EXPECT_EQ(wide.options().compile.warps, 8);
  EXPECT_EQ(scale.options().compile.warps, 4);
  EXPECT_EQ(wide.consts(1, 2).options().compile.warps, 8);
}

static std::string messageOf(const std::vector<detail::HostArg> &args) {
  try {
    detail::checkArguments(scale.record(), args);
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    return error.message();
  }
  return "accepted";
}

TEST(Kernel, WrongArgumentsAreNamed) {
  using detail::scalarArg, detail::toHostArg;
  auto good = toHostArg(DynamicTensor{f16, {4, 4}}),
       wrongType = toHostArg(DynamicTensor{f32, {4, 4}});
  auto wrongRank = toHostArg(DynamicTensor{f16, {4}});
  auto s = scalarArg<f32>(1.0f), k = scalarArg<i8>(1);
  EXPECT_EQ(messageOf({good, good, s, k}), "accepted");
  EXPECT_EQ(messageOf({good, wrongType, s, k}), "arg 2 'y': expected ptr<f16>, got ptr<f32>");
  EXPECT_EQ(messageOf({wrongRank, good, s, k}), "arg 1 'x': expected rank 2, got rank 1");
  EXPECT_EQ(messageOf({good, good, good, k}), "arg 3 's': expected f32, got ptr<f16>");
  EXPECT_EQ(messageOf({good, good, s}), "the kernel takes 4 arguments, got 3");
  EXPECT_EQ(messageOf({good, good, s, k, k}), "the kernel takes 4 arguments, got 5");
}

TEST(Kernel, DynamicTensorsAreCheckedWhenCalled) {
  Stream stream;
  int before = recorded.launches;
  DynamicTensor good{f16, {4, 4}}, wrong{f32, {4, 4}};
  EXPECT_THROW(scale.consts(1, 1)(stream, good, wrong, 1, 1), Error);
  EXPECT_EQ(recorded.launches, before) << "nothing reaches the runtime";
  scale.consts(1, 1)(stream, good, good, 1, 1);
  EXPECT_EQ(recorded.launches, before + 1);
}

TEST(Kernel, ScalarsMustFit) {
  using detail::scalarArg;
  EXPECT_EQ(scalarArg<i8>(-128).bits, 0x80u);
  EXPECT_EQ(scalarArg<u8>(255).bits, 0xffu);
  EXPECT_EQ(scalarArg<u64>(~uint64_t(0)).bits, ~uint64_t(0));
  EXPECT_EQ(scalarArg<i64>(int64_t(-1)).bits, ~uint64_t(0));
  EXPECT_EQ(scalarArg<f16>(1.5).bits, 0x3e00u);
  EXPECT_EQ(scalarArg<i1>(true).bits, 1u);
  EXPECT_THROW(scalarArg<i8>(128), Error);
  EXPECT_THROW(scalarArg<u8>(-1), Error);
  EXPECT_THROW(scalarArg<u64>(-1), Error);
  EXPECT_THROW(scalarArg<i64>(~uint64_t(0)), Error);
  EXPECT_THROW(scalarArg<i32>(int64_t(1) << 31), Error);
  EXPECT_THROW(scalarArg<i1>(2), Error);
  try {
    scalarArg<u8>(300);
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(), "a scalar argument does not fit: 300 is no u8");
  }
}

TEST(Kernel, ScalarsThatDoNotFitAreNamedAtTheCall) {
  DynamicTensor good{f16, {4, 4}};
  Loc call = Loc::here();
  try {
    scale.consts(1, 1)(CallSite(Stream(), call), good, good, 1, 300);
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(), "arg 4 'k': 300 is no i8");
    EXPECT_EQ(error.file(), call.file);
    EXPECT_EQ(error.line(), call.line);
    ASSERT_EQ(error.notes().size(), 1u);
    EXPECT_TRUE(error.notes()[0].starts_with("in a call of kernel 'scale', defined at "))
        << error.what();
  }
}

TEST(Kernel, StreamsMayBeConstantAndTemporary) {
  DynamicTensor good{f16, {4, 4}};
  const Stream constant;
  int before = recorded.launches;
  scale.consts(1, 1)(constant, good, good, 1, 1);
  scale.consts(1, 1)(Stream(), good, good, 1, 1);
  EXPECT_EQ(recorded.launches, before + 2);
}

TEST(Kernel, ALambdaWithoutCapturesIsOneKernel) {
  auto make = [] { return kernel("same", [](Out<f32, 1>) {}); };
  EXPECT_EQ(make().record().id, make().record().id);
  auto body = [](Out<f32, 1>) {};
  EXPECT_EQ(kernel("one", body).record().id, kernel("one", body).record().id);
  EXPECT_NE(kernel("one", body).record().id, kernel("other", body).record().id);
  EXPECT_NE(kernel("one", body).record().id, kernel("one", [](Out<f32, 1>) {}).record().id);
  auto generic = []<class T>(T) { return kernel("typed", [](Out<dtypeOf<T>, 1>) {}); };
  EXPECT_NE(generic(1.0f).record().id, generic(1).record().id);
}

TEST(Kernel, CapturedNumbersAreToldApartUnderOneKey) {
  auto repeated = [](int rounds, float step) {
    return kernel_capturing("key", "repeated", [=](InOut<f32, 1> x) {
      for (int i = 0; i < rounds; ++i)
        x.tile({32})(0) += step;
    });
  };
  EXPECT_EQ(repeated(1, 2).record().id, repeated(1, 2).record().id);
  EXPECT_NE(repeated(1, 2).record().id, repeated(2, 2).record().id);
  EXPECT_NE(repeated(1, 2).record().id, repeated(1, 3).record().id);
  auto named = [](std::string key, std::string text) {
    return kernel_capturing(key, "named", [text](Out<f32, 1>) {});
  };
  EXPECT_EQ(named("key", "a").record().id, named("key", "b").record().id) << "the key alone counts";
  EXPECT_NE(named("a", "a").record().id, named("b", "a").record().id);
}

TEST(Kernel, IdentityIsTakenOnce) {
  auto copy = scale;
  EXPECT_EQ(copy.record().id, scale.record().id);
  auto capturing = [](int n) {
    return kernel_capturing("n=" + std::to_string(n), "adds",
                            [n](InOut<i32, 1> x) { x.tile({32})(0) += n; });
  };
  EXPECT_EQ(capturing(1).record().id, capturing(1).record().id);
  EXPECT_NE(capturing(1).record().id, capturing(2).record().id);
  EXPECT_NE(irOf(capturing(1)), irOf(capturing(2)));
}

TEST(Kernel, NamesAreIdentifiers) {
  auto body = [](Out<f32, 1>) {};
  for (const char *name : {"", "2fast", "a-b", "a b", "\xc3\xa9"})
    EXPECT_THROW(kernel(name, body), Error) << name;
  EXPECT_NO_THROW(kernel("_ok_2", body));
}

static std::string bindingError(const frontend::Binding &binding) {
  try {
    trace(scale.record(), binding);
  } catch (const Error &error) {
    return error.message();
  }
  return "accepted";
}

TEST(Kernel, BindingsAreChecked) {
  const std::vector<int64_t> consts = {16, 16};
  frontend::Binding good = frontend::bindingFor(scale.record(), consts);
  EXPECT_EQ(bindingError(good), "accepted");
  frontend::Binding wrong = good;
  wrong.consts.pop_back();
  EXPECT_EQ(bindingError(wrong), "the kernel takes 2 constants, got 1");
  wrong = good, wrong.consts[0] = int64_t(1) << 40;
  EXPECT_EQ(bindingError(wrong), "the constant 1099511627776 does not fit an int");
  wrong = good, wrong.args[1].dtype = f32;
  EXPECT_EQ(bindingError(wrong), "arg 2: expected ptr<f16>, got ptr<f32>");
  wrong = good, wrong.args[0].rank = 3;
  EXPECT_EQ(bindingError(wrong), "arg 1: expected rank 2, got rank 3");
  wrong = good, wrong.args.pop_back();
  EXPECT_EQ(bindingError(wrong), "the binding lacks arg 4");
  wrong = good, wrong.settings.warps = 3;
  EXPECT_EQ(bindingError(wrong), "warps must be a power of two up to 32, got 3");
}
