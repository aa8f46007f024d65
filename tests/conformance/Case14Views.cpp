// Conformance 14: a view that ends inside its tiles has a frame of padding, exactly; tiles of one to five dimensions
// with inner extents from 16 to 128; rows picked by an index at three offsets along the other dimension.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(ConformanceViews, Targets::One);

// 48 x 48 elements read as 64 x 64: bits are compared, so that a zero of the other sign would show.
TEST_P(ConformanceViews, FrameOfPadding) {
  static const auto program = kernel("frame", [](In<f32, 2> x, Out<f32, 2> y, Const isNan) {
    auto [i, j] = grid2d(y, {32, 32});
    auto tiles = x.tile({32, 32});
    y.tile({32, 32})(i, j) = isNan ? tiles.pad(NAN)(i, j) : tiles(i, j);
  });
  std::vector<float> x = uniform<float>(48 * 48);
  for (bool isNan : {false, true}) {
    SCOPED_TRACE(isNan ? "NaN" : "zero");
    auto y = output<float>({64, 64}, 2);
    program.consts(int(isNan))(stream, input({48, 48}, x), y.tensor());
    std::vector<float> results = y.result();
    for (size_t i = 0; i < results.size(); ++i) {
      size_t row = i / 64, column = i % 64;
      SCOPED_TRACE(std::to_string(row) + ", " + std::to_string(column));
      if (row < 48 && column < 48)
        ASSERT_EQ(std::bit_cast<uint32_t>(results[i]),
                  std::bit_cast<uint32_t>(x[row * 48 + column]));
      else if (isNan)
        ASSERT_TRUE(std::isnan(results[i]));
      else
        ASSERT_EQ(std::bit_cast<uint32_t>(results[i]), 0u);
    }
  }
}

/// Tiles of extent 2 along all dimensions but the innermost, of which there are two along each: the second one reaches
/// past the tensor everywhere.
template <int Rank> struct Ranks {
  static constexpr std::make_integer_sequence<int, Rank> kDims{};

  template <class X, class Y, int... Dim>
  static void copy(X &x, Y &y, int inner, std::integer_sequence<int, Dim...>) {
    Value tile = program_id(0);
    Shape shape{(Dim + 1 == Rank ? inner : 2)...};
    Value at[] = {tile >> (Rank - 1 - Dim) & 1 ...};
    y.tile(shape)(at[Dim]...) = x.tile(shape).pad(9)(at[Dim]...);
  }
  static int64_t extent(int dim, int64_t inner) { return dim + 1 == Rank ? inner + 5 : 3; }
  template <int... Dim>
  static std::vector<int64_t> extents(int64_t inner, std::integer_sequence<int, Dim...>) {
    return {extent(Dim, inner)...};
  }
  template <class T, int... Dim>
  static Guarded<T, Rank> full(const Device &device, int64_t inner,
                               std::integer_sequence<int, Dim...>) {
    return {device, {2 * (Dim + 1 == Rank ? inner : 2)...}, 3};
  }

  /// The expected value of an element of the result: the tensor's element there, or the padding.
  template <class T> static double expected(const std::vector<T> &x, int64_t inner, int64_t at) {
    int64_t source = 0, distance = 1;
    for (int dim = Rank - 1; dim >= 0; --dim) {
      int64_t size = 2 * (dim + 1 == Rank ? inner : 2), place = at % size;
      at /= size;
      if (place >= extent(dim, inner))
        return 9;
      source += place * distance, distance *= extent(dim, inner);
    }
    return exact(x[size_t(source)]);
  }
};

class ConformanceViewRanks : public OnDevice {
protected:
  template <class T, int Rank> void check() {
    using Of = Ranks<Rank>;
    static const auto program =
        kernel("ranks", [](In<dtypeOf<T>, Rank> x, Out<dtypeOf<T>, Rank> y, Const inner) {
          Of::copy(x, y, inner, Of::kDims);
        });
    for (int inner : {16, 32, 64, 128}) {
      SCOPED_TRACE("rank " + std::to_string(Rank) + ", inner " + std::to_string(inner));
      std::vector<int64_t> extents = Of::extents(inner, Of::kDims);
      int64_t count = 1;
      for (int64_t extent : extents)
        count *= extent;
      std::vector<T> x = uniform<T>(count, 0, 100);
      auto y = Of::template full<T>(device(), inner, Of::kDims);
      program.consts(inner).grid(1 << Rank)(stream, input(extents, x), y.tensor());
      expectAll(y.result(), [&](int64_t i) { return Of::expected(x, inner, i); });
    }
  }
  template <class T> void checkAll() {
    check<T, 1>(), check<T, 2>(), check<T, 3>(), check<T, 4>(), check<T, 5>();
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ConformanceViewRanks,
                         ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(ConformanceViewRanks, I8) { checkAll<int8_t>(); }
TEST_P(ConformanceViewRanks, F16) { checkAll<half>(); }
TEST_P(ConformanceViewRanks, F32) { checkAll<float>(); }

// Columns end at 60, so that the tile at 48 has a padded part too.
TEST_P(ConformanceViews, GatherOfRowsAtOffsets) {
  auto check = [&]<class T, class I>(T, I) {
    static const auto program = kernel("gather", [](In<dtypeOf<T>, 2> x, In<dtypeOf<I>, 1> rows,
                                                    Out<dtypeOf<T>, 2> y, Scalar<i32> tile) {
      y.tile({32, 16})(0, 0) = x.tile({32, 16}).gather(0, rows.tile({32})(0), {tile});
    });
    constexpr int64_t kRows = 100, kColumns = 60;
    std::vector<T> x = uniform<T>(kRows * kColumns, 1, 100);
    std::vector<I> rows = uniform<I>(32, 0, kRows, 2);
    for (int offset : {0, 32, 48}) {
      SCOPED_TRACE(offset);
      auto y = output<T>({32, 16}, 4);
      program.grid(1)(stream, input({kRows, kColumns}, x), input({32}, rows), y.tensor(),
                      offset / 16);
      expectAll(y.result(), [&](int64_t i) {
        int64_t row = rows[size_t(i / 16)], column = offset + i % 16;
        return column < kColumns ? exact(x[size_t(row * kColumns + column)]) : Exact<T>(0);
      });
    }
  };
  check(float(), int16_t()), check(float(), int32_t());
  check(half(), int16_t()), check(half(), int32_t());
}

} // namespace
