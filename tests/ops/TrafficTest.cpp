// What ops do to memory, as the virtual GPU counts it: on aligned shapes every byte of every sector is used, and no access
// to shared memory waits for another one's bank.
#include "runtime/vgpu/VgpuDevice.h"

#include <tile/ops/Activations.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/CrossEntropy.h>
#include <tile/ops/Einsum.h>
#include <tile/ops/Embedding.h>
#include <tile/ops/Matmul.h>
#include <tile/ops/Norm.h>
#include <tile/ops/Optimizers.h>
#include <tile/ops/Rotary.h>
#include <tile/ops/Softmax.h>
#include <tile/tile.h>

#include <gtest/gtest.h>

using namespace tile;

namespace {

class Traffic : public testing::Test {
protected:
  template <class T> Tensor zeros(std::vector<int64_t> extents) {
    int64_t count = 1;
    for (int64_t extent : extents)
      count *= extent;
    return device.tensor<T>(extents, std::vector<T>(size_t(count)));
  }

  void expectNoWaste() {
    vgpu::Counters counters = virtualDevice->counters();
    EXPECT_GT(counters.globalSectors, 0u);
    EXPECT_EQ(counters.globalBytesUsed, 32 * counters.globalSectors);
    EXPECT_EQ(counters.bankConflicts(), 0u) << "of " << counters.sharedWavefronts << " wavefronts";
    virtualDevice->setCounters(true); // from zero
  }

  static size_t bytesOf(std::initializer_list<Tensor> tensors) {
    size_t bytes = 0;
    for (const Tensor &tensor : tensors)
      bytes += tensor.bytes();
    return bytes;
  }

  /// At most 5 % more than the bytes of these tensors moved, or what is said.
  void expectLeast(std::initializer_list<Tensor> tensors, double most = 1.05) {
    vgpu::Counters counters = virtualDevice->counters();
    size_t least = bytesOf(tensors);
    EXPECT_GE(counters.globalBytesMoved(), least);
    EXPECT_LE(double(counters.globalBytesMoved()), most * double(least));
    EXPECT_EQ(counters.bankConflicts(), 0u) << "of " << counters.sharedWavefronts << " wavefronts";
    virtualDevice->setCounters(true);
  }

  std::shared_ptr<device::Device> raw = device::openVirtual({.checks = "none"});
  std::shared_ptr<vgpu::VirtualDevice> virtualDevice = vgpu::asVirtual(raw);
  Device device = Device::wrap(raw, "virtual");
  Stream stream = device.stream();

  Traffic() { virtualDevice->setCounters(true); }
};

TEST_F(Traffic, Add) {
  ops::add(stream, zeros<float>({1 << 14}), zeros<float>({1 << 14}), zeros<float>({1 << 14}));
  expectNoWaste();
  ops::add(stream, zeros<half>({64, 256}), zeros<half>({64, 256}), zeros<half>({64, 256}));
  expectNoWaste();
}

TEST_F(Traffic, Activations) {
  ops::gelu(stream, zeros<half>({64, 256}), zeros<half>({64, 256}));
  expectNoWaste();
  Tensor ab = zeros<float>({32, 512});
  ops::swigluHalvesBackward(stream, ab, zeros<float>({32, 256}), ab);
  expectNoWaste();
}

TEST_F(Traffic, Softmax) {
  for (int64_t columns : {256, 1024, 4096}) {
    SCOPED_TRACE(columns);
    ops::softmax(stream, zeros<float>({8, columns}), zeros<float>({8, columns}));
    expectNoWaste();
    ops::softmax(stream, zeros<half>({8, columns}), zeros<half>({8, columns}));
    expectNoWaste();
  }
}

TEST_F(Traffic, SoftmaxReadsRowsOnce) {
  auto check = [&]<class T>(int64_t columns, T) {
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " " + std::to_string(columns));
    Tensor x = zeros<T>({8, columns}), y = zeros<T>({8, columns}), dy = zeros<T>({8, columns});
    ops::logSoftmax(stream, x, y);
    expectLeast({x, y});
    ops::softmaxBackward(stream, dy, y, x);
    expectLeast({dy, y, x});
    ops::logSoftmaxBackward(stream, dy, y, y);
    expectLeast({dy, y, y});
  };
  for (int64_t columns : {128, 1024, 4096, 8192})
    check(columns, float()), check(columns, half());
}

