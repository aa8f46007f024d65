// Atomics: each element takes its step exactly once, whatever threads hold it; old values reach all
// of them; and what releases and acquires promise lets programs hand data to each other.
#include "tests/execution/Harness.h"

#include <set>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Atomics, Targets::One);
EXECUTION_SUITE(AtomicsOfViews, Targets::All);

/// Several rows of a tile meet in each place, with every eviction priority.
TEST_P(Atomics, EvictionPrioritiesChangeNoResult) {
  auto check = [&]<class T>(T) {
    static const auto program = kernel("evictions", [](InOut<dtypeOf<T>, 1> y, Const B) {
      Value at = y.ptr() + arange(B) / 4, one = full(dtypeOf<T>, {B}, 1);
      for (Evict evict : {Evict::normal, Evict::first, Evict::last}) {
        atomic_add(at, one, {.sem = MemorySem::relaxed, .evict = evict});
        atomic_add(at, one, arange(B) % 4 == 1, {.evict = evict});
        if (sizeOf(dtypeOf<T>) >= 4)
          atomic_max(at, one, {.sem = MemorySem::relaxed, .evict = evict});
      }
    });
    auto y = input<T>({64}, std::vector<T>(64));
    program.consts(256).grid(2)(stream, y);
    expectAll(y.download(), [](int64_t) { return 2 * 3 * 5; });
  };
  check(int32_t()), check(uint64_t()), check(half()), check(float()), check(double());
}

/// Tiles of several programs meet, half of them beyond an edge of the view, whose rows have guards between them.
TEST_P(AtomicsOfViews, EveryDtypeAndRaggedEdges) {
  auto check = [&]<class T>(T) {
    static const auto program =
        kernel("add_to_view", [](In<dtypeOf<T>, 2> x, InOut<dtypeOf<T>, 2> y, Const B) {
          Value tile = x.tile({B, B})(program_id(0), program_id(1));
          for (int repeat = 0; repeat < 2; ++repeat)
            atomic_add(y.tile({B, B})(program_id(0), program_id(1)), tile);
          atomic_add(y.tile({B, B}).offset(program_id(0) * B - 3, program_id(1) * B), 1);
        });
    constexpr int64_t kRows = 37, kColumns = 70;
    for (int64_t gap : {0, 2, 1}) {
      auto x = input<T>({kRows, kColumns}, uniform<T>(kRows * kColumns, 0, 60, 1));
      auto y = output<T>({kRows, kColumns}, gap);
      y.tensor().upload(std::vector<T>(kRows * kColumns, T(1)));
      program.consts(32).grid(2, 3)(stream, x, y.tensor());
      auto start = x.download();
      expectAll(y.result(),
                [&](int64_t i) {
                  int64_t row = i / kColumns;
                  return 1 + 2 * exact(start[size_t(i)]) + (row < 61 ? 1 : 0);
                },
                {sizeof(T) == 2 ? 2.0 : 1.0});
    }
  };
  check(int32_t()), check(uint64_t()), check(half()), check(bfloat16()), check(float()),
      check(double());
}

/// A product's tile is added as threads hold it, sixteen columns in any order of them.
TEST_P(AtomicsOfViews, TilesOfProducts) {
  static const auto program =
      kernel("add_products", [](In<f16, 2> a, In<f16, 2> b, InOut<f32, 2> y, InOut<f32, 2> mixed) {
        const int rows = 64, columns = 64, depth = 32;
        Value sums = dot(a.tile({rows, depth})(program_id(0), program_id(1)),
                         b.tile({depth, columns})(program_id(1), 0));
        atomic_add(y.tile({rows, columns})(program_id(0), 0), sums);
        Value parts = permute(reshape(sums, {rows, columns / 16, 2, 4, 2}), {0, 1, 3, 2, 4});
        atomic_add(mixed.tile({rows, columns})(program_id(0), 0), reshape(parts, {rows, columns}));
      });
  constexpr int64_t kRows = 100, kDepth = 96, kColumns = 64;
  auto whole = [](int64_t count, unsigned seed) {
    auto x = uniform<half>(count, -4, 4, seed);
    for (half &value : x)
      value = half(std::round(exact(value)));
    return x;
  };
  auto a = whole(kRows * kDepth, 1), b = whole(kDepth * kColumns, 2);
  auto y = output<float>({kRows, kColumns}, 4), mixed = output<float>({kRows, kColumns});
  for (const auto &each : {y.tensor(), mixed.tensor()})
    each.upload(std::vector<float>(kRows * kColumns));
  program.grid(2, 3)(stream, input({kRows, kDepth}, a), input({kDepth, kColumns}, b), y.tensor(),
                     mixed.tensor());
  auto expected = [&](int64_t row, int64_t column) {
    double sum = 0;
    for (int64_t k = 0; k < kDepth; ++k)
      sum += exact(a[size_t(row * kDepth + k)]) * exact(b[size_t(k * kColumns + column)]);
    return sum;
  };
  expectAll(y.result(), [&](int64_t i) { return expected(i / kColumns, i % kColumns); });
  expectAll(mixed.result(), [&](int64_t i) {
    int64_t at = i % 16, t = at / 4, half = at / 2 % 2, e = at % 2;
    return expected(i / kColumns, i % kColumns / 16 * 16 + 8 * half + 2 * t + e);
  });
}

