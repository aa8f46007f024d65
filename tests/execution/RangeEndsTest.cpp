// Loops whose indices lie near the ends of their type, where the index after the last is no number of it: forwards and backwards,
// with bounds of run time and constants, unrolled, flattened, shared among programs, and with products whose loads run ahead.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(RangeEnds, Targets::One);
EXECUTION_SUITE(RangeEndsOfProducts);

/// A number beyond all types of indices.
using Wide = __int128;

template <class T> struct Bounds {
  T lo, hi, step; ///< step: how far, whichever way
};

/// Upwards bounds of few rounds at both ends, across the whole type, and of none.
template <class T> std::vector<Bounds<T>> upwards() {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  constexpr T quarter = most / 4;
  return {{T(most - 10), most, 4},
          {T(most - 3), most, 1},
          {0, most, T(quarter + 1)},
          {0, most, T(most / 2)},
          {1, most, most},
          {0, most, most},
          {T(most - 1), most, most},
          {least, most, T(quarter * 3)},
          {least, most, most},
          {least, T(least + 9), 4},
          {-5, most, T(quarter)},
          {least, T(least + 3), 1},
          {T(least + 2), most, T(most - 1)},
          {most, most, 3},
          {most, least, 5},
          {5, 0, 2},
          {7, -9, 3},
          {-3, 8, 4},
          {T(most - 7), T(most - 1), 2},
          {0, T(most - 1), T(most / 3)}};
}

/// What a kernel notes of a loop: its rounds, and its indices in order.
template <class T> struct Note {
  uint64_t rounds = 0, indices = 0;
  void add(Wide index) {
    ++rounds, indices = indices * 31 + static_cast<uint64_t>(static_cast<T>(index));
  }
};
template <class T> Note<T> noteUpwards(const Bounds<T> &bounds) {
  Note<T> note;
  for (Wide i = bounds.lo; i < bounds.hi; i += bounds.step)
    note.add(i);
  return note;
}
template <class T> Note<T> noteDownwards(const Bounds<T> &bounds) {
  Note<T> note;
  for (Wide i = bounds.hi; i > bounds.lo; i -= bounds.step)
    note.add(i);
  return note;
}

void noteIn(Var &rounds, Var &indices, Value index) {
  rounds += 1;
  indices = indices * 31 + cast(i64, index);
}

template <class T> void expectNote(const std::vector<int64_t> &got, const Note<T> &expected) {
  EXPECT_EQ(got[0], static_cast<int64_t>(expected.rounds));
  EXPECT_EQ(got[1], static_cast<int64_t>(expected.indices));
}

template <class T> std::string textOf(const Bounds<T> &bounds) {
  return show(bounds.lo) + " .. " + show(bounds.hi) + " by " + show(bounds.step);
}

template <class T> auto upwardsLoop() {
  return kernel("upwards", [](Out<i64, 1> y, Scalar<dtypeOf<T>> lo, Scalar<dtypeOf<T>> hi,
                              Scalar<dtypeOf<T>> step, Const Unroll) {
    auto rounds = var(cast(i64, 0)), indices = var(cast(i64, 0));
    for (auto i : range(lo, hi, step).unroll(Unroll))
      noteIn(rounds, indices, i);
    y.tile({1})(0) = splat(rounds, {1});
    y.tile({1})(1) = splat(indices, {1});
  });
}

#define UPWARDS_TEST(name, T)                                                                      \
  TEST_P(RangeEnds, name) {                                                                        \
    static const auto program = upwardsLoop<T>();                                                  \
    for (int unroll : {1, 2, 3})                                                                   \
      for (const Bounds<T> &bounds : upwards<T>()) {                                               \
        SCOPED_TRACE(textOf(bounds) + ", unrolled " + std::to_string(unroll));                     \
        auto y = output<int64_t>({2});                                                             \
        program.consts(unroll).grid(1)(stream, y.tensor(), bounds.lo, bounds.hi, bounds.step);     \
        expectNote(y.result(), noteUpwards(bounds));                                               \
      }                                                                                            \
  }
UPWARDS_TEST(UpwardsI32, int32_t)
UPWARDS_TEST(UpwardsI64, int64_t)

/// As `upwards`, with steps that a host integer holds.
template <class T> std::vector<Bounds<T>> downwards(int step) {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  std::vector<Bounds<T>> all = {{T(most - 10), most, 0},
                                {least, T(least + 10), 0},
                                {most, most, 0},
                                {most, least, 0},
                                {9, 2, 0},
                                {2, 9, 0}};
  if (step > std::numeric_limits<T>::max() / 16) // few rounds
    append(all, {{least, most, 0}, {0, most, 0}, {least, 0, 0}, {-1, most, 0}});
  for (Bounds<T> &bounds : all)
    bounds.step = step;
  return all;
}

