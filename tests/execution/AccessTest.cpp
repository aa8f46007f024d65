// Hints of accesses, volatile ones, prefetches, PTX in kernels, and kernels that assume nothing.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Access, Targets::One);

TEST_P(Access, HintsOfViewsAndPointersChangeNoResult) {
  static const auto program =
      kernel("hinted_copy", [](In<f32, 2> x, Out<f32, 2> y, Const LoadMode, Const StoreMode) {
        static constexpr AccessOptions kLoads[] = {{},
                                                   {.cache = Cache::ca},
                                                   {.cache = Cache::cg},
                                                   {.cache = Cache::cs},
                                                   {.cache = Cache::cv},
                                                   {.evict = Evict::first},
                                                   {.evict = Evict::last},
                                                   {.is_volatile = true}};
        static constexpr AccessOptions kStores[] = {{},
                                                    {.cache = Cache::wb},
                                                    {.cache = Cache::cg},
                                                    {.cache = Cache::cs},
                                                    {.cache = Cache::wt},
                                                    {.evict = Evict::first},
                                                    {.evict = Evict::last},
                                                    {.is_volatile = true}};
        auto [m, n] = grid2d(y, {4, 64});
        x.tile({4, 64}).prefetch({m, n});
        Value v = x.tile({4, 64}).hints(kLoads[LoadMode])(m, n);
        Value rows = m * 4 + index(0, {4, 1}), columns = n * 64 + index(1, {1, 64});
        Value at = rows * x.stride(0) + columns * x.stride(1);
        Value inside = x.tile({4, 64}).inside(m, n);
        prefetch(x.ptr() + at, inside, 1);
        Value again = load(x.ptr() + at, inside, 0, kLoads[LoadMode]);
        y.tile({4, 64}).hints(kStores[StoreMode])(m, n) = v + again;
      });
  for (int64_t columns : {64, 99})
    for (int mode = 0; mode < 8; ++mode) {
      std::vector<float> x = uniform<float>(6 * columns);
      auto y = output<float>({6, columns});
      program.consts(mode, 7 - mode)(stream, input({6, columns}, x), y.tensor());
      expectAll(y.result(), [&](int64_t i) { return 2 * x[size_t(i)]; });
    }
}

TEST_P(Access, HintsOfPointerStores) {
  static const auto program = kernel("hinted_store", [](Out<i16, 1> y, Const B) {
    Value i = program_id(0) * B + index(0, {B});
    store(y.ptr() + i, cast(i16, i * 3), i < y.dim(0), {.cache = Cache::wt});
    store(y.ptr() + i, cast(i16, i * 3), i < y.dim(0), {.is_volatile = true});
  });
  auto y = output<int16_t>({300});
  program.consts(128).grid(3)(stream, y.tensor());
  expectAll(y.result(), [](int64_t i) { return i * 3; });
}

TEST_P(Access, PtxOfEveryRegisterClass) {
  static const auto program = kernel("ptx", [](In<i32, 1> x, Out<i64, 2> y, Const B) {
    Value i = grid1d(x, {B}), v = x.tile({B})(i);
    Value r = inline_ptx("mad.lo.s32 $0, $1, $1, $2;", "=r,r,r", {v, 7}, {i32})[0];
    Value h = inline_ptx("add.s16 $0, $1, $1;", "=h,h", {cast(i16, v)}, {i16})[0];
    Value l = inline_ptx("mul.wide.s32 $0, $1, 3;", "=l,r", {v}, {i64})[0];
    Value f = inline_ptx("add.f32 $0, $1, 0f3F800000;", "=f,f", {cast(f32, v)}, {f32})[0];
    Value d = inline_ptx("{ .reg .f64 t; add.f64 t, $1, $1; mov.f64 $0, t; }", "=d,d",
                         {cast(f64, v)}, {f64})[0];
    auto two = inline_ptx("add.s32 $0, $2, 1; sub.s32 $1, $2, 1;", "=&r,=r,r", {v}, {i32, i32});
    Value rows[] = {cast(i64, r),      cast(i64, h),     l, cast(i64, f), cast(i64, d),
                    cast(i64, two[0]), cast(i64, two[1])};
    for (int row = 0; row < 7; ++row)
      y.tile({1, B})(row, i) = expand_dims(rows[row], 0);
  });
  std::vector<int> x(77);
  for (int i = 0; i < 77; ++i)
    x[size_t(i)] = i - 30;
  auto y = output<int64_t>({7, 77});
  program.consts(64)(stream, input({77}, x), y.tensor());
  expectAll(y.result(), [&](int64_t e) -> int64_t {
    int64_t v = x[size_t(e % 77)];
    int64_t expected[] = {v * v + 7, 2 * v, 3 * v, v + 1, 2 * v, v + 1, v - 1};
    return expected[e / 77];
  });
}

