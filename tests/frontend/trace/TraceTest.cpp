// What kernels become: the operations, attributes and grid of the traced IR.
#include "tests/frontend/Trace.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tile;
using namespace tile::test;
using testing::Test;

static void expectContains(const std::string &ir, std::initializer_list<const char *> pieces) {
  size_t from = 0;
  for (const char *piece : pieces) {
    size_t at = ir.find(piece, from);
    EXPECT_NE(at, std::string::npos) << "missing, in this order: " << piece << "\n" << ir;
    if (at == std::string::npos)
      return;
    from = at;
  }
}

TEST(Trace, VectorAddMasksNothingByHand) {
  auto add = kernel("add", [](In<f32, 1> a, In<f32, 1> b, Out<f32, 1> c, Const B) {
    Value i = grid1d(c, {B});
    c.tile({B})(i) = a.tile({B})(i) + b.tile({B})(i);
  });
  expectContains(irOf(add, {256}),
                 {"affine_map<()[s0] -> (s0 ceildiv 256)>",
                  "func.func @add(%arg0: !tile.view<1xf32> {tile.access = \"in\"}",
                  "tile.access = \"out\"", "tile.grid = #map",
                  "tile.grid_symbols = [array<i32: 2, 0>]", "tile.kernel", "tile.warps = 4 : i32",
                  "tile.program_id 0", "tile.view_load %arg0[", "tile.view_load %arg1[",
                  "arith.addf", "tile.view_store", "%arg2["});
}

TEST(Trace, MatmulCarriesItsAccumulator) {
  auto matmul =
      kernel("matmul", [](In<f16, 2> A, In<f16, 2> B, Out<f16, 2> C, Const BM, Const BN, Const BK) {
        auto [m, n] = grid2d(C, {BM, BN}).swizzled(8);
        auto acc = var(zeros(f32, {BM, BN}));
        for (auto k : range(cdiv(A.dim(1), BK)).stages(3))
          acc = dot(A.tile({BM, BK})(m, k), B.tile({BK, BN})(k, n), acc);
        C.tile({BM, BN})(m, n) = cast(f16, acc);
      });
  std::string ir = irOf(matmul, {128, 64, 32});
  expectContains(ir, {"(s0 ceildiv 128) * (s1 ceildiv 64)", "scf.for", "iter_args(",
                      "-> (tensor<128x64xf32>)", "tile.dot", "scf.yield", "tile.stages = 3",
                      "tile.convert", "tile.view_store"});
  EXPECT_EQ(count(ir, "scf.for"), 1);
  EXPECT_EQ(count(ir, "tile.dot"), 1);
}

TEST(Trace, TileUsesAreListedOnceInOrder) {
  auto copy = kernel("copy", [](In<f32, 2> a, Out<f32, 2> b, Const B) {
    auto [m, n] = grid2d(b, {B, 16});
    Value sum = a.T().tile({16, B})(n, m).T() + a.tile({B, 16})(m, n);
    b.tile({B, 16})(m, n) = sum + a.tile({8, 16}).offset(0, 0).shape()[0];
  });
  Traced traced =
      trace(copy.record(), frontend::bindingFor(copy.record(), std::vector<int64_t>{32}));
  std::vector<frontend::TileUse> expected = {{0, 0, 32}, {0, 1, 16}, {1, 0, 32}, {1, 1, 16}};
  EXPECT_EQ(traced.uses.tiles, expected);
}

