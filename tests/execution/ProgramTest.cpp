// Programs and grids: ids, sizes, the orders in which grid helpers walk tiles, scalar arguments.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Programs, Targets::One);

TEST_P(Programs, IdsAndNumbersAlongEachAxis) {
  static const auto program = kernel("ids", [](Out<i32, 2> y) {
    Value x = program_id(0), z = program_id(2), row = program_id(1);
    Value id = (z * num_programs(1) + row) * num_programs(0) + x;
    Value all[] = {x, row, z, num_programs(0), num_programs(1), num_programs(2)};
    for (int i = 0; i < 6; ++i)
      y.tile({1, 1})(id, i) = splat(all[i], {1, 1});
  });
  auto y = output<int32_t>({5 * 3 * 2, 6});
  program.grid(5, 3, 2)(stream, y.tensor());
  expectAll(y.result(), [](int64_t at) -> int64_t {
    int64_t id = at / 6;
    int64_t expected[] = {id % 5, id / 5 % 3, id / 15, 5, 3, 2};
    return expected[at % 6];
  });
}

TEST_P(Programs, GridsCoverEachTileOnce) {
  static const auto plain = kernel("cover", [](InOut<i32, 2> y, Const M, Const N, Const Group) {
    Grid2d grid = grid2d(y, {M, N});
    auto [m, n] = Group > 0 ? grid.swizzled(Group) : grid;
    y.tile({M, N})(m, n) += 1;
  });
  for (int group : {0, 1, 2, 3, 8})
    for (auto [rows, columns] :
         {std::pair<int64_t, int64_t>(1, 1), {100, 70}, {16, 97}, {129, 8}}) {
      SCOPED_TRACE("group " + std::to_string(group) + ", rows " + std::to_string(rows));
      auto y = output<int32_t>({rows, columns}, 1);
      y.tensor().fill(0);
      plain.consts(16, 32, group)(stream, y.tensor());
      expectAll(y.result(), [](int64_t) { return 1; });
    }
}

TEST_P(Programs, SwizzledOrderIsColumnMajorWithinGroups) {
  static const auto program = kernel("order", [](Out<i32, 2> y) {
    auto [m, n] = grid2d(y, {1, 1}).swizzled(3);
    y.tile({1, 1})(m, n) = splat(program_id(0), {1, 1});
  });
  int64_t rows = 8, columns = 5;
  auto y = output<int32_t>({rows, columns});
  program(stream, y.tensor());
  expectAll(y.result(), [&](int64_t at) {
    int64_t m = at / columns, n = at % columns, first = m / 3 * 3;
    int64_t height = std::min<int64_t>(3, rows - first);
    return first * columns + n * height + (m - first);
  });
}

TEST_P(Programs, GridOverAScalarExtent) {
  static const auto program = kernel("extent", [](Out<i32, 1> y, Scalar<i32> n) {
    Value p = grid1d(n, 4);
    y.tile({1})(p) = splat(p, {1});
  });
  auto y = output<int32_t>({10});
  y.tensor().fill(-1);
  program(stream, y.tensor(), 25);
  expectAll(y.result(), [](int64_t i) { return i < 7 ? i : -1; });
}

TEST_P(Programs, ScalarArgumentsOfEveryDtype) {
  static const auto program =
      kernel("scalars", [](Out<f64, 1> y, Scalar<i8> a, Scalar<u16> b, Scalar<i32> c, Scalar<u64> d,
                           Scalar<f16> e, Scalar<bf16> f, Scalar<f32> g, Scalar<f64> h) {
        Value all[] = {a, b, c, d, e, f, g, h};
        for (int i = 0; i < 8; ++i)
          y.tile({1})(i) = splat(cast(f64, all[i]), {1});
      });
  auto y = output<double>({8});
  program.grid(1)(stream, y.tensor(), -5, 65535, -100000, uint64_t(1) << 40, 0.5f, -3.0f, 1e10f,
                  1e-200);
  double expected[] = {-5, 65535, -100000, 1099511627776.0, 0.5, -3, 1e10f, 1e-200};
  expectAll(y.result(), [&](int64_t i) { return expected[i]; });
}

} // namespace
