// Shapes: creation, reshape, permute, expand and broadcast, over tiles with odd factors too.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Shapes, Targets::One);

std::vector<float> counting(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  return values;
}

TEST_P(Shapes, Creation) {
  static const auto program = kernel("creation", [](Out<i32, 2> y, Const B) {
    Value rows[] = {zeros(i32, {B}),          full(i32, {B}, -7),       arange(B),
                    arange(5, 5 + B),         splat(y.dim(1), {B}),     zeros_like(arange(B)),
                    index(0, {B}) * 2,        full(i32, {B}, y.dim(0)), splat(num_programs(0), {B}),
                    splat(program_id(0), {B})};
    for (int row = 0; row < 10; ++row)
      y.tile({1, B})(row, 0) = expand_dims(rows[row], 0);
  });
  for (int tile : {1, 8, 48, 100, 256}) {
    auto results = output<int32_t>({10, tile}, 1);
    program.consts(tile).grid(1)(stream, results.tensor());
    expectAll(results.result(), [&](int64_t at) -> int64_t {
      int64_t i = at % tile;
      int64_t expected[] = {0, -7, i, i + 5, tile, 0, 2 * i, 10, 1, 0};
      return expected[at / tile];
    });
  }
}

TEST_P(Shapes, CreationInEveryDtype) {
  static const auto program =
      kernel("full", [](Out<any, 1> y) { y.tile({64})(0) = full(y.dtype(), {64}, 3); });
  auto check = [&]<class T>(T) {
    auto results = output<T>({61});
    program.grid(1)(stream, results.tensor());
    expectAll(results.result(), [](int64_t) { return 3; });
  };
  check(int8_t()), check(int16_t()), check(int32_t()), check(int64_t());
  check(uint8_t()), check(uint16_t()), check(uint32_t()), check(uint64_t());
  check(half()), check(bfloat16()), check(float()), check(double());
}

TEST_P(Shapes, Reshape) {
  static const auto program =
      kernel("reshape", [](In<f32, 2> x, Out<f32, 2> y, Const M, Const N, Const P, Const Q) {
        y.tile({P, Q})(0, 0) = reshape(x.tile({M, N})(0, 0), {P, Q});
      });
  int cases[][4] = {{16, 64, 64, 16}, {1, 256, 16, 16}, {8, 8, 64, 1},
                    {32, 4, 2, 64},   {96, 16, 96, 16}, {48, 32, 96, 16}};
  for (auto [m, n, p, q] : cases)
    for (int warps : {1, 4}) {
      SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " to " + std::to_string(p));
      std::vector<float> x = counting(m * n);
      auto results = output<float>({p, q});
      program.consts(m, n, p, q).warps(warps).grid(1)(stream, input({m, n}, x), results.tensor());
      expectAll(results.result(), [&](int64_t i) { return x[size_t(i)]; });
    }
}

TEST_P(Shapes, ReshapeThatMovesAnOddFactorIsRefused) {
  static const auto program = kernel("reshape_odd", [](In<f32, 2> x, Out<f32, 2> y) {
    y.tile({8, 160})(0, 0) = reshape(x.tile({16, 80})(0, 0), {8, 160});
  });
  auto x = device().tensor<float>({16, 80}), y = device().tensor<float>({8, 160});
  try {
    program.grid(1)(stream, x, y);
    ADD_FAILURE() << "no error";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("times an odd number"), std::string::npos)
        << error.what();
  }
}

TEST_P(Shapes, ReshapeThroughThreeDimensions) {
  static const auto program = kernel("reshape3", [](In<f32, 1> x, Out<f32, 1> y) {
    Value cube = reshape(x.tile({512})(0), {8, 4, 16});
    y.tile({512})(0) = reshape(permute(cube, {2, 0, 1}), {512});
  });
  std::vector<float> x = counting(512);
  auto results = output<float>({512});
  program.grid(1)(stream, input({512}, x), results.tensor());
  expectAll(results.result(), [&](int64_t i) {
    int64_t c = i / 32, a = i / 4 % 8, b = i % 4;
    return x[size_t((a * 4 + b) * 16 + c)];
  });
}

TEST_P(Shapes, TransposeOfEveryDtypeAndSize) {
  static const auto program =
      kernel("transpose", [](In<any, 2> x, Out<any, 2> y, Const M, Const N) {
        auto [i, j] = grid2d(x, {M, N});
        y.tile({N, M})(j, i) = trans(x.tile({M, N})(i, j));
      });
  auto check = [&]<class T>(T) {
    for (auto [m, n] : {std::pair(32, 32), {16, 96}, {80, 16}, {1, 64}})
      for (auto [rows, columns] : {std::pair<int64_t, int64_t>(67, 131), {1, 1}, {m, n}}) {
        std::vector<T> x = uniform<T>(rows * columns, 0, 100);
        auto results = output<T>({columns, rows}, 5);
        program.consts(m, n)(stream, input({rows, columns}, x), results.tensor());
        expectAll(results.result(),
                  [&](int64_t at) { return exact(x[size_t(at % rows * columns + at / rows)]); });
      }
  };
  check(half()), check(float()), check(int8_t()), check(double());
}

TEST_P(Shapes, ExpandAndBroadcast) {
  static const auto program =
      kernel("outer", [](In<f32, 1> x, In<f32, 1> y, Out<f32, 2> z, Const M, Const N) {
        auto [m, n] = grid2d(z, {M, N});
        Value column = expand_dims(x.tile({M})(m), 1), row = expand_dims(y.tile({N})(n), 0);
        z.tile({M, N})(m, n) = broadcast_to(column, {M, N}) * 1000.0f + row;
      });
  for (auto [m, n] : {std::pair(16, 16), {32, 96}, {1, 128}, {48, 1}})
    for (int warps : {1, 2, 4, 8}) {
      std::vector<float> x = counting(67), y = counting(45);
      auto results = output<float>({67, 45}, 2);
      program.consts(m, n).warps(warps)(stream, input({67}, x), input({45}, y), results.tensor());
      expectAll(results.result(), [](int64_t i) { return double(i / 45 * 1000 + i % 45); });
    }
}

TEST_P(Shapes, PermutedAndTransposedViews) {
  static const auto program = kernel("views", [](In<f32, 3> x, Out<f32, 3> y, Const B) {
    auto [b, m, n] = grid3d(y, {1, B, B});
    y.tile({1, B, B})(b, m, n) = x.permute({2, 0, 1}).T().tile({1, B, B})(b, m, n);
  });
  // x is P x Q x R; permuted R x P x Q; transposed R x Q x P.
  int64_t p = 37, q = 20, r = 3;
  std::vector<float> x = counting(p * q * r);
  auto results = output<float>({r, q, p}, 1);
  program.consts(16)(stream, input({p, q, r}, x), results.tensor());
  expectAll(results.result(), [&](int64_t i) {
    int64_t c = i / (q * p), b = i / p % q, a = i % p;
    return x[size_t((a * q + b) * r + c)];
  });
}

} // namespace
