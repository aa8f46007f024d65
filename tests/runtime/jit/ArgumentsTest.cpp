// Calls that must be refused, with their messages, before anything runs.
#include "tests/runtime/jit/Devices.h"

using namespace tile;
using namespace tile::test;

/// Tensor classes of a user's own, which may say anything of their rank.
namespace own {
struct Described {
  float *memory;
  int rankSaid;

  DType dtype() const { return f32; }
  int rank() const { return rankSaid; }
  int64_t extent(int) const { return 1; }
  int64_t stride(int) const { return 1; }
  float *data() const { return memory; }
};
struct Converted {
  float *memory;
  uint8_t rank;
};
static HostArg toHostArg(const Converted &tensor) {
  HostArg arg;
  arg.dtype = f32, arg.rank = tensor.rank, arg.pointer = tensor.memory;
  return arg;
}
} // namespace own

namespace {

class Arguments : public OnDevice {
protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped())
      return;
    x = device().tensor<float>({64, 64}, ramp(64 * 64, 0));
    y = device().tensor<float>({64, 64});
  }

  /// Expects the call to fail with this code and message.
  template <class... A>
  void refused(ErrorCode code, const std::string &message, const A &...arguments) {
    uint64_t before = compiles();
    constexpr int kCall = __LINE__ + 1;
    Error error = errorOf([&] { copy(stream, arguments...); });
    EXPECT_STREQ(tile::nameOf(error.code()), tile::nameOf(code)) << error.what();
    EXPECT_EQ(error.message(), message);
    EXPECT_EQ(error.fault(), Fault::User);
    EXPECT_NE(error.file().find("ArgumentsTest.cpp"), std::string::npos);
    EXPECT_EQ(error.line(), kCall) << error.what();
    ASSERT_FALSE(error.notes().empty());
    EXPECT_TRUE(error.notes().back().starts_with("in a call of kernel 'copy', defined at "))
        << error.what();
    EXPECT_NE(error.notes().back().find("ArgumentsTest.cpp:"), std::string::npos) << error.what();
    EXPECT_EQ(compiles(), before);
  }

  static constexpr auto kBody = [](In<any, 2> from, Out<any, 2> to) {
    auto [m, n] = grid2d(to, {16, 16});
    to.tile({16, 16})(m, n) = from.tile({16, 16})(m, n);
  };
  tile::Kernel<In<any, 2>, Out<any, 2>> copy = kernel("copy", kBody).named("from", "to");
  TensorOf<float> x, y;
};
TILE_ON_EVERY_DEVICE(Arguments);

TEST_P(Arguments, NullPointer) {
  refused(ErrorCode::InvalidArgument, "arg 1 'from' is a null pointer, but its shape is not empty",
          ref(static_cast<float *>(nullptr), {64, 64}), y);
  refused(ErrorCode::InvalidArgument, "arg 2 'to' is a null pointer, but its shape is not empty", x,
          ref(static_cast<float *>(nullptr), {64, 64}));
}

TEST_P(Arguments, RanksThatNoTensorHas) {
  float *data = static_cast<float *>(x.data());
  const std::string none = ": expected rank 2, got a rank that is not between 0 and 8";
  for (int rank : {9, 255, 256 + 2, -1}) {
    SCOPED_TRACE(rank);
    refused(ErrorCode::InvalidArgument, "arg 1 'from'" + none, own::Described{data, rank}, y);
    refused(ErrorCode::InvalidArgument, "arg 2 'to'" + none, x, own::Described{data, rank});
  }
  refused(ErrorCode::InvalidArgument, "arg 1 'from'" + none, own::Converted{data, 9}, y);
  refused(ErrorCode::InvalidArgument, "arg 2 'to'" + none, x, own::Converted{data, 255});
}