template <class T> auto downwardsLoop() {
  return kernel("downwards", [](Out<i64, 1> y, Scalar<dtypeOf<T>> lo, Scalar<dtypeOf<T>> hi,
                                Const Step, Const Unroll) {
    auto rounds = var(cast(i64, 0)), indices = var(cast(i64, 0));
    for (auto i : range(hi, lo, -int(Step)).unroll(Unroll))
      noteIn(rounds, indices, i);
    y.tile({1})(0) = splat(rounds, {1});
    y.tile({1})(1) = splat(indices, {1});
  });
}

#define DOWNWARDS_TEST(name, T)                                                                    \
  TEST_P(RangeEnds, name) {                                                                        \
    static const auto program = downwardsLoop<T>();                                                \
    for (int unroll : {1, 3})                                                                      \
      for (int step : {1, 4, 7, 1 << 28, 1 << 30, 2147483647})                                     \
        for (const Bounds<T> &bounds : downwards<T>(step)) {                                       \
          SCOPED_TRACE(textOf(bounds) + ", unrolled " + std::to_string(unroll));                   \
          auto y = output<int64_t>({2});                                                           \
          program.consts(step, unroll).grid(1)(stream, y.tensor(), bounds.lo, bounds.hi);          \
          expectNote(y.result(), noteDownwards(bounds));                                           \
        }                                                                                          \
  }
DOWNWARDS_TEST(DownwardsI32, int32_t)
DOWNWARDS_TEST(DownwardsI64, int64_t)

// The bounds are constants of the kernel.
TEST_P(RangeEnds, Constants) {
  static const auto program =
      kernel("constants", [](Out<i64, 1> y, Const Lo, Const Hi, Const Step, Const Unroll) {
        auto rounds = var(cast(i64, 0)), indices = var(cast(i64, 0));
        for (auto i : range(int(Lo), int(Hi), int(Step)).unroll(Unroll))
          noteIn(rounds, indices, i);
        y.tile({1})(0) = splat(rounds, {1});
        y.tile({1})(1) = splat(indices, {1});
      });
  for (int unroll : {1, 2})
    for (const Bounds<int32_t> &bounds : upwards<int32_t>()) {
      SCOPED_TRACE(textOf(bounds) + ", unrolled " + std::to_string(unroll));
      auto y = output<int64_t>({2});
      program.consts(bounds.lo, bounds.hi, bounds.step, unroll).grid(1)(stream, y.tensor());
      expectNote(y.result(), noteUpwards(bounds));
    }
}

/// Two loops that become one: the notes of all pairs of indices, or, with work behind the inner loop, sums of what it comes to.
template <class T, bool HasWork> auto nest() {
  return kernel("nest", [](InOut<i64, 1> y, Scalar<dtypeOf<T>> lo, Scalar<dtypeOf<T>> hi,
                           Scalar<dtypeOf<T>> step, Scalar<dtypeOf<T>> innerLo) {
    auto rounds = var(cast(i64, 0)), indices = var(cast(i64, 0));
    for (auto i : range(lo, hi, step).flatten()) {
      if (HasWork) {
        auto sum = var(cast(i64, i));
        for (auto j : range(innerLo, hi, step))
          sum = sum * 31 + cast(i64, j);
        atomic_add(y.ptr(), cast(i64, 1));
        atomic_add(y.ptr() + 1, sum);
      } else {
        for (auto j : range(innerLo, hi, step))
          noteIn(rounds, indices, cast(i64, i) * 3 + cast(i64, j));
      }
    }
    if (!HasWork) {
      store(y.ptr(), rounds);
      store(y.ptr() + 1, indices);
    }
  });
}

template <class T> Note<int64_t> noteOfNest(const Bounds<T> &bounds, T innerLo, bool hasWork) {
  Note<int64_t> note;
  for (Wide i = bounds.lo; i < bounds.hi; i += bounds.step) {
    auto sum = static_cast<uint64_t>(i);
    for (Wide j = innerLo; j < bounds.hi; j += bounds.step)
      if (hasWork)
        sum = sum * 31 + static_cast<uint64_t>(j);
      else
        note.add(i * 3 + j);
    if (hasWork)
      ++note.rounds, note.indices += sum;
  }
  return note;
}

// The number less one; of the smallest one, the largest.
template <class T> T before(T number) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(number) - 1u);
}