enum Kind { Add, Min, Max, And, Or, Xor };

Value apply(int kind, Arg pointer, Arg value, Arg mask, AtomicOptions options) {
  switch (kind) {
  case Add:
    return atomic_add(pointer, value, mask, options);
  case Min:
    return atomic_min(pointer, value, mask, options);
  case Max:
    return atomic_max(pointer, value, mask, options);
  case And:
    return atomic_and(pointer, value, mask, options);
  case Or:
    return atomic_or(pointer, value, mask, options);
  default:
    return atomic_xor(pointer, value, mask, options);
  }
}

template <class T> T combined(int kind, T old, T value) {
  if constexpr (std::is_integral_v<T>) {
    if (kind == And)
      return old & value;
    if (kind == Or)
      return old | value;
    if (kind == Xor)
      return old ^ value;
    if (kind == Add)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                            static_cast<std::make_unsigned_t<T>>(value));
  }
  if (kind == Add)
    return static_cast<T>(static_cast<Wide<T>>(old) + static_cast<Wide<T>>(value));
  return kind == Min ? std::min(old, value) : std::max(old, value);
}

/// Elements of several programs meet in few places; two of three take part.
template <class T> void scatter(const Device &device, const Stream &stream, int kind) {
  static const auto program = kernel("scatter", [](In<i32, 1> at, In<dtypeOf<T>, 1> x,
                                                   InOut<dtypeOf<T>, 1> y, Const B, Const Op) {
    Value p = grid1d(x, {B}), i = p * B + arange(B);
    Value takesPart = x.tile({B}).inside(p) & (i % 3 != 0);
    apply(Op, y.ptr() + at.tile({B})(p), x.tile({B})(p), takesPart, {.sem = MemorySem::relaxed});
  });
  constexpr int64_t kSize = 517, kPlaces = 37;
  Random random(17 + static_cast<uint64_t>(kind));
  std::vector<int32_t> at(kSize);
  std::vector<T> x(kSize), expected(kPlaces);
  for (int64_t i = 0; i < kSize; ++i) {
    at[size_t(i)] = static_cast<int32_t>(random.bits() % kPlaces);
    // Small numbers, so that sums of 16-bit floats are exact in any order.
    x[size_t(i)] =
        static_cast<T>(static_cast<Wide<T>>(random.bits() % 9) - static_cast<Wide<T>>(4));
  }
  for (auto [tile, warps] : {std::pair(256, 4), {96, 1}, {16, 2}, {1024, 8}}) {
    expected.assign(kPlaces, T(Wide<T>(3)));
    auto y = device.tensor<T>({kPlaces}, expected);
    program.consts(tile, kind)
        .warps(warps)(stream, device.tensor<int32_t>({kSize}, at), device.tensor<T>({kSize}, x), y);
    for (int64_t i = 0; i < kSize; ++i)
      if (i % 3 != 0)
        expected[size_t(at[size_t(i)])] =
            combined(kind, expected[size_t(at[size_t(i)])], x[size_t(i)]);
    std::vector<T> results = y.download();
    for (size_t i = 0; i < results.size(); ++i)
      ASSERT_EQ(static_cast<Wide<T>>(results[i]), static_cast<Wide<T>>(expected[i]))
          << "kind " << kind << ", place " << i << ", tile " << tile;
  }
}

#define SCATTER_TEST(name, T, ...)                                                                 \
  TEST_P(Atomics, name) {                                                                          \
    for (int kind : {__VA_ARGS__})                                                                 \
      scatter<T>(device(), stream, kind);                                                          \
  }
SCATTER_TEST(I32, int32_t, Add, Min, Max, And, Or, Xor)
SCATTER_TEST(U32, uint32_t, Add, Min, Max, And, Or, Xor)
SCATTER_TEST(I64, int64_t, Add, Min, Max, And, Or, Xor)
SCATTER_TEST(U64, uint64_t, Add, Min, Max, And, Or, Xor)
SCATTER_TEST(F16, half, Add)
SCATTER_TEST(BF16, bfloat16, Add)
SCATTER_TEST(F32, float, Add, Min, Max)
SCATTER_TEST(F64, double, Add, Min, Max)

