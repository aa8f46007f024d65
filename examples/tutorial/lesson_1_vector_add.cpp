// Lesson 1: a kernel that adds two vectors. docs/tutorial/1-vector-add.md explains it.
#include <tile/tile.h>

#include <cstdio>
#include <numeric>

using namespace tile;

// [kernel]
const auto vectorAdd = kernel("vector_add", [](In<f32, 1> a, In<f32, 1> b, Out<f32, 1> c, Const B) {
  Value i = grid1d(c, {B});                     // which tile of c this program owns
  Value sums = a.tile({B})(i) + b.tile({B})(i); // two tiles are loaded and added
  c.tile({B})(i) = sums;                        // and the result is stored
});
// [end]

// [check]
/// Whether all elements of c are what a loop on the host computes.
static bool isRight(const std::vector<float> &a, const std::vector<float> &b,
                    const std::vector<float> &c) {
  for (size_t i = 0; i < c.size(); ++i)
    if (c[i] != a[i] + b[i])
      return false;
  return true;
}
// [end]

int main() {
  // [memory]
  constexpr int64_t n = 1000;
  std::vector<float> x(n), y(n, 0.5f);
  std::iota(x.begin(), x.end(), 0.0f); // 0, 1, 2, ...

  Device device = Device::best(); // an NVIDIA GPU if there is one, else the virtual GPU
  Stream stream = device.stream();
  auto a = device.tensor<float>({n}, x), b = device.tensor<float>({n}, y);
  auto c = device.tensor<float>({n});
  // [end]

  // [call]
  vectorAdd.consts(256)(stream, a, b, c);
  std::vector<float> z = c.download(); // waits for the stream
  std::printf("c = %g %g %g ... %g\n", z[0], z[1], z[2], z[n - 1]);
  std::printf("as on the host: %s\n", isRight(x, y, z) ? "yes" : "no");
  // [end]

  // [mistake]
  if (device.isVirtual()) {
    try {
      auto forgotten = device.tensor<float>({n}); // nothing was uploaded
      vectorAdd.consts(256)(stream, a, forgotten, c);
      stream.synchronize();
    } catch (const Error &error) {
      std::string text = error.message(); // goes on with block, warp, lanes and instruction
      std::printf("%s\n", text.substr(0, text.find_first_of(";\n")).substr(text.find('[')).c_str());
    }
  }
  // [end]
  return isRight(x, y, z) ? 0 : 1;
}
