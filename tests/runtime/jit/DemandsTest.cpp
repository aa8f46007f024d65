// Ways to copy and to multiply that a kernel demands: it gets them, or an error that says why not.
#include "runtime/jit/Compile.h"
#include "tests/pipeline/DemandedProduct.h"
#include "tests/runtime/jit/Devices.h"

#include <tile/Registry.h>

#include <gtest/gtest.h>

namespace tile::test {
namespace {

std::string ptxOf(const KernelRequest &request) { return jit::compileRequest(request, {}).ptx; }

TEST(DemandedWays, AreTaken) {
  std::vector<detail::HostArg> args(2, exampleView(f16, {64, 64}));
  args.push_back(exampleView(f32, {64, 64}));
  auto count = [&](CopyBy copy, Mma mma, const char *what) {
    std::string ptx = ptxOf({demandedProduct(copy, mma), args});
    size_t found = 0;
    for (size_t at = ptx.find(what); at != ptx.npos; at = ptx.find(what, at + 1))
      ++found;
    return found;
  };
  EXPECT_GT(count(CopyBy::cp_async, Mma::any, "cp.async.cg"), 0u);
  EXPECT_EQ(count(CopyBy::vector, Mma::any, "cp.async.c"), 0u);
  EXPECT_GT(count(CopyBy::vector, Mma::any, "ld.global.v4.b32"), 0u);
  EXPECT_EQ(count(CopyBy::scalar, Mma::any, "ld.global.v"), 0u);
  EXPECT_GT(count(CopyBy::any, Mma::mma_sync, "mma.sync"), 0u);
  EXPECT_EQ(count(CopyBy::any, Mma::fma, "mma.sync"), 0u);
}

TEST(DemandedWays, ThatCannotBeSayWhy) {
  auto refusal = [](const auto &kernel, std::vector<detail::HostArg> args,
                    const char *file = "DemandsTest.cpp") {
    Error error = errorOf([&] { ptxOf({kernel, std::move(args)}); });
    EXPECT_EQ(error.fault(), Fault::User) << error.what();
    EXPECT_NE(error.file().find(file), std::string::npos) << error.what();
    return error.message();
  };
  std::vector<detail::HostArg> products = {exampleView(f32, {64, 64}), exampleView(f32, {64, 64}),
                                           exampleView(f32, {64, 64})};
  EXPECT_EQ(refusal(demandedProduct(CopyBy::any, Mma::mma_sync, Precision::ieee), products,
                    "DemandedProduct.h"),
            "mma_sync refused: f32 with precision ieee needs fused multiply-add");
  std::vector<detail::HostArg> halves = {exampleView(f16, {64, 64}), exampleView(f16, {64, 64}),
                                         exampleView(f32, {64, 64})};
  EXPECT_EQ(refusal(demandedProduct(CopyBy::any, Mma::wgmma), halves, "DemandedProduct.h"),
            "wgmma refused: sm_80 does not have it; sm_90a does");
  EXPECT_EQ(refusal(demandedProduct(CopyBy::tma, Mma::any), halves, "DemandedProduct.h"),
            "tma refused: sm_80 does not have it; sm_90 does");
  auto alone = kernel("alone", [](In<f32, 1> x, Out<f32, 1> y) {
    Value i = grid1d(y, {64});
    y.tile({64})(i) = x.tile({64}).hints({.copy = CopyBy::cp_async})(i);
  });
  EXPECT_EQ(refusal(alone, {exampleView(f32, {64}), exampleView(f32, {64})}),
            "cp_async refused: it is for loads of tiles that products depend on");
  auto stored = kernel("stored", [](InOut<f16, 2> x) {
    for (auto k : range(x.dim(0) / 32)) {
      Value tile = x.tile({32, 32}).hints({.copy = CopyBy::cp_async})(k, 0);
      x.tile({32, 32})(k, 0) = cast(f16, dot(tile, tile));
    }
  });
  EXPECT_EQ(refusal(stored, {exampleView(f16, {64, 32})}),
            "cp_async refused: the loop stores to what may be the same memory");
}

TEST(DemandedWays, OfStoresAreNotAsynchronous) {
  auto store = kernel("stores", [](In<f32, 1> x, Out<f32, 1> y) {
    Value i = grid1d(y, {64});
    y.tile({64}).hints({.copy = CopyBy::cp_async})(i) = x.tile({64})(i);
  });
  Error error = errorOf([&] { ptxOf({store, {exampleView(f32, {64}), exampleView(f32, {64})}}); });
  EXPECT_NE(error.message().find("copy = cp_async is for loads"), std::string::npos)
      << error.what();
}

} // namespace
} // namespace tile::test
