// The smallest kernel: one program adds one tile of two vectors, whatever their length.
#include <tile/tile.h>

#include <cmath>
#include <cstdio>

using namespace tile;

const auto vectorAdd = kernel("vector_add", [](In<f32, 1> a, In<f32, 1> b, Out<f32, 1> c, Const B) {
  Value i = grid1d(c, {B});
  c.tile({B})(i) = a.tile({B})(i) + b.tile({B})(i);
});

int main() {
  constexpr int64_t n = 100003; // no multiple of any tile: views take care of the rest
  std::vector<float> x(n), y(n);
  for (int64_t i = 0; i < n; ++i)
    x[i] = 0.001f * i, y[i] = std::sin(0.1f * i);

  Device device = Device::best(); // an NVIDIA GPU if there is one, else the virtual GPU
  Stream stream = device.stream();
  auto a = device.tensor<float>({n}, x), b = device.tensor<float>({n}, y);
  auto c = device.tensor<float>({n});
  vectorAdd.consts(1024)(stream, a, b, c); // compiled at the first call

  std::vector<float> z = c.download();
  double error = 0;
  for (int64_t i = 0; i < n; ++i)
    error = std::fmax(error, std::abs(z[i] - (double(x[i]) + y[i])));
  std::printf("vector add on %s: maximal error %.2g\n", device.name().c_str(), error);
  return error < 1e-5 ? 0 : 1;
}
