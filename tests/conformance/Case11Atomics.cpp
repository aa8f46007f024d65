// Conformance 11: atomics by five programs on every dtype, sign pattern and memory order; the old
// values; signed zeros; tiles with duplicate, decreasing and random indices under masks.
#include "tests/execution/Harness.h"

#include <random>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(ConformanceAtomics, Targets::One);

constexpr int kPrograms = 5;

enum Operation { Add, Max, Min };

Value atomic(int operation, Value pointer, Value value, AtomicOptions options = {}) {
  return operation == Add   ? atomic_add(pointer, value, options)
         : operation == Max ? atomic_max(pointer, value, options)
                            : atomic_min(pointer, value, options);
}

constexpr AtomicOptions kOrders[] = {{},
                                     {.sem = MemorySem::relaxed},
                                     {.sem = MemorySem::acquire},
                                     {.sem = MemorySem::release},
                                     {.sem = MemorySem::acq_rel}};

template <DType D> const auto &reduceKernel() {
  static const auto program =
      kernel("atomic_reduce", [](In<D, 1> x, InOut<D, 1> y, Out<D, 1> old, Const Op, Const Order) {
        Value value = item(x.tile({1})(program_id(0)));
        Value before = atomic(Op, y.ptr(), value, kOrders[Order]);
        old.tile({1})(program_id(0)) = splat(before, {1});
      });
  return program;
}

template <class T> T combined(int operation, T a, T b) {
  if (operation == Add)
    return T(a + b);
  return operation == Max ? std::max(a, b) : std::min(a, b);
}

/// Each program applies its number to one place; each old value was one that the place held, and of
/// the type of the place: the kernel would not store it otherwise.
template <class T>
void reduceByPrograms(OnDevice &, const Device &device, const Stream &stream,
                      std::vector<int> operations) {
  for (int operation : operations)
    for (int pattern = 0; pattern < 3; ++pattern)
      for (int order = 0; order < 5; ++order) {
        if (std::is_unsigned_v<T> && pattern == 1)
          continue;
        SCOPED_TRACE(std::to_string(operation) + "/" + std::to_string(pattern));
        std::vector<double> x;
        for (int i = 0; i < kPrograms; ++i) {
          double magnitude = (i * 7 + 3) % 11 + 1;
          x.push_back(pattern == 0 || (pattern == 2 && i % 2 && !std::is_unsigned_v<T>) ? magnitude
                      : std::is_unsigned_v<T>                                           ? magnitude
                                              : -magnitude);
        }
        double neutral = operation == Add   ? 0
                         : operation == Max ? (std::is_unsigned_v<T> ? 0 : -64)
                                            : 64;
        auto convert = [](double v) {
          if constexpr (std::is_arithmetic_v<T>)
            return static_cast<T>(v);
          else
            return T(static_cast<float>(v));
        };
        std::vector<T> values;
        double expected = neutral;
        for (double v : x)
          values.push_back(convert(v)), expected = combined(operation, expected, v);
        auto in = device.tensor<T>({kPrograms}), place = device.tensor<T>({1}),
             old = device.tensor<T>({kPrograms});
        in.upload(values), place.upload(std::vector<T>{convert(neutral)});
        reduceKernel<dtypeOf<T>>()
            .consts(operation, order)
            .warps(1 << order % 3)
            .grid(kPrograms)(stream, in, place, old);
        EXPECT_EQ(exact(place.download()[0]), exact(convert(expected)));
        // Some order of the programs explains the old values: the first of them saw the beginning.
        int firsts = 0;
        for (T seen : old.download())
          firsts += exact(seen) == exact(convert(neutral));
        EXPECT_GE(firsts, 1);
      }
}

