// Kernels as people write them, where products, reductions, broadcasts, loops and changes of layout
// meet: each is compared with a plain loop in double.
#include "tests/execution/Harness.h"

#include <numeric>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Composition);
/// Those that have the same instructions on both targets.
EXECUTION_SUITE(CompositionOfRows, Targets::One);

using Matrix = std::vector<double>;

/// The product of rows x inner by inner x columns.
Matrix product(const Matrix &a, const Matrix &b, int64_t rows, int64_t columns, int64_t inner) {
  Matrix c(size_t(rows * columns), 0);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t j = 0; j < columns; ++j)
        c[size_t(i * columns + j)] += a[size_t(i * inner + k)] * b[size_t(k * columns + j)];
  return c;
}
Matrix transposed(const Matrix &x, int64_t rows, int64_t columns) {
  Matrix y(x.size());
  for (int64_t i = 0; i < rows * columns; ++i)
    y[size_t(i % columns * rows + i / columns)] = x[size_t(i)];
  return y;
}
template <class T> Matrix wide(const std::vector<T> &x) {
  Matrix y;
  for (T value : x)
    y.push_back(exact(value));
  return y;
}
Matrix softmaxRows(Matrix x, int64_t columns) {
  for (size_t row = 0; row < x.size(); row += size_t(columns)) {
    double sum = 0;
    for (size_t i = row; i < row + size_t(columns); ++i)
      sum += x[i] = std::exp(x[i]);
    for (size_t i = row; i < row + size_t(columns); ++i)
      x[i] /= sum;
  }
  return x;
}

TEST_P(Composition, FlashAttention) {
  static const auto program =
      kernel("attention", [](In<f16, 2> q, In<f16, 2> k, In<f16, 2> v, Out<f32, 2> o, Const BM,
                             Const BN, Const D, Const causal) {
        Value m = grid1d(o, {BM});
        Value queries = q.tile({BM, D})(m, 0);
        auto largest = var(full(f32, {BM}, -1e30f)), total = var(zeros(f32, {BM}));
        auto sums = var(zeros(f32, {BM, D}));
        Value rows = expand_dims(arange(BM) + m * BM, 1);
        for (auto n : range(cdiv(k.dim(0), BN))) {
          Value scores = dot(queries, k.T().tile({D, BN})(0, n));
          Value columns = expand_dims(arange(BN) + n * BN, 0);
          Value visible = columns < k.dim(0);
          if (causal)
            visible = visible & (columns <= rows);
          else
            visible = visible & (rows == rows);
          scores = select(visible, scores, -1e30f);
          Value now = max(largest, reduce_max(scores, 1));
          Value weights = exp(scores - expand_dims(now, 1));
          Value scale = exp(largest - now);
          total = total * scale + sum(weights, 1);
          sums = dot(cast(f16, weights), v.tile({BN, D})(n, 0), sums * expand_dims(scale, 1));
          largest = now;
        }
        o.tile({BM, D})(m, 0) = sums / expand_dims(total, 1);
      });
  for (auto [rows, keys, d, warps] : {std::array<int64_t, 4>{100, 150, 32, 4},
                                      {64, 64, 64, 4},
                                      {33, 65, 48, 2},
                                      {70, 70, 16, 1},
                                      {128, 100, 80, 8}})
    for (int causal : {0, 1}) {
      SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(keys) + "x" + std::to_string(d) +
                   (causal ? " causal" : ""));
      auto q = uniform<half>(rows * d, -1, 1, 1), k = uniform<half>(keys * d, -1, 1, 2),
           v = uniform<half>(keys * d, -1, 1, 3);
      auto o = output<float>({rows, d}, 3);
      program.consts(32, 64, int(d), causal)
          .warps(int(warps))(stream, input({rows, d}, q), input({keys, d}, k), input({keys, d}, v),
                             o.tensor());
      Matrix scores = product(wide(q), transposed(wide(k), keys, d), rows, keys, d);
      for (int64_t i = 0; causal && i < rows * keys; ++i)
        if (i % keys > i / keys)
          scores[size_t(i)] = -INFINITY;
      Matrix expected = product(softmaxRows(scores, keys), wide(v), rows, d, keys);
      expectAll(o.result(), [&](int64_t i) { return expected[size_t(i)]; }, {0, 2e-3});
    }
}

