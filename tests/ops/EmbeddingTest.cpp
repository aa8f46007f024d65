// Embeddings: shapes, strides, indices outside the table; the gradient, its order of summation, and refusals.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Embedding.h>

using namespace tile;
using namespace tile::test;

namespace {

class EmbeddingOps : public OnDevice {
protected:
  template <class Index>
  std::vector<Index> randomIndices(int64_t count, int64_t rows, uint64_t seed = 3) {
    std::vector<Index> indices;
    for (double number : uniform<double>(count, 0, double(rows), seed))
      indices.push_back(Index(number));
    return indices;
  }

  /// The gradient of a table of rows x width.
  template <class T, class Index>
  std::vector<double> gradient(const std::vector<Index> &indices, const std::vector<T> &dy,
                               int64_t rows, int64_t width) {
    std::vector<double> sums(size_t(rows * width));
    for (size_t i = 0; i < indices.size(); ++i)
      if (indices[i] >= 0 && indices[i] < rows)
        for (int64_t column = 0; column < width; ++column)
          sums[size_t(int64_t(indices[i]) * width + column)] +=
              double(exact(dy[i * size_t(width) + size_t(column)]));
    return sums;
  }

  template <class T, class Index>
  void check(int64_t rows, int64_t width, const std::vector<Index> &indices) {
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " " + std::to_string(rows) + "x" +
                 std::to_string(width) + ", " + std::to_string(indices.size()) + " indices");
    auto count = int64_t(indices.size());
    auto table = uniform<T>(rows * width), dy = uniform<T>(count * width, -1, 1, 2);
    auto positions = input({count}, indices);
    auto y = output<T>({count, width}, 3);
    ops::embedding(stream, input({rows, width}, table), positions, y.tensor());
    expectAll(y.result(), [&](int64_t i) {
      auto row = int64_t(indices[size_t(i / width)]);
      return row < 0 || row >= rows ? NAN : double(exact(table[size_t(row * width + i % width)]));
    });
    auto dtable = output<T>({rows, width}, 5);
    ops::embeddingBackward(stream, positions, input({count, width}, dy), dtable.tensor());
    std::vector<double> expected = gradient(indices, dy, rows, width);
    expectAll(dtable.result(), [&](int64_t i) { return expected[size_t(i)]; },
              {0.51, sizeof(T) == 8 ? 1e-13 : 1e-5});
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, EmbeddingOps, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(EmbeddingOps, EveryDtypeAndSize) {
  check<float>(10, 16, randomIndices<int32_t>(50, 10));
  check<float>(1, 1, randomIndices<int64_t>(1, 1));
  check<float>(300, 1025, randomIndices<int64_t>(33, 300));
  check<float>(37, 7, randomIndices<int32_t>(300, 37));
  check<half>(65, 129, randomIndices<int32_t>(129, 65));
  check<bfloat16>(20, 257, randomIndices<int64_t>(128, 20));
  check<double>(9, 33, randomIndices<int32_t>(31, 9));
}

TEST_P(EmbeddingOps, OneRowTakesAll) {
  check<float>(5, 40, std::vector<int32_t>(200, 3));
  check<half>(5, 40, std::vector<int64_t>(17, 4));
}

TEST_P(EmbeddingOps, IndicesOutsideTheTable) {
  check<float>(6, 10, std::vector<int32_t>{0, -1, 5, 6, 1 << 30, INT32_MIN, INT32_MAX, 2, 2});
  check<float>(6, 10,
               std::vector<int64_t>{0, -1, 5, 6, int64_t(1) << 32, INT64_MIN, INT64_MAX, 2,
                                    (int64_t(1) << 32) + 3});
  check<half>(3, 8, std::vector<int64_t>(40, -7));
}

TEST_P(EmbeddingOps, RanksAndStrides) {
  auto table = uniform<float>(20 * 12), dy = uniform<float>(6 * 5 * 12, -1, 1, 2);
  auto indices = randomIndices<int64_t>(30, 20);
  auto at = [&](int64_t i) { return int64_t(indices[size_t(i)]); };
  // Indices and table transposed, y with dimensions that do not fold.
  auto across = input({5, 6}, indices).T();
  auto columns = input({12, 20}, table).T();
  auto y = output<float>({6, 12, 5});
  ops::embedding(stream, columns, across, y.tensor().permute({0, 2, 1}));
  expectAll(y.result(), [&](int64_t i) {
    int64_t row = i / 60, column = i / 5 % 12, inner = i % 5;
    return table[size_t(column * 20 + at(inner * 6 + row))];
  });
  Tensor made = ops::embedding(stream, columns, across);
  EXPECT_EQ(made.rank(), 3);
  EXPECT_EQ(made.extent(2), 12);
  expectAll(TensorOf<float>(made).download(),
            [&](int64_t i) { return table[size_t(i % 12 * 20 + at(i / 12 % 5 * 6 + i / 60))]; });
  auto one = ops::embedding(stream, columns, input({}, std::vector<int64_t>{7}));
  EXPECT_EQ(one.rank(), 1);
  expectAll(TensorOf<float>(one).download(), [&](int64_t i) { return table[size_t(i * 20 + 7)]; });
  // The gradient of such a call.
  std::vector<int64_t> inOrder;
  std::vector<float> gradients;
  for (int64_t i = 0; i < 30; ++i) {
    inOrder.push_back(at(i % 5 * 6 + i / 5));
    for (int64_t column = 0; column < 12; ++column)
      gradients.push_back(dy[size_t(i / 5 * 60 + column * 5 + i % 5)]);
  }
  std::vector<double> expected = gradient(inOrder, gradients, 20, 12);
  auto dtable = output<float>({12, 20});
  ops::embeddingBackward(stream, across, input({6, 12, 5}, dy).permute({0, 2, 1}),
                         dtable.tensor().T());
  expectAll(dtable.result(), [&](int64_t i) { return expected[size_t(i % 20 * 12 + i / 20)]; },
            {1, 1e-6});
}

TEST_P(EmbeddingOps, SameBitsTwice) {
  auto indices = input({500}, randomIndices<int32_t>(500, 7));
  auto dy = input({500, 20}, uniform<float>(500 * 20));
  auto bits = [&] {
    auto dtable = device().tensor<float>({7, 20});
    ops::embeddingBackward(stream, indices, dy, dtable);
    return dtable.download();
  };
  EXPECT_EQ(bits(), bits());
}

TEST_P(EmbeddingOps, Empty) {
  auto none = device().tensor<int32_t>({0});
  auto table = device().tensor<float>({4, 5}), rows = device().tensor<float>({0, 5});
  ops::embedding(stream, table, none, rows);
  auto dtable = output<float>({4, 5});
  ops::embeddingBackward(stream, none, rows, dtable.tensor());
  expectAll(dtable.result(), [](int64_t) { return 0; });
  // A table without rows: every index is outside.
  auto y = output<float>({3, 5});
  ops::embedding(stream, rows, input({3}, std::vector<int32_t>{0, 1, -1}), y.tensor());
  expectAll(y.result(), [](int64_t) { return NAN; });
}

TEST_P(EmbeddingOps, Refusals) {
  auto table = device().tensor<float>({4, 5}), y = device().tensor<float>({3, 5});
  auto indices = device().tensor<int32_t>({3});
  expectRefused(ErrorCode::InvalidArgument, "embedding: indices is f32 3x5; supported dtypes: i32",
                [&] { ops::embedding(stream, table, y, y); });
  expectRefused(ErrorCode::InvalidShape, "embedding: table is i32 3, of rank 1; rank 2",
                [&] { ops::embedding(stream, indices, indices); });
  expectRefused(ErrorCode::InvalidShape,
                "y is f32 4x5, but indices is i32 3: y needs the extents of indices and then one",
                [&] { ops::embedding(stream, table, indices, table); });
  expectRefused(ErrorCode::InvalidShape, "dy.extent(1) is 5, but dtable.extent(1) is 6", [&] {
    ops::embeddingBackward(stream, indices, y, device().tensor<float>({4, 6}));
  });
  expectRefused(ErrorCode::Aliasing, "dtable overlaps dy",
                [&] { ops::embeddingBackward(stream, indices, y, y); });
}

} // namespace