TEST_P(ConformanceAtomics, Signed32) {
  reduceByPrograms<int32_t>(*this, device(), stream, {Add, Max, Min});
}
TEST_P(ConformanceAtomics, Unsigned32) {
  reduceByPrograms<uint32_t>(*this, device(), stream, {Add, Max, Min});
}
TEST_P(ConformanceAtomics, Signed64) {
  reduceByPrograms<int64_t>(*this, device(), stream, {Add, Max, Min});
}
TEST_P(ConformanceAtomics, Unsigned64) {
  reduceByPrograms<uint64_t>(*this, device(), stream, {Add, Max, Min});
}
TEST_P(ConformanceAtomics, Half) { reduceByPrograms<half>(*this, device(), stream, {Add}); }
TEST_P(ConformanceAtomics, Bfloat) { reduceByPrograms<bfloat16>(*this, device(), stream, {Add}); }
TEST_P(ConformanceAtomics, Float) {
  reduceByPrograms<float>(*this, device(), stream, {Add, Max, Min});
}
TEST_P(ConformanceAtomics, Double) {
  reduceByPrograms<double>(*this, device(), stream, {Add, Max, Min});
}

/// By the order of their bits -0 lies below +0.
TEST_P(ConformanceAtomics, SignedZeros) {
  for (int operation : {Max, Min})
    for (bool negativeFirst : {false, true}) {
      float first = negativeFirst ? -0.0f : 0.0f;
      auto place = input<float>({1}, {first}), old = device().tensor<float>({1});
      reduceKernel<f32>()
          .consts(operation, 0)
          .grid(1)(stream, input<float>({1}, {-first}), place, old);
      EXPECT_EQ(std::signbit(place.download()[0]), operation == Min);
      EXPECT_EQ(std::signbit(old.download()[0]), negativeFirst);
    }
}

/// Tiles of 5x5 and 6x6 additions at indices that repeat, decrease or jump, masked by x % s != 0.
TEST_P(ConformanceAtomics, TilesWithAnyIndicesAndMasks) {
  static const auto program =
      kernel("tile_add", [](In<i32, 2> at, In<f32, 2> x, InOut<f32, 1> y, Const S, Const B) {
        Value places = at.tile({B, B})(0, 0), values = x.tile({B, B})(0, 0);
        Value inside = at.tile({B, B}).inside(0, 0);
        Value number = index(0, {B, B}) * at.dim(1) + index(1, {B, B});
        atomic_add(y.ptr() + places, values, inside & (number % S != 0));
      });
  std::mt19937 random(7);
  for (int side : {5, 6})
    for (int s : {2, 3})
      for (int kind = 0; kind < 3; ++kind) {
        int count = side * side;
        std::vector<int> at;
        for (int i = 0; i < count; ++i)
          at.push_back(kind == 0   ? i / 3
                       : kind == 1 ? count - 1 - i
                                   : int(random() % unsigned(count)));
        std::vector<float> x, expected(size_t(count), 0.0f);
        for (int i = 0; i < count; ++i) {
          x.push_back(float(i % 13 - 6));
          if (i % s != 0)
            expected[size_t(at[size_t(i)])] += x.back();
        }
        auto y = input<float>({count}, std::vector<float>(size_t(count), 0.0f));
        program.consts(s, 8).grid(1)(stream, input({side, side}, at), input({side, side}, x), y);
        EXPECT_EQ(y.download(), expected) << side << " " << s << " " << kind;
      }
}

/// 8-bit and i16 additions are refused while tracing, at the line.
TEST_P(ConformanceAtomics, TypesWithoutAtomicsAreRefused) {
  static const auto i8Add = kernel("i8", [](InOut<i8, 1> y) { atomic_add(y.ptr(), 1); });
  static const auto i16Add = kernel("i16", [](InOut<i16, 1> y) { atomic_add(y.ptr(), 1); });
  auto refused = [&](auto launch) {
    try {
      launch();
    } catch (const Error &error) {
      return error.message().find("supported: ") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { i8Add.grid(1)(stream, device().tensor<int8_t>({1})); }));
  EXPECT_TRUE(refused([&] { i16Add.grid(1)(stream, device().tensor<int16_t>({1})); }));
}

} // namespace