// The second product takes rows of the first, and its accumulator is scaled by their sums: with enough rows both are shared
// by rows alone, of odd multiples of an instruction's too.
TEST_P(Composition, ProductsThatPassRowsOn) {
  static const auto program =
      kernel("passed_on", [](In<f16, 2> x, In<f16, 2> w, In<f16, 2> u, In<f32, 2> start,
                             Out<f32, 2> y, Const M, Const K, Const N) {
        Value inner = relu(dot(x.tile({M, K})(0, 0), w.tile({K, N})(0, 0)));
        Value sums = expand_dims(sum(inner, 1), 1);
        y.tile({M, K})(0, 0) =
            dot(cast(f16, inner), u.tile({N, K})(0, 0), start.tile({M, K})(0, 0) * sums);
      });
  for (auto [m, k, n, warps] : {std::array<int64_t, 4>{64, 32, 48, 4},
                                {192, 16, 32, 4},
                                {96, 32, 16, 4},
                                {128, 48, 32, 8},
                                {16, 32, 64, 4},
                                {48, 32, 32, 2},
                                {20, 24, 40, 4}}) {
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n));
    auto x = uniform<half>(m * k, -1, 1, 1), w = uniform<half>(k * n, -1, 1, 2),
         u = uniform<half>(n * k, -1, 1, 3);
    auto start = uniform<float>(m * k, -1, 1, 4);
    auto y = output<float>({m, k}, 1);
    program.consts(int(m), int(k), int(n))
        .warps(int(warps))
        .grid(1)(stream, input({m, k}, x), input({k, n}, w), input({n, k}, u), input({m, k}, start),
                 y.tensor());
    Matrix inner = product(wide(x), wide(w), m, n, k);
    Matrix sums(size_t(m), 0);
    for (size_t i = 0; i < inner.size(); ++i) {
      inner[i] = std::fmax(inner[i], 0.0);
      sums[i / size_t(n)] += inner[i];
    }
    Matrix expected = product(inner, wide(u), m, k, n);
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] += exact(start[i]) * sums[i / size_t(k)];
    expectAll(y.result(), [&](int64_t i) { return expected[size_t(i)]; }, {0, 2e-2});
  }
}

TEST_P(Composition, ProductOfComputedOperands) {
  // Operands come from registers, transposed, masked and broadcast; the result is reduced both ways.
  static const auto program =
      kernel("computed", [](In<f16, 2> a, In<f16, 1> scale, Out<f32, 2> gram, Out<f32, 1> rows,
                            Out<f32, 1> columns, Const M, Const K) {
        Value tile = a.tile({M, K})(0, 0);
        Value scaled = relu(tile) * expand_dims(scale.tile({K})(0), 0);
        Value g = dot(trans(scaled), cast(f16, tile * tile));
        gram.tile({K, K})(0, 0) = g;
        rows.tile({K})(0) = sum(g, 1);
        columns.tile({K})(0) = reduce_max(g, 0);
      });
  for (auto [m, k, warps] :
       {std::array{32, 64, 4}, {64, 48, 2}, {16, 96, 4}, {80, 32, 1}, {128, 16, 8}}) {
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(k));
    auto a = uniform<half>(m * k), s = uniform<half>(k, 0, 1, 2);
    auto gram = output<float>({k, k}, 1);
    auto rows = output<float>({k}), columns = output<float>({k});
    program.consts(m, k).warps(warps).grid(1)(stream, input({m, k}, a), input({k}, s),
                                              gram.tensor(), rows.tensor(), columns.tensor());
    Matrix left(size_t(m * k)), right(size_t(m * k));
    for (size_t i = 0; i < left.size(); ++i) {
      left[i] = exact(half(float(std::fmax(exact(a[i]), 0.0) * exact(s[i % size_t(k)]))));
      right[i] = exact(half(float(exact(a[i]) * exact(a[i]))));
    }
    Matrix g = product(transposed(left, m, k), right, k, k, m);
    expectAll(gram.result(), [&](int64_t i) { return g[size_t(i)]; }, {0, 1e-4});
    expectAll(rows.result(),
              [&](int64_t i) {
                double sum = 0;
                for (int64_t j = 0; j < k; ++j)
                  sum += g[size_t(i * k + j)];
                return sum;
              },
              {0, 1e-3});
    expectAll(columns.result(),
              [&](int64_t j) {
                double most = -INFINITY;
                for (int64_t i = 0; i < k; ++i)
                  most = std::fmax(most, g[size_t(i * k + j)]);
                return most;
              },
              {0, 1e-4});
  }
}