TEST_P(Access, PtxOfPackedElements) {
  static const auto program = kernel("packed", [](In<i8, 1> x, In<i16, 1> z, Out<i8, 1> y,
                                                  Out<i16, 1> w, Const B) {
    Value i = grid1d(x, {B});
    y.tile({B})(i) =
        inline_ptx("xor.b32 $0, $1, 0x01020408;", "=r,r", {x.tile({B})(i)}, {i8}, {.pack = 4})[0];
    w.tile({B})(i) = inline_ptx("not.b32 $0, $1;", "=r,r", {z.tile({B})(i)}, {i16}, {.pack = 2})[0];
  });
  for (int block : {4, 32, 256, 96}) {
    std::vector<int8_t> x(100);
    std::vector<int16_t> z(100);
    for (int i = 0; i < 100; ++i)
      x[size_t(i)] = int8_t(i - 50), z[size_t(i)] = int16_t(i * 100 - 3000);
    auto y = output<int8_t>({100});
    auto w = output<int16_t>({100});
    program.consts(block)(stream, input({100}, x), input({100}, z), y.tensor(), w.tensor());
    expectAll(w.result(), [&](int64_t i) { return ~z[size_t(i)]; });
    // Which elements share a register is open: each has one of the four bytes flipped.
    std::vector<int8_t> result = y.result();
    for (int i = 0; i < 100; ++i) {
      int flipped = (result[size_t(i)] ^ x[size_t(i)]) & 0xff;
      EXPECT_TRUE(flipped == 1 || flipped == 2 || flipped == 4 || flipped == 8) << i;
    }
  }
}

TEST_P(Access, ImpurePtxRunsInOrder) {
  static const auto program = kernel("impure", [](InOut<i32, 1> y) {
    Value address = inline_ptx("mov.u64 $0, $1;", "=l,l", {cast(i64, 0)}, {i64})[0];
    y.tile({32})(0) = index(0, {32}) * 2;
    inline_ptx("membar.cta;", "", {}, {}, {.pure = false});
    Value v = y.tile({32})(0);
    y.tile({32})(0) = flip(v, 0) + cast(i32, address);
  });
  auto y = output<int32_t>({32});
  program.grid(1).warps(1)(stream, y.tensor());
  expectAll(y.result(), [](int64_t i) { return (31 - i) * 2; });
}

TEST_P(Access, NothingAssumedOfArguments) {
  static const auto program = kernel("assumes_nothing", [](In<f32, 2> x, Out<f32, 2> y, Const B) {
    auto [m, n] = grid2d(y, {B, B});
    y.tile({B, B})(m, n) = x.tile({B, B})(m, n) * 2.0f;
  });
  for (auto [m, n] : {std::pair{64, 64}, {33, 17}}) {
    std::vector<float> x = uniform<float>(m * n);
    auto y = output<float>({m, n}, 5);
    program.consts(32).no_assume()(stream, input({m, n}, x), y.tensor());
    expectAll(y.result(), [&](int64_t i) { return 2 * x[size_t(i)]; });
  }
}

TEST_P(Access, CompareAndSwapOfSixteenBits) {
  static const auto program = kernel("cas16", [](InOut<i16, 1> y, Out<i16, 1> old, Const B) {
    Value i = program_id(0) * B + index(0, {B});
    Value inside = i < y.dim(0), number = cast(i16, i);
    Value before = atomic_cas(y.ptr() + i, cast(i16, 5), number, inside);
    old.tile({B})(program_id(0)) = before;
  });
  std::vector<int16_t> x(100);
  for (int i = 0; i < 100; ++i)
    x[size_t(i)] = int16_t(i % 3 ? 5 : -7);
  auto y = input<int16_t>({100}, x);
  auto old = output<int16_t>({100});
  program.consts(64).grid(2)(stream, y, old.tensor());
  expectAll(old.result(), [&](int64_t i) { return x[size_t(i)]; });
  expectAll(y.download(), [&](int64_t i) { return x[size_t(i)] == 5 ? i : -7; });
}

} // namespace