TEST_P(Arguments, Shapes) {
  float *data = static_cast<float *>(x.data());
  refused(ErrorCode::InvalidShape, "arg 1 'from' has the negative extent -3 of dimension 1",
          ref(data, {4, -3}, {4, 1}), y);
  refused(ErrorCode::Unsupported,
          "arg 1 'from' has the negative stride -64 of dimension 0; views run forwards: copy the "
          "data in the other "
          "order",
          ref(data, {64, 64}, {-64, 1}), y);
  refused(ErrorCode::Unsupported,
          "arg 1 'from' has the extent 4294967296 of dimension 0; a kernel indexes up to "
          "2147483647 along one "
          "dimension: split it in two dimensions",
          ref(data, {int64_t(1) << 32, 1}, {1, 1}), y);
  refused(ErrorCode::InvalidShape, "arg 1 'from' spans more than 2^63 bytes",
          ref(data, {1 << 20, 1 << 20}, {int64_t(1) << 60, 1}), y);
}

TEST_P(Arguments, MisalignedElements) {
  auto *odd = reinterpret_cast<float *>(static_cast<char *>(x.data()) + 2);
  refused(ErrorCode::InvalidArgument,
          "arg 1 'from' is at an address that is not a multiple of 4, the size of one f32",
          ref(odd, {8, 8}), y);
}

TEST_P(Arguments, AnotherDevice) {
  Device other = Device::wrap(device::openVirtual(), "virtual:other");
  auto foreign = other.tensor<float>({64, 64});
  refused(ErrorCode::WrongDevice,
          "arg 1 'from' belongs to another device than the stream, which is of " + device().name() +
              "; copy it there",
          foreign, y);
}

TEST_P(Arguments, OutputsThatOverlapThemselves) {
  refused(ErrorCode::Aliasing,
          "arg 2 'to' is written, but has stride 0 in dimension 0 of extent 64; only inputs may be "
          "broadcast",
          x, y.withStrides({64, 64}, {0, 1}));
  refused(ErrorCode::Aliasing,
          "arg 2 'to' is written, but has stride 1 in dimensions 0 and 1; only inputs may overlap "
          "themselves",
          x, y.withStrides({32, 32}, {1, 1}));
}

TEST_P(Arguments, OutputsThatOverlapInputs) {
  const char *message =
      "arg 2 'to' overlaps arg 1 'from', and the kernel writes one of them; declare one InOut "
      "parameter, say x.may_alias(y) in the kernel, or use memory of its own";
  refused(ErrorCode::Aliasing, message, x.slice(0, 0, 32), x.slice(0, 16, 32));
  refused(ErrorCode::Aliasing, message, x.slice(0, 16, 32), x.slice(0, 0, 32));
  refused(ErrorCode::Aliasing, message, x.slice(1, 0, 32), x.slice(1, 31, 32));
  refused(ErrorCode::Aliasing, message, x, x.T());
}

/// Whether a tile is smaller than the program, so that several threads hold an element, or larger.
TEST_P(Arguments, OneViewAsInputAndOutput) {
  auto twice = kernel("twice", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
    Value i = grid1d(y, {B});
    y.tile({B})(i) = x.tile({B})(i) * 2;
  });
  auto add = kernel("add", [](In<f32, 1> a, In<f32, 1> b, Out<f32, 1> c, Const B) {
    Value i = grid1d(c, {B});
    c.tile({B})(i) = a.tile({B})(i) + b.tile({B})(i);
  });
  for (int block : {1, 8, 16, 32, 64, 128, 1024}) {
    SCOPED_TRACE(block);
    auto a = device().tensor<float>({200}, ramp(200, 1)),
         b = device().tensor<float>({200}, ramp(200, 0));
    twice.consts(block)(stream, a, a);
    add.consts(block)(stream, a, b, a);
    add.consts(block)(stream, b, b, b);
    stream.synchronize();
    std::vector<float> sums = a.download(), doubled = b.download();
    for (int i = 0; i < 200; ++i) {
      EXPECT_EQ(sums[size_t(i)], 2 * float(i + 1) + float(i));
      EXPECT_EQ(doubled[size_t(i)], 2 * float(i));
    }
  }
  // Neither call is taken for the other.
  auto x = device().tensor<float>({64}, ramp(64, 1)), y = device().tensor<float>({64}, ramp(64, 0));
  for (int round = 0; round < 2; ++round) {
    uint64_t before = compiles();
    twice.consts(16)(stream, x, x);
    twice.consts(16)(stream, x, y);
    stream.synchronize();
    EXPECT_EQ(compiles() - before, round == 0 ? 2u : 0u);
  }
  EXPECT_EQ(y.download()[1], 16);
}