TEST_P(Composition, TwoProductsShareOperandsAndOneLoop) {
  static const auto program =
      kernel("swiglu", [](In<f16, 2> x, In<f16, 2> gate, In<f16, 2> up, In<f32, 1> bias,
                          Out<f16, 2> y, Const BM, Const BN, Const BK) {
        auto [m, n] = grid2d(y, {BM, BN});
        auto gated = var(zeros(f32, {BM, BN})), passed = var(zeros(f32, {BM, BN}));
        for (auto k : range(cdiv(x.dim(1), BK)).stages(2)) {
          Value tile = x.tile({BM, BK})(m, k);
          gated = dot(tile, gate.tile({BK, BN})(k, n), gated);
          passed = dot(tile, up.tile({BK, BN})(k, n), passed);
        }
        y.tile({BM, BN})(m, n) = cast(f16, silu(gated) * (passed + bias.tile({BN})(n)));
      });
  for (auto [m, n, k] : {std::array<int64_t, 3>{70, 90, 100}, {32, 48, 16}, {1, 200, 33}}) {
    auto x = uniform<half>(m * k, -1, 1, 1), gate = uniform<half>(k * n, -1, 1, 2),
         up = uniform<half>(k * n, -1, 1, 3);
    auto bias = uniform<float>(n, -1, 1, 4);
    auto y = output<half>({m, n}, 5);
    program.consts(32, 48, 16)(stream, input({m, k}, x), input({k, n}, gate), input({k, n}, up),
                               input({n}, bias), y.tensor());
    Matrix g = product(wide(x), wide(gate), m, n, k), u = product(wide(x), wide(up), m, n, k);
    expectAll(y.result(),
              [&](int64_t i) {
                double value = g[size_t(i)];
                return value / (1 + std::exp(-value)) * (u[size_t(i)] + bias[size_t(i % n)]);
              },
              {0.6, 1e-3});
  }
}

TEST_P(CompositionOfRows, LayerNormOverLongRows) {
  static const auto program =
      kernel("layer_norm", [](In<f16, 2> x, In<f32, 1> gain, Out<f16, 2> y, Const B) {
        Value row = program_id(0), count = cast(f32, x.dim(1));
        auto total = var(zeros(f32, {1, B})), squares = var(zeros(f32, {1, B}));
        for (auto k : range(cdiv(x.dim(1), B))) {
          Value tile = cast(f32, x.tile({1, B})(row, k));
          total += tile;
          squares += tile * tile;
        }
        Value mean = sum(total, 1, {.keep_dims = true}) / count;
        Value variance = sum(squares, 1, {.keep_dims = true}) / count - mean * mean;
        for (auto k : range(cdiv(x.dim(1), B))) {
          Value tile = cast(f32, x.tile({1, B})(row, k));
          y.tile({1, B})(row, k) =
              cast(f16, (tile - mean) * rsqrt(variance + 1e-5f) * gain.tile({B})(k));
        }
      });
  for (int64_t columns : {5, 256, 1000, 3001}) {
    int64_t rows = 5;
    auto x = uniform<half>(rows * columns, -2, 2);
    auto gain = uniform<float>(columns, 0.5, 2, 2);
    auto y = output<half>({rows, columns}, 1);
    program.consts(256).grid(rows)(stream, input({rows, columns}, x), input({columns}, gain),
                                   y.tensor());
    std::vector<double> means, deviations; // of each row
    for (int64_t row = 0; row < rows; ++row) {
      double mean = 0, variance = 0;
      for (int64_t k = 0; k < columns; ++k)
        mean += exact(x[size_t(row * columns + k)]) / double(columns);
      for (int64_t k = 0; k < columns; ++k)
        variance += std::pow(exact(x[size_t(row * columns + k)]) - mean, 2) / double(columns);
      means.push_back(mean), deviations.push_back(std::sqrt(variance + 1e-5));
    }
    expectAll(y.result(),
              [&](int64_t i) {
                size_t row = size_t(i / columns);
                return (exact(x[size_t(i)]) - means[row]) / deviations[row] *
                       gain[size_t(i % columns)];
              },
              {0.6, 1e-4});
  }
}

TEST_P(CompositionOfRows, CrossEntropyGathersItsTargets) {
  static const auto program = kernel("cross_entropy", [](In<f32, 2> logits, In<i32, 1> targets,
                                                         Out<f32, 1> loss, Const BM, Const C) {
    Value m = grid1d(loss, {BM});
    Value x = logits.tile({BM, C}).pad(-INFINITY)(m, 0);
    Value target = targets.tile({BM})(m);
    Value highest = reduce_max(x, 1);
    Value logSum = log(sum(exp(x - expand_dims(highest, 1)), 1)) + highest;
    Value isTarget = expand_dims(arange(C), 0) == expand_dims(target, 1);
    Value chosen = sum(select(isTarget, x, 0.0f), 1);
    loss.tile({BM})(m) = logSum - chosen;
  });
  for (auto [classes, tile] : {std::pair<int64_t, int>(10, 16), {100, 128}, {90, 96}}) {
    auto logits = uniform<float>(50 * classes, -5, 5);
    auto targets = uniform<int32_t>(50, 0, double(classes));
    auto loss = output<float>({50});
    program.consts(16, tile)(stream, input({50, classes}, logits), input({50}, targets),
                             loss.tensor());
    expectAll(loss.result(),
              [&](int64_t i) {
                double sum = 0;
                for (int64_t c = 0; c < classes; ++c)
                  sum += std::exp(double(logits[size_t(i * classes + c)]));
                return std::log(sum) - logits[size_t(i * classes + targets[size_t(i)])];
              },
              {8, 2e-6});
  }
}

