// A user's program: a kernel of its own on the virtual GPU, an op of the library, and the library's exception.
#include <tile/ops/Arithmetic.h>
#include <tile/tile.h>

#include <cstdio>
#include <numeric>
#include <string_view>
#include <vector>

using namespace tile;

static auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> s, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * s;
});

static bool computes(const Device &device) {
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 0.0f);
  Stream stream = device.stream();
  auto x = device.tensor<float>({1000}, values), y = device.tensor<float>({1000});
  scale.consts(256)(stream, x, y, 0.5f);
  ops::add(stream, x, y, y);
  stream.synchronize();
  std::vector<float> result = y.download();
  for (int i = 0; i < 1000; ++i)
    if (result[i] != 1.5f * static_cast<float>(i))
      return false;
  return true;
}

static bool refuses(const Device &device) {
  Stream stream = device.stream();
  auto x = device.tensor<float>({1000});
  try {
    scale.consts(256)(stream, x, ref(static_cast<float *>(nullptr), {1000}), 0.5f);
  } catch (const Error &error) {
    std::printf("%s\n", error.what());
    return error.code() == ErrorCode::InvalidArgument;
  }
  return false;
}

#ifdef FOUND_VERSION // what find_package found is what the headers say
static_assert(std::string_view(TILE_VERSION_STRING) == FOUND_VERSION);
#endif

int main() {
  Device device = Device::open("virtual");
  bool isRight = computes(device) && refuses(device);
  std::printf("%s\n", isRight ? "the package works" : "the package does not work");
  return isRight ? 0 : 1;
}