/// What is remembered of a call does not stand for its addresses.
TEST_P(Arguments, AddressesOfACallThatIsKnown) {
  copy(stream, x, y);
  refused(ErrorCode::InvalidArgument, "arg 1 'from' is a null pointer, but its shape is not empty",
          ref(static_cast<float *>(nullptr), {64, 64}), y);
  copy(stream, x.slice(0, 0, 32), x.slice(0, 32, 32));
  Error error = errorOf([&] { copy(stream, x.slice(0, 0, 32), x.slice(0, 16, 32)); });
  EXPECT_EQ(error.code(), ErrorCode::Aliasing);
  auto row = device().tensor<float>({1, 68}, ramp(68, 1));
  auto moved = [&](int64_t shift) { return row.slice(1, shift, 32); };
  for (int64_t shift : {0, 4, 1, 0}) {
    copy(stream, moved(shift), moved(36));
    EXPECT_EQ(moved(36).download(), moved(shift).download()) << "aligned or not: " << shift;
  }
}

TEST_P(Arguments, OutputsThatTheKernelSaysMayOverlap) {
  static const auto shift = kernel("shift", [](Out<f32, 1> to, In<f32, 1> from, In<f32, 1> other) {
    to.may_alias(from);
    to.tile({64})(0) = from.tile({64})(0) + other.tile({64})(0);
  });
  auto row = device().tensor<float>({96}, ramp(96, 1)), zeros = device().tensor<float>({64});
  zeros.fill(0);
  EXPECT_NO_THROW(shift.grid(1)(stream, row.slice(0, 0, 64), row.slice(0, 16, 64), zeros));
  std::vector<float> expected = ramp(80, 1);
  expected.erase(expected.begin(), expected.begin() + 16);
  EXPECT_EQ(row.slice(0, 0, 64).download(), expected);
  Error error =
      errorOf([&] { shift.grid(1)(stream, row.slice(0, 0, 64), zeros, row.slice(0, 16, 64)); });
  EXPECT_EQ(error.code(), ErrorCode::Aliasing) << "another pair";
}

TEST_P(Arguments, InterleavedViewsDoNotOverlap) {
  EXPECT_NO_THROW(copy(stream, x.slice(1, 0, 32), x.slice(1, 32, 32)));
  EXPECT_NO_THROW(copy(stream, x.slice(0, 0, 32), x.slice(0, 32, 32)));
  EXPECT_EQ(x.slice(1, 32, 32).slice(0, 0, 32).download(),
            x.slice(1, 0, 32).slice(0, 0, 32).download());
}

TEST_P(Arguments, DtypeAndRank) {
  Error error = errorOf([&] { copy(stream, Tensor(x.reshape({64 * 64})), Tensor(y)); });
  EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
  EXPECT_NE(error.message().find("arg 1 'from'"), std::string::npos) << error.what();
}

TEST_P(Arguments, StreamsThatAreGone) {
  Stream moved = std::move(stream);
  EXPECT_EQ(errorOf([&] { copy(stream, x, y); }).code(), ErrorCode::InvalidHandle);
  EXPECT_EQ(errorOf([&] { stream.synchronize(); }).code(), ErrorCode::InvalidHandle);
  Stream second = moved;
  second.close();
  EXPECT_EQ(errorOf([&] { copy(moved, x, y); }).code(), ErrorCode::InvalidHandle);
  EXPECT_EQ(errorOf([&] { Stream().synchronize(); }).code(), ErrorCode::InvalidHandle);
}

} // namespace
