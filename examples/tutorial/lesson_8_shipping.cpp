// Lesson 8: a program to ship, without the compiler. docs/tutorial/8-shipping.md explains it.
// [head]
#include "lesson_8_kernels.h" // which `tilec aot` has made

#include <tile/Graph.h>
#include <tile/Tensor.h>
// [end]

#include <cmath>
#include <cstdio>

using namespace tile;

int main() {
  constexpr int64_t kCount = 1000;
  Device device = Device::best();
  Stream stream = device.stream();
  std::vector<float> source(kCount, 0.f);
  source[500] = 1;
  auto s = device.tensor<float>({kCount}, source);
  auto x = device.tensor<float>({kCount}, std::vector<float>(kCount));
  auto y = device.tensor<float>({kCount});

  // [call]
  lesson_8_kernels::heat(stream, s, x, 1.0f);
  lesson_8_kernels::spread(stream, x, y);
  // [end]
  std::vector<float> once = y.download();
  std::printf("one step: %g %g %g\n", once[499], once[500], once[501]);

  // [capture]
  Graph step = Graph::capture(stream, [&] { // nothing runs
    lesson_8_kernels::heat(stream, s, x, 1.0f);
    for (int sweep = 0; sweep < 4; ++sweep) {
      lesson_8_kernels::spread(stream, x, y);
      lesson_8_kernels::spread(stream, y, x);
    }
  });
  for (int i = 0; i < 10; ++i)
    step.replay(stream); // nine kernels in one call
  // [end]
  double total = 0;
  for (float value : x.download())
    total += value;
  std::printf("after 1 + 10 steps the rod has %g of heat\n", total);

  // [mistake]
  try {
    lesson_8_kernels::spread(stream, x.slice(0, 0, 999), x.slice(0, 1, 999));
  } catch (const Error &error) {
    std::printf("%s\n", error.message().c_str());
  }
  // [end]
  return std::abs(total - 11) < 1e-3 ? 0 : 1;
}
