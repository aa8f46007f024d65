// The kernel of docs/from-cuda.md, run and compared with a plain loop.
#include <tile/tile.h>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace tile;

// [counter]
const auto largest = kernel("largest", [](In<f32, 1> x, InOut<f32, 1> result, Const Block) {
  Value i = grid1d(x, {Block});
  Value most = reduce_max(x.tile({Block}).pad(-inf)(i)); // instead of shuffles and shared memory
  atomic_max(result.ptr(), most, {.sem = MemorySem::relaxed});
});
// [end]

int main() {
  constexpr int64_t n = 1000;
  std::vector<float> x(n);
  for (int64_t i = 0; i < n; ++i)
    x[i] = static_cast<float>((i * 7) % 643);
  Device device = Device::best();
  Stream stream = device.stream();
  auto result = device.tensor<float>({1}, std::vector{-1.0f});
  largest.consts(256)(stream, device.tensor<float>({n}, x), result);
  stream.synchronize();
  bool isRight = result.download()[0] == *std::max_element(x.begin(), x.end());
  std::printf("%s\n", isRight ? "it is right" : "something is wrong");
  return isRight ? 0 : 1;
}
