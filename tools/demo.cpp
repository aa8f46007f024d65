// tilec-demo: four kernels of the language on six shapes, on the best device of this machine (or the
// one that TILE_DEVICE names), each result compared with a reference in double. Exit code 1 if any
// differs by more than its tolerance.
#include <tile/tile.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <thread>

using namespace tile;

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// --- The kernels ---------------------------------------------------------------------------------

const auto vectorAdd = kernel("vector_add", [](In<f32, 1> a, In<f32, 1> b, Out<f32, 1> c, Const B) {
  Value i = grid1d(c, {B});
  c.tile({B})(i) = a.tile({B})(i) + b.tile({B})(i);
});

const auto rowSoftmax = kernel("softmax", [](In<f32, 2> x, Out<f32, 2> y, Const Columns) {
  Value row = grid1d(y, {1});
  y.tile({1, Columns})(row, 0) = softmax(x.tile({1, Columns}).pad(-INFINITY)(row, 0), 1);
});

const auto matmul =
    kernel("matmul", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c, Const BM, Const BN, Const BK) {
      auto [m, n] = grid2d(c, {BM, BN}).swizzled(8);
      auto sums = var(zeros(f32, {BM, BN}));
      for (auto k : range(cdiv(a.dim(1), BK)).stages(3))
        sums = dot(a.tile({BM, BK})(m, k), b.tile({BK, BN})(k, n), sums);
      c.tile({BM, BN})(m, n) = sums;
    });

const auto layerNorm = kernel(
    "layer_norm", [](In<f32, 2> x, In<f32, 1> gain, In<f32, 1> bias, Out<f32, 2> y, Const Columns) {
      Value row = grid1d(y, {1});
      Value tile = x.tile({1, Columns})(row, 0), count = cast(f32, x.dim(1));
      Value isColumn = expand_dims(arange(Columns) < x.dim(1), 0);
      Value mean = sum(tile, 1, {.keep_dims = true}) / count;
      Value centred = select(isColumn, tile - mean, 0.0f);
      Value variance = sum(centred * centred, 1, {.keep_dims = true}) / count;
      y.tile({1, Columns})(row, 0) =
          centred * rsqrt(variance + 1e-5f) * gain.tile({Columns})(0) + bias.tile({Columns})(0);
    });

// --- Measuring and comparing ---------------------------------------------------------------------

template <class T> std::vector<T> wave(int64_t count, float step) {
  std::vector<T> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(step * static_cast<float>(i % 65537));
  return values;
}