TEST(Trace, FactsBecomeArgumentAttributes) {
  auto fill = kernel("fill", [](Out<f16, 2> out, Scalar<f32> x) {
                out.tile({16, 64})(program_id(0), program_id(1)) = cast(f16, x);
              }).named("out", "x");
  frontend::Binding binding = frontend::bindingFor(fill.record(), {}, {.warps = 8});
  binding.args[0].alignment = 16;
  binding.args[0].unitStrides = 1 << 1;
  binding.args[0].strideBytesDivisible = {16, 2};
  binding.args[0].extentDivisible = {1, 64};
  binding.args[0].isWide = true;
  std::string ir = trace(fill.record(), binding).ir;
  expectContains(ir, {"tile.access = \"out\"", "tile.alignment = 16 : i32",
                      "tile.extent_divisible = array<i64: 1, 64>", "tile.name = \"out\"",
                      "tile.stride_bytes_divisible = array<i64: 16, 2>",
                      "tile.unit_stride = array<i32: 1>", "tile.wide",
                      "%arg1: f32 {tile.name = \"x\"}", "tile.warps = 8"});
  EXPECT_EQ(count(ir, "tile.grid"), 0) << "without a grid helper the launch gives the grid";
}

TEST(Trace, AnyViewTakesTheBoundDtype) {
  auto twice = kernel("twice", [](In<any, 1> x, Out<any, 1> y) {
    Value i = program_id(0);
    EXPECT_EQ(x.dtype(), bf16);
    y.tile({64})(i) = x.tile({64})(i) * 2;
  });
  frontend::Binding binding = frontend::bindingFor(twice.record(), {});
  binding.args[0].dtype = binding.args[1].dtype = bf16;
  std::string ir = trace(twice.record(), binding).ir;
  expectContains(ir, {"!tile.view<1xbf16>", "arith.mulf", "tensor<64xbf16>"});
}

TEST(Trace, TileIrNeedsNoDevice) {
  auto twice = kernel("twice", [](In<any, 1> x, Out<any, 1> y, Const B) {
    Value i = grid1d(y, {B});
    y.tile({B})(i) = select(x.tile({B}).inside(i), x.tile({B})(i) * 2, 0);
  });
  expectContains(tileIr(twice.consts(64).warps(2), {f16, f16}),
                 {"tile.warps = 2", "arith.cmpi ult", "tensor<64xf16>"});
  EXPECT_THROW(tileIr(twice.consts(64), {f16}), Error);
}

TEST(Trace, ShapesChange) {
  auto shapes = kernel("shapes", [](Out<i32, 1> y) {
    Value x = index(1, {4, 1, 8}) + index(-1, {4, 1, 8});
    EXPECT_EQ(squeeze(x, 1).shape(), (Shape{4, 8}));
    EXPECT_EQ(expand_dims(squeeze(x, -2), -1).shape(), (Shape{4, 8, 1}));
    EXPECT_EQ(permute(x, {2, 0, 1}).shape(), (Shape{8, 4, 1}));
    EXPECT_EQ(broadcast_to(x, {4, 6, 8}).shape(), (Shape{4, 6, 8}));
    y.tile({32})(0) = ravel(squeeze(x, 1).T().T());
  });
  std::string ir = irOf(shapes);
  expectContains(ir,
                 {"tile.permute", "[1, 0]", "tile.permute", "tile.reshape", "-> tensor<32xi32>"});
}

TEST(Trace, PaddingWithANumberSelects) {
  auto pads = kernel("pads", [](In<f32, 2> x, Out<f32, 2> y) {
    Value zero = x.tile({8, 32})(0, 0), nan = x.tile({8, 32}).pad(NAN)(0, 0);
    Value low = x.tile({8, 32}).pad(-INFINITY)(0, 0), inside = x.tile({8, 32}).unchecked()(0, 0);
    y.tile({8, 32})(0, 0) = zero + nan + low + inside;
  });
  std::string ir = irOf(pads);
  expectContains(ir, {"tile.view_load %arg0[", "] : <2xf32>", "pad nan", "tile.dim %arg0, 0",
                      "arith.cmpi ult", "arith.select", "unchecked"});
  EXPECT_EQ(count(ir, "arith.select"), 1);
}

