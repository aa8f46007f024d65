// Three kernels through every stage, against golden files: what a reader of the compiler sees first.
// The specialisation is fixed: aligned row-major tensors whose extents are multiples of the tiles.
#include "tests/Golden.h"

#include <tile/tile.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace tile;

namespace {

const auto vectorAdd = kernel("vector_add", [](In<f32, 1> a, In<f32, 1> b, Out<f32, 1> c, Const B) {
  Value i = grid1d(c, {B});
  c.tile({B})(i) = a.tile({B})(i) + b.tile({B})(i);
});

const auto rowSoftmax = kernel("softmax", [](In<f32, 2> x, Out<f32, 2> y, Const Columns) {
  Value row = grid1d(y, {1});
  Value tile = x.tile({1, Columns}).pad(-INFINITY)(row, 0);
  Value powers = exp(tile - reduce_max(tile, 1, {.keep_dims = true}));
  y.tile({1, Columns})(row, 0) = powers / sum(powers, 1, {.keep_dims = true});
});

const auto matmul =
    kernel("matmul", [](In<f16, 2> a, In<f16, 2> b, Out<f16, 2> c, Const BM, Const BN, Const BK) {
      auto [m, n] = grid2d(c, {BM, BN});
      auto sums = var(zeros(f32, {BM, BN}));
      for (auto k : range(cdiv(a.dim(1), BK)).stages(3))
        sums = dot(a.tile({BM, BK})(m, k), b.tile({BK, BN})(k, n), sums);
      c.tile({BM, BN})(m, n) = cast(f16, sums);
    });

/// Compiles within a folder of its own, and compares each stage found there.
class Kernels : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tile-kernels-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("TILE_DUMP", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TILE_DUMP");
    std::filesystem::remove_all(folder_);
  }

  void expectStages(const std::string &kernel) {
    int stages = 0;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file())
        continue;
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      EXPECT_GOLDEN(text.str(), "kernels/" + kernel + "/" + entry.path().filename().string());
      ++stages;
    }
    EXPECT_EQ(stages, 5) << "1-tile, 2-tilegpu, 3-llvm, 4-kernel.ll, 5-kernel.ptx";
  }

  Device device = Device::open("virtual:sm_80");

private:
  std::string folder_;
};

TEST_F(Kernels, VectorAdd) {
  auto a = device.tensor<float>({4096}), b = device.tensor<float>({4096}),
       c = device.tensor<float>({4096});
  vectorAdd.consts(1024).prepare(device, a, b, c);
  expectStages("vector_add");
}

TEST_F(Kernels, Softmax) {
  auto x = device.tensor<float>({64, 1024}), y = device.tensor<float>({64, 1024});
  rowSoftmax.consts(1024).prepare(device, x, y);
  expectStages("softmax");
}

TEST_F(Kernels, Matmul) {
  auto a = device.tensor<half>({256, 256}), b = device.tensor<half>({256, 256}),
       c = device.tensor<half>({256, 256});
  matmul.consts(32, 32, 32).prepare(device, a, b, c);
  expectStages("matmul");
}

} // namespace