TEST_P(CompositionOfRows, ReductionsOfPermutedCubes) {
  static const auto program =
      kernel("cube", [](In<f32, 3> x, Out<f32, 2> y, Const A, Const B, Const C) {
        Value cube = permute(x.tile({A, B, C})(0, 0, 0), {2, 0, 1});
        Value centred = cube - reduce_max(cube, 2, {.keep_dims = true});
        y.tile({A, C})(0, 0) = trans(sum(centred, 2));
      });
  for (auto [a, b, c] : {std::array{4, 8, 16}, {16, 4, 48}, {2, 96, 8}, {1, 16, 16}, {8, 1, 32}})
    for (int warps : {1, 4}) {
      SCOPED_TRACE(std::to_string(a) + "x" + std::to_string(b) + "x" + std::to_string(c));
      auto x = uniform<float>(a * b * c);
      auto y = output<float>({a, c}, 1);
      program.consts(a, b, c).warps(warps).grid(1)(stream, input({a, b, c}, x), y.tensor());
      expectAll(y.result(),
                [&](int64_t i) {
                  double most = -INFINITY, sum = 0;
                  for (int64_t k = 0; k < b; ++k) {
                    double value = x[size_t((i / c * b + k) * c + i % c)];
                    most = std::fmax(most, value), sum += value;
                  }
                  return sum - most * b;
                },
                {0, 1e-4});
    }
}

TEST_P(CompositionOfRows, PowersOfAMatrixInALoopWithABranch) {
  static const auto program =
      kernel("powers", [](In<f32, 2> a, Out<f32, 2> y, Scalar<i32> exponent) {
        auto base = var(a.tile({32, 32})(0, 0));
        Value i = expand_dims(arange(32), 1), j = expand_dims(arange(32), 0);
        auto result = var(cast(f32, i == j));
        auto rest = var(exponent);
        while_([&] { return rest > 0; },
               [&] {
                 if_(rest % 2 == 1, [&] { result = dot(result, base); });
                 base = dot(base, base);
                 rest = rest / 2;
               });
        y.tile({32, 32})(0, 0) = result;
      });
  auto a = uniform<float>(32 * 32, -0.2, 0.2);
  for (int exponent : {0, 1, 2, 5, 6}) {
    auto y = output<float>({32, 32});
    program.grid(1)(stream, input({32, 32}, a), y.tensor(), exponent);
    Matrix expected(32 * 32, 0);
    for (size_t i = 0; i < 32; ++i)
      expected[i * 33] = 1;
    for (int i = 0; i < exponent; ++i)
      expected = product(expected, wide(a), 32, 32, 32);
    expectAll(y.result(), [&](int64_t i) { return expected[size_t(i)]; }, {0, 1e-4});
  }
}

// Sorting mirrors and halves tiles: what is left lies where warps repeat each other's elements, mirrored.
TEST_P(CompositionOfRows, SumsOfTheLargest) {
  static const auto program =
      kernel("sum_of_largest", [](In<f32, 2> x, Out<f32, 1> y, Const R, Const C, Const K) {
        y.tile({R})(0) = sum(topk(x.tile({R, C})(0, 0), K), 1);
      });
  for (auto [rows, columns, k] : {std::array{3, 64, 4}, {1, 128, 8}, {8, 32, 2}, {2, 16, 16}})
    for (int warps : {1, 2, 4, 8}) {
      SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns) + ", " +
                   std::to_string(warps) + " warps");
      auto x = uniform<float>(rows * columns);
      auto y = output<float>({rows});
      program.consts(rows, columns, k)
          .warps(warps)
          .grid(1)(stream, input({rows, columns}, x), y.tensor());
      expectAll(y.result(),
                [&](int64_t row) {
                  std::vector<float> line(x.begin() + row * columns,
                                          x.begin() + (row + 1) * columns);
                  std::ranges::sort(line, std::greater());
                  return std::accumulate(line.begin(), line.begin() + k, 0.0);
                },
                {0, 1e-5});
    }
}

} // namespace
