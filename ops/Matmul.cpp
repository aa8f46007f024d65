// Matrix product: one program computes one tile of C. Which tile sizes suit a shape is decided here.
#include <tile/ops/Matmul.h>

#include "ops/Arguments.h"

#include <tile/Registry.h>

namespace tile::ops::detail {

namespace {

/// Programs that keep a large GPU busy; with fewer, smaller tiles finish earlier.
constexpr int64_t kBusyPrograms = 128;
/// Columns of tiles are walked in groups of this many rows, which share operands in the L2 cache.
constexpr int kSwizzleRows = 8;

int64_t programs(int64_t m, int64_t n, const MatmulTiles &tiles) {
  return ((m + tiles.m - 1) / tiles.m) * ((n + tiles.n - 1) / tiles.n);
}

/// The power of two that covers `extent`, from 16 to `largest`.
int sideFor(int64_t extent, int largest) {
  int side = 16;
  while (side < extent && side < largest)
    side *= 2;
  return side;
}

MatmulTiles chooseTiles(int64_t m, int64_t n, DType dtype, Precision precision) {
  // Fused multiply-adds hold both operands in registers, so their tiles are smaller.
  bool onTensorCores = dtype != f32 || precision != Precision::ieee;
  int largest = onTensorCores && !(dtype == f32 && precision == Precision::tf32x3) ? 128 : 64;
  MatmulTiles tiles = {sideFor(m, largest), sideFor(n, largest), dtype == f32 ? 16 : 32, 4};
  while (programs(m, n, tiles) < kBusyPrograms && std::max(tiles.m, tiles.n) > 32)
    (tiles.m >= tiles.n ? tiles.m : tiles.n) /= 2;
  if (tiles.m * tiles.n >= 128 * 128)
    tiles.warps = 8;
  return tiles;
}

/// The precision by its name on the command line.
Precision precisionOf(const OpSettings &settings) {
  std::string name = settings.text("precision", "tf32x3");
  for (auto [known, precision] : {std::pair("ieee", Precision::ieee),
                                  {"tf32", Precision::tf32},
                                  {"tf32x3", Precision::tf32x3},
                                  {"bf16x3", Precision::bf16x3},
                                  {"bf16x6", Precision::bf16x6}})
    if (name == known)
      return precision;
  throw Error(Fault::User, ErrorCode::InvalidArgument,
              "precision=" + name + ": ieee, tf32 or tf32x3 is expected");
}

const auto registeredProgram =
    kernel("matmul", [](In<any, 2> a, In<any, 2> b, Out<any, 2> c, Const bm, Const bn, Const bk,
                        Const precision) {
      matmulProgram(a, b, c, {bm, bn, bk, 0}, static_cast<Precision>(int(precision)), NoEpilogue());
    }).named("a", "b", "c", "BM", "BN", "BK", "precision");

const bool registered = registerOp({
    .name = "matmul",
    .summary = "c = a b, the matrix product",
    .inputs = 2,
    .kernel =
        [](const OpSettings &settings) {
          DType dtype = settings.dtype("dtype", f16);
          int64_t m = settings.integer("M", 4096), n = settings.integer("N", 4096),
                  k = settings.integer("K", 4096);
          Precision precision = precisionOf(settings);
          MatmulTiles tiles = chooseTiles(m, n, dtype, precision);
          return KernelRequest(
              registeredProgram
                  .consts(settings.integer("BM", tiles.m), settings.integer("BN", tiles.n),
                          settings.integer("BK", tiles.k), static_cast<int>(precision))
                  .warps(static_cast<int>(settings.integer("warps", tiles.warps))),
              {exampleView(dtype, {m, k}), exampleView(dtype, {k, n}), exampleView(dtype, {m, n})});
        },
    .output =
        [](std::span<const Tensor> in, const OpSettings &settings) {
          return TensorSpec{settings.dtype("dtype", in[0].dtype()),
                            {in[0].extent(0), in[1].extent(1)}};
        },
    .run =
        [](Stream &stream, std::span<const Tensor> in, const Tensor &out,
           const OpSettings &settings) {
          matmul(stream, in[0], in[1], out, NoEpilogue(), {.precision = precisionOf(settings)});
        },
});

} // namespace

MatmulTiles checkMatmul(const Operand &a, const Operand &b, const Operand &c,
                        const MatmulOptions &options, Loc loc) {
  Arguments arguments("matmul", loc);
  Named namedA{"a", a}, namedB{"b", b}, namedC{"c", c};
  for (Named arg : {namedA, namedB, namedC}) {
    arguments.rankIs(arg, 2);
    arguments.dtypeIn(arg, {f16, bf16, f32});
  }
  arguments.sameDtype(namedA, namedB);
  arguments.equalExtent(namedA, 1, namedB, 0);
  arguments.equalExtent(namedA, 0, namedC, 0);
  arguments.equalExtent(namedB, 1, namedC, 1);
  arguments.oneDevice({namedA, namedB, namedC});
  arguments.elementsDistinct(namedC);
  arguments.disjoint(namedC, namedA), arguments.disjoint(namedC, namedB);
  return chooseTiles(c.extent(0), c.extent(1), a.dtype(), options.precision);
}

void matmulProgram(In<any, 2> a, In<any, 2> b, Out<any, 2> c, MatmulTiles tiles,
                   Precision precision, tile::detail::FunctionRef<Value(Value)> epilogue) {
  auto [m, n] = grid2d(c, {tiles.m, tiles.n}).swizzled(kSwizzleRows);
  auto sums = var(zeros(f32, {tiles.m, tiles.n}));
  for (auto k : range(cdiv(a.dim(1), tiles.k)).stages(3))
    sums = dot(a.tile({tiles.m, tiles.k})(m, k), b.tile({tiles.k, tiles.n})(k, n), sums,
               {.precision = precision});
  c.tile({tiles.m, tiles.n})(m, n) = cast(c.dtype(), epilogue(sums));
}

} // namespace tile::ops::detail