/// The largest difference from reference(i), computed on all cores; NaN counts as infinite.
double largestError(const std::vector<float> &results,
                    const std::function<double(int64_t)> &reference) {
  unsigned count = std::max(1u, std::thread::hardware_concurrency());
  std::vector<double> errors(count, 0);
  std::vector<std::thread> threads;
  for (unsigned part = 0; part < count; ++part)
    threads.emplace_back([&, part] {
      for (size_t i = part; i < results.size(); i += count) {
        double error = std::abs(results[i] - reference(static_cast<int64_t>(i)));
        errors[part] = error <= errors[part] ? errors[part] : std::isnan(error) ? INFINITY : error;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return *std::max_element(errors.begin(), errors.end());
}

class Demo {
public:
  explicit Demo(const Device &device) : device_(device), stream_(device.stream()) {
    std::printf("%s (%s, %s)\n\n", device.name().c_str(), device.product().c_str(),
                device.target().c_str());
    std::printf("%-38s %11s %9s %12s\n", "kernel", "compile ms", "run ms", "max error");
  }

  void addVectors();
  void softmaxRows();
  void multiply(const char *name, int64_t m, int64_t n, int64_t k, int tileM, int tileN, int tileK);
  void normalise();
  bool passed() const { return passed_; }

private:
  /// Compiles, runs and compares the output, the kernel's last argument.
  template <class Launcher, class... Args>
  void run(const char *name, double tolerance, const std::function<double(int64_t)> &reference,
           const Launcher &launcher, const TensorOf<float> &output, const Args &...inputs) {
    Clock::time_point start = Clock::now();
    launcher.prepare(device_, inputs..., output);
    double compiled = millisecondsSince(start);
    start = Clock::now();
    launcher(stream_, inputs..., output);
    stream_.synchronize();
    report(name, compiled, millisecondsSince(start), largestError(output.download(), reference),
           tolerance);
  }
  void report(const char *name, double compiled, double ran, double error, double tolerance) {
    bool fine = error <= tolerance;
    std::printf("%-38s %11.1f %9.2f %12.2g  %s\n", name, compiled, ran, error,
                fine ? "PASS" : "FAIL");
    std::fflush(stdout);
    passed_ &= fine;
  }

  Device device_;
  Stream stream_;
  bool passed_ = true;
};

void Demo::addVectors() {
  constexpr int64_t n = 1000003;
  auto x = wave<float>(n, 0.1f), y = wave<float>(n, 0.7f);
  auto a = device_.tensor<float>({n}, x), b = device_.tensor<float>({n}, y);
  auto c = device_.tensor<float>({n});
  run(
      "vector add 1000003 f32", 1e-6,
      [&](int64_t i) { return double(x[size_t(i)]) + y[size_t(i)]; }, vectorAdd.consts(1024), c, a,
      b);
}

void Demo::softmaxRows() {
  constexpr int64_t rows = 1823, columns = 781;
  auto x = wave<float>(rows * columns, 0.7f);
  std::vector<double> sums(rows, 0);
  for (size_t i = 0; i < x.size(); ++i)
    sums[i / columns] += std::exp(double(x[i]));
  auto in = device_.tensor<float>({rows, columns}, x), out = device_.tensor<float>({rows, columns});
  run(
      "softmax 1823x781 f32", 1e-7,
      [&](int64_t i) { return std::exp(double(x[size_t(i)])) / sums[size_t(i / columns)]; },
      rowSoftmax.consts(1024), out, in);
}

void Demo::multiply(const char *name, int64_t m, int64_t n, int64_t k, int tileM, int tileN,
                    int tileK) {
  auto x = wave<half>(m * k, 0.3f), y = wave<half>(k * n, 0.7f);
  auto a = device_.tensor<half>({m, k}, x), b = device_.tensor<half>({k, n}, y);
  auto c = device_.tensor<float>({m, n});
  std::vector<float> wideX(x.begin(), x.end()), wideY(y.begin(), y.end());
  run(
      name, 1e-3,
      [&](int64_t i) {
        double sum = 0;
        for (int64_t j = 0; j < k; ++j)
          sum += double(wideX[size_t(i / n * k + j)]) * wideY[size_t(j * n + i % n)];
        return sum;
      },
      matmul.consts(tileM, tileN, tileK), c, a, b);
}

void Demo::normalise() {
  constexpr int64_t rows = 500, columns = 1000;
  auto x = wave<float>(rows * columns, 0.37f), g = wave<float>(columns, 0.1f),
       s = wave<float>(columns, 0.2f);
  std::vector<double> means(rows, 0), scales(rows, 0);
  for (size_t i = 0; i < x.size(); ++i)
    means[i / columns] += double(x[i]) / columns;
  for (size_t i = 0; i < x.size(); ++i)
    scales[i / columns] += std::pow(x[i] - means[i / columns], 2) / columns;
  for (double &scale : scales)
    scale = 1 / std::sqrt(scale + 1e-5);
  auto in = device_.tensor<float>({rows, columns}, x), out = device_.tensor<float>({rows, columns});
  auto gain = device_.tensor<float>({columns}, g), bias = device_.tensor<float>({columns}, s);
  run(
      "layer norm 500x1000 f32", 1e-4,
      [&](int64_t i) {
        size_t row = size_t(i / columns), column = size_t(i % columns);
        return (x[size_t(i)] - means[row]) * scales[row] * g[column] + s[column];
      },
      layerNorm.consts(1024), out, in, gain, bias);
}

} // namespace

int main() {
  try {
    Demo demo(Device::best());
    demo.addVectors();
    demo.softmaxRows();
    demo.multiply("matmul 1000x777x513 f16", 1000, 513, 777, 64, 64, 32);
    demo.multiply("matmul 192x288x200 f16, 96-wide tiles", 192, 288, 200, 64, 96, 32);
    demo.multiply("matmul 192x352x200 f16, 176-wide tiles", 192, 352, 200, 64, 176, 32);
    demo.normalise();
    std::printf("\n%s\n", demo.passed() ? "PASS" : "FAIL");
    return demo.passed() ? 0 : 1;
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
