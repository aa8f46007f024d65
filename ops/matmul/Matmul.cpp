// Matrix product: one program computes one tile of C.
#include <tile/ops/Matmul.h>

#include "ops/KernelArgument.h"
#include "ops/NewTensor.h"
#include "ops/matmul/MatmulOperands.h"
#include "ops/matmul/MatmulWork.h"

namespace tile::ops {
namespace detail {

namespace {

/// Programs walk the tiles in bands of this many rows, which share operands in the L2 cache.
constexpr int kSwizzleRows = 8;

} // namespace

DotOptions dotOptions(const MatmulOptions &options) {
  return {.precision = options.precision,
          .fast_accumulation = options.fastAccumulation,
          .accumulator = options.accumulator};
}

// --- What is tuned -------------------------------------------------------------------------------

namespace {

MatmulShape shapeOfProblem(const Problem &problem) {
  Operand a = KernelArgument{problem.argument(0)}, b = KernelArgument{problem.argument(1)},
          c = KernelArgument{problem.argument(2)};
  DotOptions how{.precision = static_cast<Precision>(problem.constant("precision")),
                 .fast_accumulation = problem.constant("fast") != 0,
                 .accumulator = problem.constant("f16sums") != 0 ? f16 : any};
  return shapeOf(std::array{c, a, b}, how, problem.target(), problem.multiprocessors());
}

} // namespace

std::string matmulObjection(const Config &config, const Problem &problem) {
  return objectionTo(planOfConfig<MatmulTiles>(kMatmulKnobs, config), shapeOfProblem(problem));
}
Config matmulConfig(const Problem &problem) {
  return configOf(kMatmulKnobs, chooseTiles(shapeOfProblem(problem)));
}
Work matmulWork(const Config &config, const Problem &problem) {
  return workOf(planOfConfig<MatmulTiles>(kMatmulKnobs, config), shapeOfProblem(problem));
}

std::vector<std::string> matmulParameters(size_t arguments) {
  std::vector<std::string> names = {"a", "b", "c"};
  for (size_t i = 0; i < arguments; ++i)
    names.push_back("x" + std::to_string(i));
  names.insert(names.end(), {"precision", "fast", "f16sums"});
  return withKnobNames(std::move(names), kMatmulKnobs);
}

MatmulCoordinates matmulCoordinates(Out<any, 2> c, MatmulTiles tiles) {
  auto [m, n] = grid2d(c, {tiles.m, tiles.n}).swizzled(kSwizzleRows);
  return {.batch = Value(), .m = m, .n = n, .part = Value()};
}
MatmulCoordinates matmulCoordinates(Out<any, 3> c, MatmulTiles tiles) {
  return matmulCoordinates(c, tiles, grid1d(matmulTileCount(c, tiles), 1));
}

template <class C> static MatmulCoordinates coordinatesOfPart(C c, MatmulTiles tiles) {
  int parts = tiles.row().split.parts;
  Value program = grid1d(matmulTileCount(c, tiles) * parts, 1);
  MatmulCoordinates at = matmulCoordinates(c, tiles, program / parts);
  at.part = program % parts;
  return at;
}
MatmulCoordinates splitKCoordinates(Out<any, 2> c, MatmulTiles tiles) {
  return coordinatesOfPart(c, tiles);
}
MatmulCoordinates splitKCoordinates(Out<any, 3> c, MatmulTiles tiles) {
  return coordinatesOfPart(c, tiles);
}

Value matmulTileCount(Out<any, 2> c, MatmulTiles tiles) {
  return cdiv(c.dim(0), tiles.m) * cdiv(c.dim(1), tiles.n);
}
Value matmulTileCount(Out<any, 3> c, MatmulTiles tiles) {
  return c.dim(0) * cdiv(c.dim(1), tiles.m) * cdiv(c.dim(2), tiles.n);
}
MatmulCoordinates matmulCoordinates(Out<any, 2> c, MatmulTiles tiles, Value number) {
  auto [m, n] =
      swizzle(number, cdiv(c.dim(0), tiles.m), cdiv(c.dim(1), tiles.n), {.group = kSwizzleRows});
  return {.batch = Value(), .m = m, .n = n, .part = Value()};
}
MatmulCoordinates matmulCoordinates(Out<any, 3> c, MatmulTiles tiles, Value number) {
  Value rows = cdiv(c.dim(1), tiles.m), columns = cdiv(c.dim(2), tiles.n);
  auto [m, n] = swizzle(number % (rows * columns), rows, columns, {.group = kSwizzleRows});
  return {.batch = number / (rows * columns), .m = m, .n = n, .part = Value()};
}

Range persistentTiles(Value count, MatmulTiles tiles) {
  Range all = persistent(count).flatten();
  return tiles.row().isPingPong ? all.ping_pong() : all;
}

} // namespace detail

void matmul(const Stream &stream, const Operand &a, const Operand &b, const Operand &c,
            const MatmulOptions &options, Loc loc) {
  detail::matmulWith<detail::NoEpilogue>({stream, loc}, a, b, c, std::tuple(), options);
}

Tensor matmul(const Stream &stream, const Operand &a, const Operand &b,
              const MatmulOptions &options, Loc loc) {
  Arguments arguments("matmul", {stream, loc});
  Extents extents = detail::extentsOfProduct(arguments, a, b);
  Tensor c = newTensor(arguments, detail::resultOf(a.dtype()), extents.span());
  matmul(stream, a, b, c, options, loc);
  return c;
}

void linear(const Stream &stream, const Operand &x, const Operand &weight, const Operand &bias,
            const Operand &y, const MatmulOptions &options, Loc loc) {
  Arguments arguments("linear", {stream, loc});
  detail::checkOperands(arguments, {"x", x}, {"weight", weight});
  arguments.dtypeIn({"y", y}, {f16, bf16, f32, f64});
  arguments.rankAtLeast({"x", x}, 1), arguments.rankIs({"weight", weight}, 2);
  arguments.sameRows({"y", y}, {"x", x});
  arguments.equalExtent({"x", x}, -1, {"weight", weight}, 1);
  arguments.equalExtent({"y", y}, -1, {"weight", weight}, 0);
  if (bias) {
    arguments.dtypeIn({"bias", bias}, {f16, bf16, f32, f64}), arguments.rankIs({"bias", bias}, 1);
    arguments.equalExtent({"bias", bias}, 0, {"weight", weight}, 0);
  }
  arguments.accessible({{"x", x}, {"weight", weight}, {"bias", bias}, {"y", y}});
  arguments.outputsApart({{"y", y}}, {{"x", x}, {"weight", weight}, {"bias", bias}});
  Operand rows = x.rank() == 1 ? x.asRow() : x, results = y.rank() == 1 ? y.asRow() : y;
  if (!bias)
    return matmul(stream, rows, weight.T(), results, options, loc);
  matmul(stream, rows, weight.T(), results,
         epilogue([](Value sums, Value bias) { return sums + bias; }, bias), options, loc);
}

Tensor linear(const Stream &stream, const Operand &x, const Operand &weight, const Operand &bias,
              const MatmulOptions &options, Loc loc) {
  Arguments arguments("linear", {stream, loc});
  arguments.rankAtLeast({"x", x}, 1), arguments.rankIs({"weight", weight}, 2);
  Extents extents(x);
  extents[x.rank() - 1] = weight.extent(0);
  Tensor y = newTensor(arguments, detail::resultOf(x.dtype()), extents.span());
  linear(stream, x, weight, bias, y, options, loc);
  return y;
}

} // namespace tile::ops