#define NEST_TEST(name, T, HasWork)                                                                \
  TEST_P(RangeEnds, name) {                                                                        \
    static const auto program = nest<T, HasWork>();                                                \
    for (const Bounds<T> &bounds : upwards<T>())                                                   \
      for (T innerLo : {bounds.lo, before(bounds.hi), bounds.hi}) {                                \
        SCOPED_TRACE(textOf(bounds) + ", inner from " + show(innerLo));                            \
        if (innerLo > bounds.hi) /* the smallest number less 1 */                                  \
          continue;                                                                                \
        auto y = input<int64_t>({2}, {0, 0});                                                      \
        program.grid(1)(stream, y, bounds.lo, bounds.hi, bounds.step, innerLo);                    \
        expectNote(y.download(), noteOfNest(bounds, innerLo, HasWork));                            \
      }                                                                                            \
  }
NEST_TEST(NestI32, int32_t, false)
NEST_TEST(NestI64, int64_t, false)
NEST_TEST(NestWithWorkI32, int32_t, true)
NEST_TEST(NestWithWorkI64, int64_t, true)

// Programs share the indices, each by a step of their number.
TEST_P(RangeEnds, SharedAmongPrograms) {
  static const auto program = kernel("shared", [](InOut<i64, 1> y, Scalar<i32> lo, Scalar<i32> hi) {
    for (auto i : range(program_id(0) + lo, hi, num_programs(0))) {
      atomic_add(y.ptr(), cast(i64, 1));
      atomic_add(y.ptr() + 1, cast(i64, i));
    }
  });
  for (int32_t hi : {2147483647, 2147483646, 9, -2147483647})
    for (int32_t programs : {1, 5, 7}) {
      SCOPED_TRACE(show(hi) + ", programs " + show(programs));
      auto y = input<int64_t>({2}, {0, 0});
      program.grid(programs)(stream, y, std::max(hi, -2147483640) - 8, hi);
      int64_t sum = 0, rounds = 0;
      for (int64_t i = std::max(hi, -2147483640) - 8; i < hi; ++i)
        sum += i, ++rounds;
      EXPECT_EQ(y.download(), (std::vector<int64_t>{rounds, sum}));
    }
}

/// A sum of as many products of 64 x 32 and 32 x 64 as the loop has rounds.
template <class T> auto products() {
  return kernel("products", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c, Scalar<dtypeOf<T>> lo,
                               Scalar<dtypeOf<T>> hi, Scalar<dtypeOf<T>> step, Const Stages,
                               Const Unroll, Const IsSpecial) {
    auto sum = var(zeros(f32, {64, 64}));
    Range steps = range(lo, hi, step).stages(Stages).unroll(Unroll);
    for (auto k : int(IsSpecial) ? steps.warp_specialize() : steps) {
      Value n = cast(i32, (cast(u64, k) - cast(u64, lo)) / cast(u64, step));
      sum = dot(a.tile({64, 32})(0, n), b.tile({32, 64})(n, 0), sum);
    }
    c.tile({64, 64})(0, 0) = sum;
  });
}

constexpr int64_t kMostRounds = 6;

#define PRODUCTS_TEST(name, T)                                                                     \
  TEST_P(RangeEndsOfProducts, name) {                                                              \
    static const auto program = products<T>();                                                     \
    std::vector<half> a(64 * 32 * kMostRounds), b(a.size());                                       \
    for (size_t i = 0; i < a.size(); ++i)                                                          \
      a[i] = half(i % (32 * kMostRounds) / 32 + 1.0f), b[i] = half(i % 64 % 5);                    \
    auto left = input({64, 32 * kMostRounds}, a), right = input({32 * kMostRounds, 64}, b);        \
    for (auto [stages, unroll, special] : {std::array{3, 1, 0}, {4, 2, 0}, {3, 1, 1}})             \
      for (const Bounds<T> &bounds : upwards<T>()) {                                               \
        auto rounds = static_cast<int64_t>(noteUpwards(bounds).rounds);                            \
        ASSERT_LE(rounds, kMostRounds);                                                            \
        SCOPED_TRACE(textOf(bounds) + ", stages " + show(stages) + ", unroll " + show(unroll));    \
        auto c = output<float>({64, 64});                                                          \
        program.consts(stages, unroll, special)                                                    \
            .grid(1)(stream, left, right, c.tensor(), bounds.lo, bounds.hi, bounds.step);          \
        expectAll(c.result(), [&](int64_t i) {                                                     \
          return 32.0 * static_cast<double>(rounds * (rounds + 1) / 2 * (i % 64 % 5));             \
        });                                                                                        \
      }                                                                                            \
  }
PRODUCTS_TEST(ProductsI32, int32_t)
PRODUCTS_TEST(ProductsI64, int64_t)

} // namespace
