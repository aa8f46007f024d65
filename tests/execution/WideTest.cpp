// Tensors whose elements lie 2^31 and more apart, and 64-bit tile indices. Of the memory only the
// rows that a test touches are ever backed by pages of the host.
#include "tests/execution/Harness.h"

#include <limits>

using namespace tile;
using namespace tile::test;

namespace {

constexpr int64_t k2To31 = int64_t(1) << 31, k2To32 = int64_t(1) << 32;

class WideMemory : public OnDevice {
protected:
  /// Memory whose elements are not set; none on hardware that is too small.
  template <class T> std::optional<TensorOf<T>> sparse(std::vector<int64_t> shape) {
    try {
      return device().tensor<T>(std::move(shape));
    } catch (const Error &error) {
      if (error.code() != ErrorCode::OutOfMemory || device().name().starts_with("virtual"))
        throw;
      return std::nullopt;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, WideMemory, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

/// A part of one row, which is contiguous.
template <class T>
TensorOf<T> part(const TensorOf<T> &x, int64_t row, int64_t column, int64_t size) {
  return x.slice(0, row, 1).slice(1, column, size);
}

template <class T> std::vector<T> valuesOf(int64_t row, int64_t size) {
  return uniform<T>(size, 1, 100, static_cast<uint64_t>(row) + 1);
}

const auto copyAt =
    kernel("copy_at", [](In<any, 2> x, Out<any, 2> y, Scalar<i64> column, Const M, Const N) {
      y.tile({M, N}).offset(0, column) = x.tile({M, N}).offset(0, column);
    });

// Row-major, so that rows, elements or both lie beyond 2^31; the tile is ragged on each side.
TEST_P(WideMemory, OffsetsBeyond2To31) {
  auto check = [&]<class T>(T, int64_t columns) {
    constexpr int64_t kSize = 300, kRows = 3;
    auto x = sparse<T>({kRows, columns}), y = sparse<T>({kRows, columns});
    if (!x || !y)
      GTEST_SKIP() << "the device has no memory of " << 2 * kRows * columns << " elements";
    ASSERT_GT((kRows - 1) * columns, k2To31);
    const std::vector<T> untouched(kSize, T(101));
    for (int64_t first : {int64_t(0), columns / 2 / 128 * 128, columns - kSize})
      for (int64_t start : {first, first + 16}) {
        SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " from column " + std::to_string(start));
        for (int64_t row = 0; row < kRows; ++row) {
          part(*x, row, first, kSize).upload(valuesOf<T>(row, kSize));
          part(*y, row, first, kSize).upload(untouched);
        }
        copyAt.consts(4, 256).grid(1)(stream, *x, *y, start);
        for (int64_t row = 0; row < kRows; ++row) {
          std::vector<T> values = valuesOf<T>(row, kSize);
          expectAll(part(*y, row, first, kSize).download(), [&](int64_t i) {
            bool isCopied = i >= start - first && i < start - first + 256;
            return exact(isCopied ? values[size_t(i)] : untouched[0]);
          });
        }
      }
  };
  check(int8_t(), k2To31 - 1);
  check(int8_t(), k2To31 - 64);
  check(float(), (int64_t(1) << 30) + 52);
}

// Rows more than 2^31 apart, each way round: the stride itself needs 64 bits.
TEST_P(WideMemory, StridesBeyond2To31) {
  static const auto program = kernel("scale", [](In<any, 2> x, Out<any, 2> y, Const M, Const N) {
    auto [m, n] = grid2d(y, {M, N});
    y.tile({M, N})(m, n) = x.tile({M, N})(m, n) + x.tile({M, N})(m, n);
  });
  auto check = [&]<class T>(T, int64_t stride) {
    constexpr int64_t kRows = 3, kColumns = 70;
    auto memory = sparse<T>({2, (kRows - 1) * stride / 2 + kColumns});
    auto other = sparse<T>({2, (kRows - 1) * stride / 2 + kColumns});
    if (!memory || !other)
      GTEST_SKIP() << "the device has no memory of " << 4 * stride << " elements";
    auto x = memory->withStrides({kRows, kColumns}, {stride, 1}),
         y = other->withStrides({kRows, kColumns}, {stride, 1});
    for (bool isTransposed : {false, true}) {
      SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " stride " + std::to_string(stride) +
                   (isTransposed ? " transposed" : ""));
      for (int64_t row = 0; row < kRows; ++row) {
        part(x, row, 0, kColumns).upload(valuesOf<T>(row, kColumns));
        part(y, row, 0, kColumns).fill(T(0));
      }
      program.consts(16, 32)(stream, isTransposed ? x.T() : x, isTransposed ? y.T() : y);
      for (int64_t row = 0; row < kRows; ++row) {
        std::vector<T> values = valuesOf<T>(row, kColumns);
        expectAll(part(y, row, 0, kColumns).download(),
                  [&](int64_t i) { return exact(T(values[size_t(i)] + values[size_t(i)])); });
      }
    }
  };
  check(int16_t(), k2To31 + 8);
  check(int16_t(), k2To32 + 24); // 24 in 32 bits
  check(float(), k2To31 + 3);
}

// Broadcasting an input costs no memory: a stride of 0 beside one that needs 64 bits.
TEST_P(WideMemory, BroadcastInputs) {
  auto memory = sparse<int16_t>({2, k2To31 / 2 + 200});
  if (!memory)
    GTEST_SKIP() << "the device has no memory of 2^31 elements";
  auto x = memory->withStrides({2, 40, 100}, {k2To31 + 8, 0, 1});
  for (int64_t slab = 0; slab < 2; ++slab)
    TensorOf<int16_t>(x.slice(0, slab, 1).slice(1, 0, 1)).upload(valuesOf<int16_t>(slab, 100));
  static const auto program = kernel("broadcast", [](In<i16, 3> x, Out<i16, 3> y) {
    auto [b, m, n] = grid3d(y, {1, 16, 64});
    y.tile({1, 16, 64})(b, m, n) = x.tile({1, 16, 64})(b, m, n);
  });
  auto y = output<int16_t>({2, 40, 100}, 3);
  program(stream, x, y.tensor());
  std::vector<int16_t> slabs[] = {valuesOf<int16_t>(0, 100), valuesOf<int16_t>(1, 100)};
  expectAll(y.result(), [&](int64_t i) { return slabs[i / 4000][size_t(i % 100)]; });
}

// A product's operands in such memory, through the loads and copies to shared memory of its loop.
TEST_P(WideMemory, ProductsOfRowsFarApart) {
  constexpr int64_t kStride = k2To31 / 16 + 8, kM = 40, kN = 48, kK = 70;
  auto a = sparse<half>({kM, kStride});
  if (!a)
    GTEST_SKIP() << "the device has no memory of " << kM * kStride << " elements";
  static const auto program =
      kernel("product", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c, Const stages) {
        auto [m, n] = grid2d(c, {32, 32});
        auto sum = var(zeros(f32, {32, 32}));
        for (auto k : range(cdiv(a.dim(1), 32)).stages(stages))
          sum = dot(a.tile({32, 32})(m, k), b.tile({32, 32})(k, n), sum);
        c.tile({32, 32})(m, n) = sum;
      });
  std::vector<half> left = uniform<half>(kM * kK, -1, 1, 1), right = uniform<half>(kK * kN);
  for (int64_t row = 0; row < kM; ++row)
    part(*a, row, 0, kK).upload({left.data() + row * kK, size_t(kK)});
  for (int stages : {1, 3}) {
    auto c = output<float>({kM, kN});
    program.consts(stages)(stream, a->withStrides({kM, kK}, {kStride, 1}), input({kK, kN}, right),
                           c.tensor());
    expectAll(c.result(),
              [&](int64_t i) {
                double sum = 0;
                for (int64_t k = 0; k < kK; ++k)
                  sum +=
                      exact(left[size_t(i / kN * kK + k)]) * exact(right[size_t(k * kN + i % kN)]);
                return sum;
              },
              {0.51, 1e-4});
  }
}

// Pointer tiles: offsets of 64 bits, made from the stride that the view says.
TEST_P(WideMemory, PointerTilesAndAtomics) {
  constexpr int64_t kStride = k2To31 + 12, kRows = 3, kColumns = 50;
  auto memory = sparse<int32_t>({2, (kRows - 1) * kStride / 2 + kColumns});
  if (!memory)
    GTEST_SKIP() << "the device has no memory of " << 2 * kStride << " elements";
  auto x = memory->withStrides({kRows, kColumns}, {kStride, 1});
  for (int64_t row = 0; row < kRows; ++row)
    part(x, row, 0, kColumns).upload(valuesOf<int32_t>(row, kColumns));
  static const auto program = kernel("through_pointers", [](InOut<i32, 2> x) {
    Value row = index(0, {4, 64}), column = index(1, {4, 64});
    Value inside = (row < x.dim(0)) & (column < x.dim(1));
    Value at = x.ptr() + cast(i64, row) * x.stride(0) + column;
    store(at, load(at, inside, 0) * 2, inside);
    atomic_add(at, row, inside);
  });
  program.grid(1)(stream, x);
  for (int64_t row = 0; row < kRows; ++row) {
    std::vector<int32_t> values = valuesOf<int32_t>(row, kColumns);
    expectAll(part(x, row, 0, kColumns).download(),
              [&](int64_t i) { return 2 * values[size_t(i)] + row; });
  }
}

/// Indices that a truncation to 32 bits, or a product in 32 bits, would bring back inside.
const std::vector<int64_t> kIndices = {0,
                                       1,
                                       -1,
                                       2,
                                       3,
                                       k2To31,
                                       -k2To31,
                                       k2To31 / 48,
                                       k2To31 / 48 + 1,
                                       -k2To31 / 48 - 1,
                                       k2To32,
                                       k2To32 + 1,
                                       -k2To32,
                                       k2To32 / 16,
                                       k2To32 / 48,
                                       k2To32 / 48 + 1,
                                       std::numeric_limits<int64_t>::max(),
                                       std::numeric_limits<int64_t>::min(),
                                       std::numeric_limits<int64_t>::max() / 16 + 1};

EXECUTION_SUITE(WideIndices, Targets::One);

template <DType Index> auto indexed() {
  return [](In<f32, 1> x, In<Index, 1> indices, Out<f32, 2> y, Out<f32, 1> z, Out<i1, 1> inside,
            Const B) {
    Value program = program_id(0), at = load(indices.ptr() + program);
    y.tile({1, B})(program, 0) = expand_dims(x.tile({B})(at), 0);
    y.tile({1, B})(program, 1) = expand_dims(x.tile({B}).pad(7).offset(at), 0);
    z.tile({B})(at) = x.tile({B})(at);
    inside.tile({B})(program) = x.tile({B}).inside(at);
  };
}

TEST_P(WideIndices, OutsideIsOutsideAtAnyDistance) {
  static const auto ofSigned = kernel("indexed", indexed<i64>());
  static const auto ofUnsigned = kernel("indexed_unsigned", indexed<u64>());
  auto check = [&]<class Index>(Index, const auto &program, int tile) {
    int64_t size = 2 * tile + 5, count = static_cast<int64_t>(kIndices.size());
    std::vector<Index> indices(kIndices.begin(), kIndices.end());
    std::vector<float> x = uniform<float>(size);
    auto y = output<float>({count, 2 * tile}, 5);
    auto z = output<float>({size});
    auto inside = output<bool>({count * tile});
    program.consts(tile).grid(count)(stream, input({size}, x), input({count}, indices), y.tensor(),
                                     z.tensor(), inside.tensor());
    auto isInside = [&](__int128 at) { return at >= 0 && at < size; };
    expectAll(y.result(), [&](int64_t i) {
      Index index = indices[size_t(i / (2 * tile))];
      bool isOffset = i % (2 * tile) >= tile;
      __int128 at = __int128(index) * (isOffset ? 1 : tile) + i % tile;
      return isInside(at) ? x[size_t(at)] : isOffset ? 7 : 0;
    });
    expectAll(z.result(), [&](int64_t i) { return x[size_t(i)]; });
    expectAll(inside.result(), [&](int64_t i) {
      return isInside(__int128(indices[size_t(i / tile)]) * tile + i % tile);
    });
  };
  for (int tile : {16, 48})
    check(int64_t(), ofSigned, tile), check(uint64_t(), ofUnsigned, tile);
}

TEST_P(WideIndices, LoopsThatCountIn64Bits) {
  static const auto program = kernel("reverse", [](In<f32, 1> x, Out<f32, 1> y, Scalar<i64> tiles) {
    for (auto i : range(tiles))
      y.tile({32})(i) = x.tile({32})(tiles - 1 - i);
  });
  std::vector<float> x = uniform<float>(160);
  auto y = output<float>({160});
  program.grid(1)(stream, input({160}, x), y.tensor(), int64_t(5));
  expectAll(y.result(), [&](int64_t i) { return x[size_t((4 - i / 32) * 32 + i % 32)]; });
}

// The last tile of the longest dimension that a kernel indexes, and the first beyond it.
TEST_P(WideIndices, TheEndOfTheLongestDimension) {
  constexpr int64_t kExtent = k2To31 - 1, kTile = 48, kLast = kExtent / kTile;
  auto x = device().tensor<int8_t>({kExtent});
  static const auto program = kernel("end", [](In<i8, 1> x, Out<i8, 1> y, Scalar<i64> first) {
    Value program = program_id(0);
    y.tile({48})(program) = x.tile({48})(first + program);
  });
  int64_t rest = kExtent - kLast * kTile;
  std::vector<int8_t> values = uniform<int8_t>(rest, 1, 100);
  x.slice(0, kLast * kTile, rest).upload(values);
  auto y = output<int8_t>({3 * kTile});
  program.grid(3)(stream, x, y.tensor(), kLast);
  expectAll(y.result(), [&](int64_t i) { return i < rest ? values[size_t(i)] : 0; });
}

} // namespace