TEST(Trace, ConstantsOfABoolAndAnEnum) {
  auto dots = kernel("dots", [](In<f32, 2> a, Out<f32, 2> c, ConstOf<bool> isTwice,
                                ConstOf<Precision> precision, Const B) {
    Value t = a.tile({B, B})(0, 0), product = dot(t, t, {.precision = precision});
    c.tile({B, B})(0, 0) = isTwice ? product * 2 : select(full(i1, {B, B}, isTwice), t, product);
  });
  std::string once = tileIr(dots.consts(false, Precision::tf32, 32));
  EXPECT_EQ(count(once, "precision tf32 "), 1);
  EXPECT_EQ(count(once, "arith.mulf"), 0);
  EXPECT_EQ(count(once, "dense<false>") + count(once, "arith.constant false"), 1);
  std::string twice = tileIr(dots.consts(true, Precision::bf16x3, 32));
  EXPECT_EQ(count(twice, "precision bf16x3"), 1);
  EXPECT_EQ(count(twice, "arith.mulf"), 1);
}

TEST(Trace, ValuesKnowWhetherTheyArePointers) {
  auto asks = kernel("asks", [](InOut<f32, 1> x) {
    EXPECT_TRUE(x.ptr().is_pointer());
    EXPECT_TRUE((x.ptr() + arange(32)).is_pointer());
    EXPECT_FALSE(x.dim(0).is_pointer());
    store(x.ptr() + arange(32), 0.0f);
  });
  irOf(asks);
}

TEST(Trace, PointerTiles) {
  auto gather =
      kernel("gather", [](In<f32, 1> table, In<i64, 1> rows, Out<f32, 1> out, Scalar<i32> n) {
        Value i = grid1d(n, 64), lanes = i * 64 + arange(64), mask = lanes < n;
        Value row = load(rows.ptr() + lanes, mask, 0);
        store(out.ptr() + lanes, load(table.ptr() + row, mask, -1.0f), mask);
      });
  expectContains(irOf(gather),
                 {"tile.grid_symbols = [array<i32: 3, -1>]", "tile.base %arg1", "tile.addptr",
                  "tensor<64x!tile.ptr<i64>>, tensor<64xi32>", "tile.load", "mask", "other",
                  "tensor<64x!tile.ptr<f32>>, tensor<64xi64>", "tile.store"});
}

TEST(Trace, ReductionsOfEveryKind) {
  auto reductions =
      kernel("reductions", [](In<f16, 2> x, In<i8, 2> q, Out<f16, 1> y, Out<i32, 1> z) {
        Value t = x.tile({16, 64})(0, 0), bytes = q.tile({16, 64})(0, 0);
        EXPECT_EQ(sum(bytes, 1).dtype(), i32);
        EXPECT_EQ(sum(bytes > 0, 1).dtype(), u32);
        EXPECT_EQ(mean(bytes, 1).dtype(), f32);
        EXPECT_EQ(mean(t, -1, {.keep_dims = true}).shape(), (Shape{16, 1}));
        y.tile({16})(0) = sum(t, 1) + reduce_max(t, 1) + prod(t, 1);
        z.tile({16})(0) = argmax(t, 1) + sum(bytes, 1) + cast(i32, any_of(t > 0, 1)) +
                          reduce(bytes, 1, [](Value a, Value b) { return a ^ b; });
      });
  std::string ir = irOf(reductions);
  EXPECT_EQ(count(ir, "tile.reduce"), 7);
  expectContains(ir, {"tile.reduce", "tensor<16x64xf32> -> tensor<16xf32>", "arith.addf",
                      "arith.maxnumf", "arith.mulf"});
  expectContains(ir, {"tile.reduce",
                      "tensor<16x64xf16>, tensor<16x64xi32> -> tensor<16xf16>, tensor<16xi32>",
                      "arith.cmpf une", "tile.yield", ": f16, i32"});
}

TEST(Trace, HalfPrecisionMathGoesThroughF32) {
  auto math = kernel("math", [](In<bf16, 1> x, Out<bf16, 1> y) {
    Value t = x.tile({32})(0);
    y.tile({32})(0) =
        gelu(t) + silu(t) + exp(t) + rsqrt(t) + relu(t) + clamp(t, -1, 1) + fma(t, t, 1.0) + abs(t);
  });
  std::string ir = irOf(math);
  EXPECT_EQ(count(ir, "math.exp %"), 2);
  for (const char *op : {"math.erf", "math.rsqrt", "math.fma"})
    expectContains(ir, {op, "tensor<32xf32>"});
  expectContains(ir, {"arith.maxnumf", "tensor<32xbf16>"});
}