TEST_F(Traffic, CrossEntropyReadsLogitsOnce) {
  auto check = [&]<class T>(int64_t columns, T) {
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " " + std::to_string(columns));
    ops::CrossEntropyOptions options = {.reduction = ops::LossReduction::None};
    Tensor logits = zeros<T>({8, columns}), targets = zeros<int64_t>({8});
    Tensor loss = zeros<float>({8}), lse = zeros<float>({8});
    ops::crossEntropy(stream, logits, targets, loss, lse, options);
    expectLeast({logits, targets, loss, lse});
    ops::crossEntropyBackward(stream, loss, logits, targets, lse, logits, options);
    expectLeast({logits, logits, targets, loss, lse});
  };
  for (int64_t columns : {8192, 32768})
    check(columns, float()), check(columns, half());
}

TEST_F(Traffic, SoftmaxDownColumns) {
  for (int64_t length : {64, 256, 1000, 3000}) {
    SCOPED_TRACE(length);
    Tensor x = zeros<float>({length, 128}), y = zeros<float>({length, 128});
    ops::softmax(stream, x, y, 0);
    length <= 1024 ? expectLeast({x, y}) : expectLeast({x, x, y});
    ops::softmaxBackward(stream, x, y, x, 0);
    length <= 1024 ? expectLeast({x, x, y}) : expectLeast({x, x, x, y, y});
  }
}

TEST_F(Traffic, Norms) {
  auto check = [&]<class T>(int64_t rows, int64_t columns, T) {
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " " + std::to_string(rows) + "x" +
                 std::to_string(columns));
    Tensor x = zeros<T>({rows, columns}), r = zeros<T>({rows, columns});
    Tensor sum = zeros<T>({rows, columns}), y = zeros<T>({rows, columns});
    Tensor mean = zeros<float>({rows}), rstd = zeros<float>({rows});
    ops::layernorm(stream, x, {}, {}, 1e-5, y);
    expectNoWaste();
    ops::layernorm(stream, x, {}, {}, 1e-5, y, mean, rstd);
    expectLeast({x, y, mean, rstd});
    ops::addRmsnorm(stream, x, r, {}, 1e-5, sum, y);
    expectNoWaste();
    ops::addRmsnorm(stream, x, r, {}, 1e-5, sum, y, rstd);
    expectLeast({x, r, sum, y, rstd});
    ops::layernormBackward(stream, r, x, {}, mean, rstd, y);
    EXPECT_EQ(virtualDevice->counters().distinctBytes(), bytesOf({r, x, mean, rstd, y}));
    // Each warp asks for the sectors of its rows' statistics.
    expectLeast({r, x, mean, rstd, y}, columns < 1024 ? 1.2 : 1.05);
  };
  for (int64_t columns : {128, 1024, 4096, 8192})
    check(8, columns, float()), check(8, columns, half());
}

TEST_F(Traffic, NormsLoadWeightsOnceAProgram) {
  // Each multiprocessor has four programs of two rows at a time, one of four for gradients.
  int64_t rows = 4096, columns = 1024, multiprocessors = device.multiprocessors();
  auto programsOf = [](int64_t tiles, int64_t most) {
    int64_t tilesEach = (tiles + most - 1) / most;
    return (tiles + tilesEach - 1) / tilesEach;
  };
  Tensor x = zeros<float>({rows, columns}), y = zeros<float>({rows, columns});
  Tensor weight = zeros<float>({columns}), rstd = zeros<float>({rows});
  Tensor programs = zeros<float>({programsOf(rows / 2, 4 * multiprocessors), columns});
  ops::rmsnorm(stream, x, weight, 1e-5, y);
  EXPECT_EQ(virtualDevice->counters().globalBytesMoved(), bytesOf({x, y, programs}));
  expectLeast({x, y, weight});
  Tensor dweight = zeros<float>({columns});
  Tensor partial = zeros<float>({programsOf(rows / 4, multiprocessors), columns});
  ops::rmsnormBackward(stream, x, x, weight, rstd, y, dweight);
  // The weight of each program, its part of dweight, and that again to be added up.
  EXPECT_EQ(virtualDevice->counters().distinctBytes(),
            bytesOf({x, y, weight, rstd, partial, partial, dweight}));
  expectLeast({x, x, y, rstd, partial, partial, partial});
}

