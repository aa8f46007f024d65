// A step of many small kernels as one graph: captured once, then given to the device in one call a step. What changes from
// step to step, here where the heat comes in, lies in a tensor that is copied to the device by the graph itself.
#include <tile/tile.h>

#include <cmath>
#include <cstdio>

using namespace tile;

// One step of heat along a rod whose ends are cold.
auto spread = kernel("spread", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
  Value i = grid1d(y, {B});
  Value middle = x.tile({B})(i);
  Value left = x.tile({B}).offset(i * B - 1), right = x.tile({B}).offset(i * B + 1);
  y.tile({B})(i) = middle + (left - middle * 2 + right) * 0.25f;
});
auto heat = kernel("heat", [](In<f32, 1> source, InOut<f32, 1> x, Const B) {
  Value i = grid1d(x, {B});
  x.tile({B})(i) = x.tile({B})(i) + source.tile({B})(i);
});

int main() {
  constexpr int64_t kCount = 1000, kSweeps = 8, kSteps = 5;
  Device device = Device::best();
  Stream stream = device.stream();
  std::vector<float> source(kCount), expected(kCount), before(kCount);
  auto x = device.tensor<float>({kCount}, expected), s = device.tensor<float>({kCount});

  Graph step = Graph::capture(stream, [&] { // nothing runs
    s.uploadAsync(stream, source);          // each replay reads `source` as it is then
    heat.consts(256)(stream, s, x);
    auto y = stream.tensor<float>({kCount}); // memory of the graph
    for (int64_t sweep = 0; sweep < kSweeps; sweep += 2) {
      spread.consts(256)(stream, x, y);
      spread.consts(256)(stream, y, x);
    }
  });
  for (int64_t i = 0; i < kSteps; ++i) {
    source.assign(kCount, 0);
    source[static_cast<size_t>(100 + 150 * i)] = 1;
    step.replay(stream);  // one copy and nine kernels
    stream.synchronize(); // before `source` is written again

    for (size_t j = 0; j < expected.size(); ++j)
      expected[j] += source[j];
    for (int64_t sweep = 0; sweep < kSweeps; ++sweep) {
      before = expected;
      for (size_t j = 0; j < expected.size(); ++j)
        expected[j] += ((j ? before[j - 1] : 0) - before[j] * 2 +
                        (j + 1 < before.size() ? before[j + 1] : 0)) *
                       0.25f;
    }
  }

  std::vector<float> result = x.download();
  double error = 0;
  for (size_t j = 0; j < expected.size(); ++j)
    error = std::fmax(error, std::abs(result[j] - expected[j]));
  std::printf("graph on %s: maximal error %.2g\n", device.name().c_str(), error);
  return error < 1e-5 ? 0 : 1;
}