TEST_P(Atomics, OldValuesReachEveryHolderOfAnElement) {
  // The old values fill a tile that all threads hold parts of, so copies in other lanes and warps
  // must be right too; equal addresses get different old values.
  static const auto program = kernel("old", [](InOut<i32, 1> counters, Out<i32, 2> y, Const B) {
    Value old = atomic_add(counters.ptr() + arange(B) / 2, 1);
    y.tile({B, 64})(0, 0) = broadcast_to(expand_dims(old, 1), {B, 64}) + index(1, {B, 64}) * 1000;
  });
  for (int tile : {1, 2, 8, 24, 128})
    for (int warps : {1, 2, 4, 8}) {
      int64_t places = (tile + 1) / 2;
      auto counters = device().tensor<int32_t>({places}, std::vector<int32_t>(size_t(places), 5));
      auto results = output<int32_t>({tile, 64}, 1);
      program.consts(tile).warps(warps).grid(1)(stream, counters, results.tensor());
      std::vector<int32_t> y = results.result();
      for (int64_t i = 0; i < tile; ++i) {
        int32_t old = y[size_t(i * 64)];
        int32_t partner = i % 2 ? y[size_t((i - 1) * 64)] : old == 5 ? 6 : 5;
        ASSERT_TRUE((old == 5 || old == 6) && old != partner) << i << ": " << old;
        for (int64_t j = 0; j < 64; ++j)
          ASSERT_EQ(y[size_t(i * 64 + j)], old + 1000 * j) << tile << ", " << warps << " warps";
      }
      std::vector<int32_t> after = counters.download();
      for (int64_t i = 0; i < places; ++i)
        ASSERT_EQ(after[size_t(i)], 5 + std::min<int64_t>(2, tile - 2 * i));
    }
}

TEST_P(Atomics, ScalarsAreOneStepOfTheProgram) {
  static const auto program = kernel("tickets", [](InOut<i32, 1> counter, Out<i32, 2> y) {
    Value ticket = atomic_add(counter.ptr(), 1);
    y.tile({1, 128})(program_id(0), 0) = splat(ticket, {1, 128});
  });
  for (int warps : {1, 4, 8}) {
    auto counter = device().tensor<int32_t>({1}, std::vector<int32_t>{0});
    auto results = output<int32_t>({23, 128});
    program.warps(warps).grid(23)(stream, counter, results.tensor());
    std::vector<int32_t> y = results.result();
    std::set<int32_t> tickets;
    for (size_t row = 0; row < 23; ++row) {
      tickets.insert(y[row * 128]);
      for (size_t i = 0; i < 128; ++i)
        ASSERT_EQ(y[row * 128 + i], y[row * 128]);
    }
    EXPECT_EQ(tickets.size(), 23u);
    EXPECT_EQ(*tickets.begin(), 0);
    EXPECT_EQ(counter.download()[0], 23);
  }
}

TEST_P(Atomics, ExchangeAndCompareAndSwapOfEveryDtype) {
  static const auto program = kernel("swap", [](InOut<any, 1> y, InOut<any, 1> z, Out<any, 2> old) {
    Value i = arange(64), number = cast(y.dtype(), i);
    Value first = atomic_xchg(y.ptr() + i, number + 100);
    Value second = atomic_cas(z.ptr() + i, cast(y.dtype(), i / 2 * 2), number + 200);
    Value third = atomic_cas(z.ptr() + i, number + 200, 7, i < 8, {.sem = MemorySem::relaxed});
    old.tile({1, 64})(0, 0) = expand_dims(first, 0);
    old.tile({1, 64})(1, 0) = expand_dims(second, 0);
    old.tile({1, 64})(2, 0) = expand_dims(select(i < 8, third, 0), 0);
  });
  auto check = [&]<class T>(T) {
    std::vector<T> counting(64);
    for (size_t i = 0; i < 64; ++i)
      counting[i] = static_cast<T>(i);
    for (int warps : {1, 4}) {
      auto y = device().template tensor<T>({64}, counting),
           z = device().template tensor<T>({64}, counting);
      auto old = output<T>({3, 64}, 2);
      program.warps(warps).grid(1)(stream, y, z, old.tensor());
      expectAll(old.result(), [](int64_t at) -> int64_t {
        int64_t i = at % 64;
        return at < 128 ? i : i >= 8 ? 0 : i % 2 ? i : i + 200;
      });
      expectAll(y.download(), [](int64_t i) { return i + 100; });
      expectAll(z.download(), [](int64_t i) { return i % 2 ? i : i < 8 ? int64_t{7} : i + 200; });
    }
  };
  check(int32_t()), check(uint32_t()), check(int64_t()), check(uint64_t());
  check(float()), check(double());
}