TEST_F(Traffic, FewRowsSpreadOverTheDevice) {
  auto blocksOf = [&](int64_t rows) {
    Tensor x = zeros<half>({rows, 1024}), weight = zeros<half>({1024});
    uint64_t before = virtualDevice->statistics().blocks;
    ops::rmsnorm(stream, x, weight, 1e-5, zeros<half>({rows, 1024}));
    return virtualDevice->statistics().blocks - before;
  };
  uint64_t most = 4 * uint64_t(device.multiprocessors());
  EXPECT_EQ(blocksOf(1), 1u);
  EXPECT_EQ(blocksOf(200), 100u);
  EXPECT_EQ(blocksOf(int64_t(2 * most)), most);
  EXPECT_EQ(blocksOf(int64_t(2 * most) + 2), most / 2 + 1) << "two tiles each, the last one";
}

TEST_F(Traffic, RotationsUseWholeSectorsOfBothWidths) {
  Tensor x = zeros<half>({4, 64, 128}), y = zeros<half>({4, 64, 128});
  ops::rotate(stream, x, zeros<float>({64, 64}), zeros<float>({64, 64}), y);
  expectNoWaste();
  ops::RotaryOptions pairs{.interleaved = true};
  ops::rotate(stream, x, zeros<float>({64, 64}), zeros<float>({64, 64}), y, pairs);
  expectNoWaste();
  Tensor wide = zeros<float>({4, 64, 64});
  ops::rotateBackward(stream, wide, zeros<float>({64, 32}), zeros<float>({64, 32}), wide, pairs);
  expectNoWaste();
}

/// Each is a microsecond of the host.
TEST_F(Traffic, Launches) {
  auto launchesOf = [&](auto run) {
    uint64_t before = virtualDevice->statistics().launches;
    run();
    return virtualDevice->statistics().launches - before;
  };
  Tensor x = zeros<float>({512, 256}), y = zeros<float>({512, 256}), row = zeros<float>({256});
  Tensor rows = zeros<float>({512}), other = zeros<float>({256}), one = zeros<float>({1});
  EXPECT_EQ(launchesOf([&] {
              ops::layernormBackward(stream, x, x, row, rows, rows, y, zeros<float>({256}), other);
            }),
            2u);
  EXPECT_EQ(launchesOf([&] {
              ops::Operand tensors[] = {x, y, row};
              ops::globalNorm(stream, tensors, one);
            }),
            4u);
}

/// In all four memory orders of the operands.
template <class T> void multiplyInAllOrders(Traffic &, auto zeros, auto run) {
  for (bool transposesA : {false, true})
    for (bool transposesB : {false, true}) {
      SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + (transposesA ? ", a transposed" : "") +
                   (transposesB ? ", b transposed" : ""));
      Tensor a = zeros(256, 128), b = zeros(128, 256);
      run(transposesA ? zeros(128, 256).T() : a, transposesB ? zeros(256, 128).T() : b);
    }
}

TEST_F(Traffic, Matmul) {
  auto check = [&]<class T>(T) {
    multiplyInAllOrders<T>(
        *this,
        [&](int64_t rows, int64_t columns) {
          return zeros<T>({rows, columns});
        },
        [&](const Tensor &a, const Tensor &b) {
          ops::matmul(stream, a, b, zeros<T>({256, 256}));
          expectNoWaste();
        });
  };
  check(half());
  check(bfloat16());
  check(float());
}

TEST_F(Traffic, FewRowsByWeightsAlongK) {
  Tensor weights = zeros<half>({4096, 1024}), x = zeros<half>({4, 1024}),
         y = zeros<half>({4, 4096});
  ops::matmul(stream, x, weights.T(), y);
  stream.synchronize();
  expectNoWaste();
}

