// Cold compiles from a traced lambda to machine code in a warm process: `jit_compile_bench KERNEL REPEATS [TARGET]` prints the
// milliseconds of each on one line, then the PTX. bench/triton/compare.py runs it beside its peer.
#include "runtime/jit/Compile.h"
#include "runtime/toolchain/Assemble.h"

#include <tile/Registry.h>
#include <tile/tile.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tile;

namespace {

auto vectorAdd = kernel("vector_add", [](In<f32, 1> a, In<f32, 1> b, Out<f32, 1> c, Const B) {
  assume(a.dim(0) == c.dim(0)), assume(b.dim(0) == c.dim(0));
  Value i = grid1d(c, {B});
  c.tile({B})(i) = a.tile({B})(i) + b.tile({B})(i);
});

auto softmaxRow = kernel("softmax", [](In<f32, 2> x, Out<f32, 2> y, Const B) {
  Value row = program_id(0);
  Value values = reshape(x.tile({1, B})(row, 0), {B});
  values = select(arange(0, B) < x.dim(1), values, -INFINITY);
  Value e = exp(values - reduce_max(values, 0));
  y.tile({1, B})(row, 0) = reshape(e / sum(e, 0), {1, B});
});

auto layernormRow = kernel("layernorm", [](In<f16, 2> x, In<f16, 1> weight, In<f16, 1> bias,
                                           Out<f16, 2> y, Out<f32, 1> mean, Out<f32, 1> rstd,
                                           Scalar<f32> epsilon, Const B) {
  Value row = program_id(0);
  Value values = cast(f32, reshape(x.tile({1, B})(row, 0), {B}));
  Value count = cast(f32, x.dim(1));
  Value center = sum(values, 0) / count;
  Value centered = select(arange(0, B) < x.dim(1), values - center, 0.0f);
  Value scale = rsqrt(sum(centered * centered, 0) / count + epsilon);
  mean.tile({1})(row) = reshape(center, {1});
  rstd.tile({1})(row) = reshape(scale, {1});
  Value scaled = centered * scale * cast(f32, weight.tile({B})(0)) + cast(f32, bias.tile({B})(0));
  y.tile({1, B})(row, 0) = reshape(cast(f16, scaled), {1, B});
});

auto matmul =
    kernel("matmul", [](In<f16, 2> A, In<f16, 2> B, Out<f16, 2> C, Const BM, Const BN, Const BK) {
      Value m = program_id(0), n = program_id(1);
      auto acc = var(zeros(f32, {BM, BN}));
      for (auto k : range(cdiv(A.dim(1), BK)))
        acc = dot(A.tile({BM, BK})(m, k), B.tile({BK, BN})(k, n), acc);
      C.tile({BM, BN})(m, n) = cast(f16, acc);
    });

KernelRequest requestOf(const char *name, const std::string &target) {
  constexpr int64_t kVector = 1 << 20, kRows = 4096, kColumns = 1024, kSize = 4096;
  if (!std::strcmp(name, "vector_add"))
    return {vectorAdd.consts(1024), std::vector(3, exampleView(f32, {kVector}))};
  if (!std::strcmp(name, "softmax"))
    return {softmaxRow.consts(1024), std::vector(2, exampleView(f32, {kRows, kColumns}))};
  if (!std::strcmp(name, "layernorm")) {
    auto matrix = exampleView(f16, {kRows, kSize}), vector = exampleView(f16, {kSize}),
         statistic = exampleView(f32, {kRows});
    return {layernormRow.consts(4096),
            {matrix, vector, vector, matrix, statistic, statistic, exampleScalar(f32)}};
  }
  auto settings = [&](std::map<std::string, std::string> values) {
    OpSettings all(std::move(values));
    all.setTarget(target);
    return all;
  };
  if (!std::strcmp(name, "matmul") && target == "sm_90a")
    return findOp("matmul")->kernel(settings({{"schedule", "one_tile"}}));
  if (!std::strcmp(name, "matmul"))
    return {matmul.consts(128, 128, 64), std::vector(3, exampleView(f16, {kSize, kSize}))};
  if (!std::strcmp(name, "attention"))
    return findOp("attention")->kernel(settings({{"D", "128"}, {"causal", "1"}}));
  throw Error(Fault::User, ErrorCode::InvalidArgument, std::string("no kernel '") + name + "'");
}

} // namespace

int main(int argc, char **argv) try {
  if (argc != 3 && argc != 4)
    return std::fprintf(
               stderr,
               "usage: jit_compile_bench vector_add|softmax|layernorm|matmul|attention REPEATS "
               "[TARGET]\n"),
           2;
  std::string target = argc == 4 ? argv[3] : "sm_80";
  KernelRequest request = requestOf(argv[1], target);
  std::string ptx;
  for (int i = 0; i <= std::atoi(argv[2]); ++i) {
    auto start = std::chrono::steady_clock::now();
    codegen::CompiledKernel compiled = jit::compileRequest(request, {.target = target});
    jit::assemble(compiled.ptx, target);
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    if (i > 0) // the first warms up
      std::printf("%.2f ", elapsed.count());
    ptx = std::move(compiled.ptx);
  }
  std::printf("\n%s", ptx.c_str());
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