TEST(Trace, IntegerDivisionIsGuardedUnlessTheDivisorIsAConstant) {
  auto divides = kernel("divides", [](In<i32, 1> x, In<i32, 1> d, Out<i32, 1> y) {
    Value t = x.tile({32})(0);
    y.tile({32})(0) = t / d.tile({32})(0);
  });
  std::string guarded = irOf(divides);
  expectContains(guarded, {"arith.cmpi eq", "arith.cmpi eq", "arith.andi", "arith.ori",
                           "arith.select", "arith.divsi"});
  auto constant = kernel(
      "constant", [](In<u32, 1> x, Out<u32, 1> y) { y.tile({32})(0) = x.tile({32})(0) % 7; });
  std::string unguarded = irOf(constant);
  EXPECT_EQ(count(unguarded, "arith.select"), 0);
  expectContains(unguarded, {"arith.remui"});
}

TEST(Trace, GridOfThreeDimensions) {
  auto batched = kernel("batched", [](In<f32, 3> x, Out<f32, 3> y) {
    auto [b, m, n] = grid3d(y, {1, 16, 32});
    y.tile({1, 16, 32})(b, m, n) = x.permute({0, 2, 1}).tile({1, 16, 32})(b, m, n);
  });
  expectContains(irOf(batched), {"()[s0, s1, s2] -> (s0 ceildiv 32, s1 ceildiv 16, s2)",
                                 "[array<i32: 1, 2>, array<i32: 1, 1>, array<i32: 1, 0>]",
                                 "tile.permute_view %arg0", "[0, 2, 1]"});
}

TEST(Trace, DimensionsWithOddFactors) {
  auto odd = kernel("odd", [](In<f16, 2> a, Out<f32, 2> c) {
    c.tile({80, 96})(0, 0) = dot(a.tile({80, 48})(0, 0), a.T().tile({48, 96})(0, 0));
  });
  expectContains(irOf(odd),
                 {"tile.dot", "tensor<80x48xf16>, tensor<48x96xf16>, tensor<80x96xf32>"});
}

TEST(Trace, F32DotStatesItsPrecision) {
  auto dots = kernel("dots", [](In<f32, 2> a, Out<f32, 2> c) {
    Value t = a.tile({32, 32})(0, 0);
    c.tile({32, 32})(0, 0) = dot(t, t) + dot(t, t, {.precision = Precision::tf32}) +
                             dot(t, t, zeros(f32, {32, 32}), {.precision = Precision::ieee});
  });
  std::string ir = irOf(dots);
  EXPECT_EQ(count(ir, "precision tf32x3"), 1);
  EXPECT_EQ(count(ir, "precision tf32 "), 1);
  EXPECT_EQ(count(ir, "tile.dot"), 3);
}

TEST(Trace, LocationsAreTheUsersLines) {
  auto lines = kernel("lines", [](In<f32, 1> x, Out<f32, 1> y) {
    Value t = x.tile({32})(0);
    y.tile({32})(0) = exp(t);
  });
  int line = __LINE__ - 2;
  Traced traced = trace(lines.record(), frontend::bindingFor(lines.record(), {}));
  expectContains(traced.irWithLocations,
                 {"math.exp", ("TraceTest.cpp:" + std::to_string(line)).c_str()});
}

TEST(Trace, EpiloguesArePlainFunctions) {
  auto withEpilogue = [](Value x, auto epilogue) { return epilogue(x); };
  auto apply = kernel_capturing("gelu", "apply", [=](In<f32, 1> x, Out<f32, 1> y) {
    y.tile({32})(0) = withEpilogue(x.tile({32})(0), [](Value v) { return gelu(v); });
  });
  expectContains(irOf(apply), {"math.erf"});
}