TEST_F(Traffic, EinsumTakesViews) {
  // Launched as a matrix product is, whatever the order of letters; no copies.
  auto check = [&](std::string_view formula, Tensor a, Tensor b, Tensor y, uint64_t launches = 1) {
    SCOPED_TRACE(formula);
    uint64_t before = virtualDevice->statistics().launches;
    ops::einsum(stream, formula, {a, b}, y);
    stream.synchronize();
    EXPECT_EQ(virtualDevice->statistics().launches, before + launches);
    expectNoWaste();
  };
  Tensor heads = zeros<half>({2, 4, 64, 64}), square = zeros<half>({64, 64});
  check("bhqd,bhkd->bhqk", heads, heads, zeros<half>({2, 4, 64, 64}));
  check("bhqk,bhkd->bhqd", heads, heads, zeros<half>({2, 4, 64, 64}));
  check("bhqd,de->bhqe", heads, square, zeros<half>({2, 4, 64, 64}));
  check("hqd,hkd->khq", zeros<half>({4, 64, 64}), zeros<half>({4, 64, 64}),
        zeros<half>({64, 4, 64}));
  check("ab,cbd->acd", square, zeros<half>({64, 64, 16}), zeros<half>({64, 64, 16}));
  // Batches that do not lie as one: a launch for each index of the smaller one.
  check("bqhd,bkhd->bhqk", zeros<half>({4, 64, 2, 64}), zeros<half>({4, 64, 2, 64}),
        zeros<half>({4, 2, 64, 64}), 2);
  check("bqhd,bkhd->bhqk", zeros<half>({2, 64, 4, 64}), zeros<half>({2, 64, 4, 64}),
        zeros<half>({2, 4, 64, 64}), 2);
  check("oi,bihw->bohw", square, zeros<half>({3, 64, 8, 16}), zeros<half>({3, 64, 8, 16}));
  check("ij,kij->k", square, zeros<half>({64, 64, 64}), zeros<half>({64}));
}

// A warp moves 512 bytes an access, whether its rows are neighbours or picked by indices.
TEST_F(Traffic, PickedRowsAreAsWideAsATile) {
  auto rows = kernel("picked", [](In<f16, 2> table, In<i32, 1> ids, Out<f16, 2> y, Const B) {
    auto [r, c] = grid2d(y, {B, B});
    y.tile({B, B})(r, c) = table.tile({B, B}).gather(0, ids.tile({B})(r), {c});
  });
  auto targets = kernel("scattered", [](In<f16, 2> x, In<i32, 1> ids, Out<f16, 2> table, Const B) {
    auto [r, c] = grid2d(x, {B, B});
    table.tile({B, B}).scatter(0, ids.tile({B})(r), {c}) = x.tile({B, B})(r, c);
  });
  auto elements = kernel("indexed", [](In<f32, 2> x, Out<f32, 2> y, Const B) {
    auto [r, c] = grid2d(y, {B, B});
    Value at = (r * B + index(0, {B, B})) * x.stride(0) + c * B + index(1, {B, B});
    y.tile({B, B})(r, c) = load(x.ptr() + at);
  });
  auto expectWide = [&](size_t bytes, uint64_t others) {
    EXPECT_EQ(virtualDevice->counters().globalRequests, bytes / 512 + others);
    expectNoWaste();
  };
  Tensor table = zeros<half>({128, 128}), y = zeros<half>({64, 128});
  std::vector<int32_t> numbers(64);
  for (int i = 0; i < 64; ++i)
    numbers[size_t(i)] = 127 - i;
  Tensor ids = device.tensor<int32_t>({64}, numbers);
  constexpr uint64_t kIndices = 8; // each of two programs has its four warps load them
  rows.consts(64)(stream, table, ids, y);
  expectWide(2 * y.bytes(), kIndices);
  targets.consts(64)(stream, y, ids, table);
  expectWide(2 * y.bytes(), kIndices);
  Tensor x = zeros<float>({64, 128});
  elements.consts(64)(stream, x, zeros<float>({64, 128}));
  expectWide(2 * x.bytes(), 0);
  ops::embedding(stream, table, ids, y);
  EXPECT_LE(virtualDevice->counters().globalRequests, 2 * (2 * y.bytes() / 512))
      << "one element an access takes 288";
}

} // namespace