TEST_P(Atomics, FloatsAreOrderedByTheirBits) {
  auto check = [&]<class T>(T) {
    using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    static const auto program =
        kernel("extremes", [](In<dtypeOf<T>, 1> x, In<i32, 1> at, InOut<dtypeOf<T>, 1> low,
                              InOut<dtypeOf<T>, 1> high) {
          Value p = grid1d(x, {64}), inside = x.tile({64}).inside(p);
          atomic_min(low.ptr() + at.tile({64})(p), x.tile({64})(p), inside);
          atomic_max(high.ptr() + at.tile({64})(p), x.tile({64})(p), inside);
        });
    auto rank = [](T value) { // as signed integers, negative ones reversed
      Bits bits = std::bit_cast<Bits>(value);
      return bits < 0 ? static_cast<Bits>(bits ^ std::numeric_limits<Bits>::max()) : bits;
    };
    std::vector<T> values = {0.0, -0.0, 1.5, -1.5, T(INFINITY), -T(INFINITY), T(1e-40), T(-1e-40)};
    std::vector<T> x, low, high;
    std::vector<int32_t> at;
    for (T start : values)
      for (T value : values) {
        at.push_back(static_cast<int32_t>(x.size()));
        x.push_back(value), low.push_back(start), high.push_back(start);
      }
    auto size = static_cast<int64_t>(x.size());
    auto lows = device().template tensor<T>({size}, low),
         highs = device().template tensor<T>({size}, high);
    program(stream, input({size}, x), input({size}, at), lows, highs);
    auto lowest = lows.download(), highest = highs.download();
    for (size_t i = 0; i < x.size(); ++i) {
      T smaller = rank(x[i]) < rank(low[i]) ? x[i] : low[i];
      T larger = rank(x[i]) > rank(high[i]) ? x[i] : high[i];
      EXPECT_EQ(std::bit_cast<Bits>(lowest[i]), std::bit_cast<Bits>(smaller)) << x[i] << low[i];
      EXPECT_EQ(std::bit_cast<Bits>(highest[i]), std::bit_cast<Bits>(larger)) << x[i] << low[i];
    }
  };
  check(float()), check(double());
}

TEST_P(Atomics, TheLastProgramSeesWhatAllHaveStored) {
  static const auto program = kernel(
      "last", [](In<f32, 1> x, InOut<f32, 1> partial, InOut<i32, 1> done, Out<f32, 1> y, Const P) {
        Value p = program_id(0);
        partial.tile({128})(p) = x.tile({128})(p) * 2.0f;
        Value arrived = atomic_add(done.ptr(), 1);
        if_(arrived == P - 1, [&] {
          auto total = var(zeros(f32, {128}));
          for (auto q : range(P)) // reversed, so that each thread reads what another one stored
            total = total + load(partial.ptr() + (q * 128 + 127 - arange(128)));
          y.tile({128})(0) = total;
        });
      });
  constexpr int kPrograms = 7;
  std::vector<float> x(kPrograms * 128);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i % 31);
  for (int warps : {1, 4}) {
    auto partial = device().tensor<float>({kPrograms * 128});
    auto done = device().tensor<int32_t>({1}, std::vector<int32_t>{0});
    auto results = output<float>({128});
    program.consts(kPrograms).warps(warps).grid(kPrograms)(stream, input({kPrograms * 128}, x),
                                                           partial, done, results.tensor());
    expectAll(results.result(), [&](int64_t i) {
      double total = 0;
      for (int64_t p = 0; p < kPrograms; ++p)
        total += 2 * x[size_t(p * 128 + 127 - i)];
      return total;
    });
  }
}

TEST_P(Atomics, ALockGuardsPlainAccesses) {
  static const auto program = kernel("lock", [](InOut<i32, 1> lock, InOut<i32, 1> data) {
    while_([&] { return atomic_cas(lock.ptr(), 0, 1, {.sem = MemorySem::acquire}) != 0; }, [&] {});
    Value i = arange(256);
    Value mirrored = load(data.ptr() + (255 - i));
    store(data.ptr() + i, mirrored + 1);
    atomic_xchg(lock.ptr(), 0, {.sem = MemorySem::release});
  });
  for (int warps : {1, 4}) {
    auto lock = device().tensor<int32_t>({1}, std::vector<int32_t>{0});
    auto data = device().tensor<int32_t>({256}, std::vector<int32_t>(256, 3));
    program.warps(warps).grid(9)(stream, lock, data);
    expectAll(data.download(), [](int64_t) { return 12; });
  }
}

} // namespace
