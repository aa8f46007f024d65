// Activations and their derivatives: accuracy of every function and dtype, tails and infinities, shapes, in place, refusals.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Activations.h>

using namespace tile;
using namespace tile::test;

namespace {

using Forward = void (*)(const Stream &, const ops::Operand &, const ops::Operand &, Loc);
using Backward = void (*)(const Stream &, const ops::Operand &, const ops::Operand &,
                          const ops::Operand &, Loc);
using NewForward = Tensor (*)(const Stream &, const ops::Operand &, Loc);
using NewBackward = Tensor (*)(const Stream &, const ops::Operand &, const ops::Operand &, Loc);
using Reference = double (*)(double);

constexpr double kRootHalf = 0.70710678118654752, kDensity = 0.39894228040143268;

double sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
double timesX(double x, double factor) { return x == -INFINITY ? 0 : x * factor; }
/// geluTanh(x) is x * sigmoid(v).
double tanhArgument(double x) { return 1.5957691216057308 * (x + 0.044715 * x * x * x); }

struct Function {
  const char *name;
  Forward forward;
  NewForward newForward;
  Backward backward;
  NewBackward newBackward;
  Reference at, slope;
  double ulps; ///< what the manual says of f32
};
const Function kFunctions[] = {
    {"relu", ops::relu, ops::relu, ops::reluBackward, ops::reluBackward,
     [](double x) { return x > 0 ? x : 0 * (x != x ? x : 0); },
     [](double x) { return x <= 0 ? 0.0 : 1.0; }, 0},
    {"gelu", ops::gelu, ops::gelu, ops::geluBackward, ops::geluBackward,
     [](double x) { return timesX(x, std::erfc(-x * kRootHalf) / 2); },
     [](double x) {
       double density = std::isinf(x) ? 0 : x * kDensity * std::exp(-x * x / 2);
       return std::erfc(-x * kRootHalf) / 2 + density;
     },
     12},
    {"geluTanh", ops::geluTanh, ops::geluTanh, ops::geluTanhBackward, ops::geluTanhBackward,
     [](double x) { return timesX(x, sigmoid(tanhArgument(x))); },
     [](double x) {
       double s = sigmoid(tanhArgument(x)), rest = sigmoid(-tanhArgument(x));
       if (s == 0 || rest == 0)
         return s;
       return s + x * s * rest * 1.5957691216057308 * (1 + 3 * 0.044715 * x * x);
     },
     6},
    {"silu", ops::silu, ops::silu, ops::siluBackward, ops::siluBackward,
     [](double x) { return timesX(x, sigmoid(x)); },
     [](double x) {
       double s = sigmoid(x), rest = sigmoid(-x);
       return s == 0 || rest == 0 ? s : s * (1 + x * rest);
     },
     6},
    {"sigmoid", ops::sigmoid, ops::sigmoid, ops::sigmoidBackward, ops::sigmoidBackward, sigmoid,
     [](double x) { return sigmoid(x) * sigmoid(-x); }, 5},
    {"tanh", ops::tanh, ops::tanh, ops::tanhBackward, ops::tanhBackward,
     [](double x) { return std::tanh(x); },
     [](double x) { return 4 * sigmoid(2 * x) * sigmoid(-2 * x); }, 5},
};

/// The error that the manual grants y = f(x) or its derivative.
template <class T> Within granted(const Function &function, bool isSlope, double x) {
  if (std::is_same_v<T, double>)
    return {0, 1e-14 * std::max(1.0, std::abs(x))};
  if (isSlope)
    return {0.51, 1e-6};
  double ulps = function.ulps;
  if (std::string(function.name) == "geluTanh" && std::isfinite(x))
    ulps += 2 * std::abs(tanhArgument(x));
  // Beside the smallest normal number the steps are absolute.
  double y = function.at(x), relative = std::isfinite(y) ? std::abs(y) * 0x1p-23 : 0;
  return {std::is_same_v<T, float> ? 0 : 0.51, ulps * std::max(relative, 0x1p-126)};
}

class Activations : public OnDevice {
protected:
  template <class T> std::vector<T> arguments() {
    std::vector<T> x = uniform<T>(1500, -4, 4);
    append(x, uniform<T>(1000, -15, 15, 2));
    append(x, uniform<T>(300, -110, 110, 3));
    append(x, uniform<T>(300, -1e-3, 1e-3, 4));
    append(x, floatEdges<T>());
    return x;
  }
  template <class T> void compare(const Function &function, const std::vector<T> &x) {
    SCOPED_TRACE(std::string(function.name) + " of " + nameOf(dtypeOf<T>));
    int64_t size = int64_t(x.size());
    auto argument = input({size}, x);
    std::vector<T> gradients = uniform<T>(size, -2, 2, 9);
    auto y = output<T>({size}), dx = output<T>({size});
    function.forward(stream, argument, y.tensor(), Loc::here());
    function.backward(stream, argument, input({size}, gradients), dx.tensor(), Loc::here());
    std::vector<T> values = y.result(), slopes = dx.result();
    for (size_t i = 0; i < x.size(); ++i) {
      double at = exact(x[i]), dy = exact(gradients[i]);
      auto what = [&] { return "of " + show(x[i]); };
      Within within = granted<T>(function, true, at);
      within.absolute *= std::max(1.0, std::abs(dy));
      if (!expectNear<T>(values[i], function.at(at), granted<T>(function, false, at), what) ||
          !expectNear<T>(slopes[i], dy * function.slope(at), within, what))
        return;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Activations, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

/// The derivatives that the others are compared with are those of the functions.
TEST(ActivationReferences, SlopesAreCentralDifferences) {
  for (const Function &function : kFunctions)
    for (double x = -6.03; x < 6; x += 0.11) {
      double h = 1e-5, difference = (function.at(x + h) - function.at(x - h)) / (2 * h);
      EXPECT_NEAR(function.slope(x), difference, 1e-9) << function.name << " at " << x;
    }
}

TEST_P(Activations, AreAsAccurateAsTheManualSays) {
  for (const Function &function : kFunctions) {
    compare(function, arguments<float>());
    compare(function, arguments<double>());
    compare(function, arguments<bfloat16>());
    compare(function, arguments<half>());
  }
}

TEST_P(Activations, AllHalves) {
  for (const Function &function : kFunctions)
    if (function.forward == Forward(ops::gelu) || function.forward == Forward(ops::tanh))
      compare(function, allPatterns<half>());
}

TEST_P(Activations, ShapesStridesAndMixedDtypes) {
  auto x = uniform<half>(5 * 33, -3, 3), row = uniform<half>(33, -3, 3, 2);
  auto y = output<float>({5, 33}, 3);
  ops::silu(stream, input({33, 5}, x).T(), y.tensor());
  auto silu = [](double a) { return a * sigmoid(a); };
  expectAll(y.result(), [&](int64_t i) { return silu(exact(x[size_t(i % 33 * 5 + i / 33)])); },
            {12});
  ops::silu(stream, input({33}, row), y.tensor());
  expectAll(y.result(), [&](int64_t i) { return silu(exact(row[size_t(i % 33)])); }, {12});
  auto z = output<double>({40});
  std::vector<float> single = uniform<float>(40, -2, 2, 3);
  z.tensor().upload(std::vector<double>(single.begin(), single.end()));
  ops::tanh(stream, z.tensor(), z.tensor());
  expectAll(z.result(), [&](int64_t i) { return std::tanh(double(single[size_t(i)])); },
            {0, 1e-14});
  auto none = device().tensor<float>({0, 3});
  ops::gelu(stream, none, none);
}

TEST_P(Activations, AllocatingForms) {
  auto x = uniform<float>(60, -3, 3), dy = uniform<float>(20, -3, 3, 2);
  for (const Function &function : kFunctions) {
    Tensor y = function.newForward(stream, input({3, 20}, x), Loc::here());
    Tensor dx = function.newBackward(stream, input({3, 20}, x), input({20}, dy), Loc::here());
    EXPECT_EQ(dx.extent(0), 3);
    expectAll(TensorOf<float>(y).download(), [&](int64_t i) { return function.at(x[size_t(i)]); },
              {20});
    expectAll(TensorOf<float>(dx).download(),
              [&](int64_t i) { return dy[size_t(i % 20)] * function.slope(x[size_t(i)]); },
              {0, 4e-6});
  }
}

TEST_P(Activations, Swiglu) {
  auto check = [&]<class T>(T, double tolerance) {
    SCOPED_TRACE(nameOf(dtypeOf<T>));
    int64_t rows = 7, n = 65;
    auto ab = uniform<T>(rows * 2 * n, -4, 4), gradients = uniform<T>(rows * n, -1, 1, 2);
    auto silu = kFunctions[3];
    auto aAt = [&](int64_t i) { return double(exact(ab[size_t(i / n * 2 * n + i % n)])); };
    auto bAt = [&](int64_t i) { return double(exact(ab[size_t(i / n * 2 * n + n + i % n)])); };
    auto dyAt = [&](int64_t i) { return double(exact(gradients[size_t(i)])); };
    auto forward = [&](int64_t i) { return silu.at(aAt(i)) * bAt(i); };
    auto daAt = [&](int64_t i) { return dyAt(i) * bAt(i) * silu.slope(aAt(i)); };
    auto dbAt = [&](int64_t i) { return dyAt(i) * silu.at(aAt(i)); };
    Within within{0.51, tolerance};
    auto both = input({rows, 2 * n}, ab);
    auto a = both.slice(1, 0, n), b = both.slice(1, n, n), dy = input({rows, n}, gradients);
    auto y = output<T>({rows, n}, 2), da = output<T>({rows, n}), db = output<T>({rows, n}, 5);
    ops::swiglu(stream, a, b, y.tensor());
    expectAll(y.result(), forward, within);
    ops::swigluBackward(stream, a, b, dy, da.tensor(), db.tensor());
    expectAll(da.result(), daAt, within), expectAll(db.result(), dbAt, within);
    // The halves of one tensor.
    auto z = output<T>({rows, n}), dab = output<T>({rows, 2 * n}, 1);
    ops::swigluHalves(stream, both, z.tensor());
    EXPECT_EQ(std::memcmp(z.result().data(), y.result().data(), size_t(rows * n) * sizeof(T)), 0);
    auto halfOf = [&](int64_t i) {
      int64_t row = i / (2 * n), column = i % (2 * n);
      int64_t at = row * n + column % n;
      return column < n ? daAt(at) : dbAt(at);
    };
    ops::swigluHalvesBackward(stream, both, dy, dab.tensor());
    expectAll(dab.result(), halfOf, within);
    expectAll(TensorOf<T>(ops::swigluHalvesBackward(stream, both, dy)).download(), halfOf, within);
    expectAll(TensorOf<T>(ops::swigluHalves(stream, both)).download(), forward, within);
    expectAll(TensorOf<T>(ops::swiglu(stream, a, b)).download(), forward, within);
    // In place: the gradient of both takes their memory.
    ops::swigluHalvesBackward(stream, both, dy, both);
    expectAll(both.download(), halfOf, within);
  };
  check(float(), 4e-6), check(half(), 4e-6), check(bfloat16(), 4e-6), check(double(), 1e-13);
}

TEST_P(Activations, Refusals) {
  auto x = device().tensor<float>({4, 5});
  auto flags = device().tensor<int32_t>({4, 5});
  expectRefused(ErrorCode::InvalidArgument, "gelu: x is i32 4x5; supported dtypes: f16, bf16",
                [&] { ops::gelu(stream, flags, x); });
  expectRefused(ErrorCode::InvalidShape, "siluBackward: dy is f32 5x4, but dx is f32 4x5", [&] {
    ops::siluBackward(stream, x, device().tensor<float>({5, 4}), x);
  });
  expectRefused(ErrorCode::InvalidShape, "swigluHalves: ab is f32 4x5; its last dimension",
                [&] { ops::swigluHalves(stream, x); });
  auto wide = device().tensor<float>({4, 6});
  expectRefused(ErrorCode::Aliasing, "da overlaps db", [&] {
    auto y = device().tensor<float>({4, 3});
    ops::swigluBackward(stream, y, y, y, wide.slice(1, 0, 3), wide.slice(1, 2, 3));
  });
  expectRefused(ErrorCode::Aliasing, "y overlaps x",
                [&] { ops::relu(stream, wide.slice(1, 0, 3), wide.slice(1, 1, 3)); });
}

} // namespace
