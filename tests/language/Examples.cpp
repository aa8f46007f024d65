// EXAMPLE(operation, expression, elements...): the expression stands in the document as it stands
// here. BODY is for statements; it ends with what is shown.
#include "tests/language/Examples.h"

#include <cmath>

namespace tile::language {

#define GIVEN [[maybe_unused]] auto &[x, y, m, i, b, n, A, T, f, c] = given
#define EXAMPLE(operation, expression, ...)                                                        \
  {                                                                                                \
    operation,                                                                                     \
        [](Given &given) -> Value {                                                                \
          GIVEN;                                                                                   \
          return expression;                                                                       \
        },                                                                                         \
    {                                                                                              \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }
#define BODY(operation, statements, ...)                                                           \
  {                                                                                                \
    operation,                                                                                     \
        [](Given &given) -> Value {                                                                \
          GIVEN;                                                                                   \
          statements                                                                               \
        },                                                                                         \
    {                                                                                              \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }

// clang-format off
const std::vector<Example> &examples() {
  static const std::vector<Example> kAll = {
    // Values
    BODY("var", auto s = var(x); s = s + y; s *= 2; return s;, 10, 10, 10, 10),
    EXAMPLE("a + b", x + 1, 2, 3, 4, 5),
    EXAMPLE("a - b", x - y, -3, -1, 1, 3),
    EXAMPLE("a * b", x * n, 3, 6, 9, 12),
    EXAMPLE("a / b", i / 2, 0, 0, 1, 1),
    EXAMPLE("a % b", (i - 2) % 2, 0, -1, 0, 1),
    EXAMPLE("a & b", i & 1, 0, 1, 0, 1),
    EXAMPLE("a | b", i | 1, 1, 1, 3, 3),
    EXAMPLE("a ^ b", i ^ n, 3, 2, 1, 0),
    EXAMPLE("a << b", i << 2, 0, 4, 8, 12),
    EXAMPLE("a >> b", (i - 2) >> 1, -1, -1, 0, 0),
    EXAMPLE("a == b", x == y, 0, 0, 0, 0),
    EXAMPLE("a != b", i != 1, 1, 0, 1, 1),
    EXAMPLE("a < b", x < y, 1, 1, 0, 0),
    EXAMPLE("a <= b", i <= 1, 1, 1, 0, 0),
    EXAMPLE("a > b", x > y, 0, 0, 1, 1),
    EXAMPLE("a >= b", i >= n, 0, 0, 0, 1),
    EXAMPLE("-a", -x, -1, -2, -3, -4),
    EXAMPLE("~a", ~i, -1, -2, -3, -4),

    // Views
    EXAMPLE("A.tile(shape)(indices)", A.tile({2, 4})(1, 1), 14, 0, 0, 0, 0, 0, 0, 0),
    EXAMPLE("A.tile(shape).offset(elements)", A.tile({1, 4}).offset(0, -2), 0, 0, 0, 1),
    EXAMPLE("A.tile(shape).pad(x)", A.tile({1, 4}).pad(-1).offset(2, 3), 13, 14, -1, -1),
    EXAMPLE("A.tile(shape).inside(indices)", A.tile({1, 4}).inside(2, 1), 1, 0, 0, 0),
    EXAMPLE("A.tile(shape).gather(axis, indices, others)", A.tile({4, 2}).gather(0, 2 - i, {1}), 12, 13, 7, 8, 2, 3, 0, 0),
    EXAMPLE("A.T()", A.T().tile({1, 4})(0, 0), 0, 5, 10, 0),
    EXAMPLE("A.dim(axis)", A.dim(0), 3),
    EXAMPLE("A.stride(axis)", A.stride(0), 5),
    BODY("C.tile(shape)(indices) = x", f.tile({4})(0) = x; f.tile({4})(0) += y; return f.tile({4})(0);, 5, 5, 5, 5),

    BODY("C.tile(shape).scatter(axis, indices, others) = x", f.tile({4}).scatter(0, 7 - 2 * i) = x; return f.tile({8})(0);, 0, 4, 0, 3, 0, 2, 0, 1),
    BODY("A.may_alias(C)", A.may_alias(f); return x;, 1, 2, 3, 4),

    // Creation
    EXAMPLE("zeros", zeros(f32, {4}), 0, 0, 0, 0),
    EXAMPLE("zeros_like", zeros_like(i), 0, 0, 0, 0),
    EXAMPLE("full", full(f16, {4}, 1.5), 1.5, 1.5, 1.5, 1.5),
    EXAMPLE("splat", splat(n, {4}), 3, 3, 3, 3),
    EXAMPLE("arange", arange(4) * 10, 0, 10, 20, 30),
    EXAMPLE("index", index(0, {2, 2}), 0, 0, 1, 1),
    EXAMPLE("index", index(0, {4}), 0, 1, 2, 3),

    // Element types
    EXAMPLE("cast", cast(i32, x / 2), 0, 1, 1, 2),
    EXAMPLE("bitcast", bitcast(i32, x) >> 23, 127, 128, 128, 129),

    // Elementwise
    EXAMPLE("exp", exp(zeros_like(x)), 1, 1, 1, 1),
    EXAMPLE("exp2", exp2(x), 2, 4, 8, 16),
    EXAMPLE("log", log(x / x), 0, 0, 0, 0),
    EXAMPLE("log2", log2(exp2(x)), 1, 2, 3, 4),
    EXAMPLE("log10", log10(precise::exp2(x - x)), 0, 0, 0, 0),
    EXAMPLE("log1p", log1p(zeros_like(x)), 0, 0, 0, 0),
    EXAMPLE("expm1", expm1(zeros_like(x)), 0, 0, 0, 0),
    EXAMPLE("pow", pow(x, 3), 1, 8, 27, 64),
    EXAMPLE("sqrt", sqrt(x * x), 1, 2, 3, 4),
    EXAMPLE("sqrt_rn", sqrt_rn(x * x), 1, 2, 3, 4),
    EXAMPLE("rcp", rcp(exp2(x)), 0.5, 0.25, 0.125, 0.0625),
    EXAMPLE("div_rn", div_rn(x, 2), 0.5, 1, 1.5, 2),
    EXAMPLE("rsqrt", rsqrt(x / x * 4), 0.5, 0.5, 0.5, 0.5),
    EXAMPLE("sin", sin(zeros_like(x)), 0, 0, 0, 0),
    EXAMPLE("cos", cos(zeros_like(x)), 1, 1, 1, 1),
    EXAMPLE("tan", tan(zeros_like(x)), 0, 0, 0, 0),
    EXAMPLE("tanh", tanh(x * 100), 1, 1, 1, 1),
    EXAMPLE("erf", erf(x * 100), 1, 1, 1, 1),
    EXAMPLE("trunc", trunc(x - 2.5), -1, 0, 0, 1),
    EXAMPLE("round", round(x - 2.5), -2, -1, 1, 2),
    EXAMPLE("floor", floor(x / 2), 0, 1, 1, 2),
    EXAMPLE("ceil", ceil(x / 2), 1, 1, 2, 2),
    EXAMPLE("sigmoid", sigmoid(zeros_like(x)), 0.5, 0.5, 0.5, 0.5),
    EXAMPLE("relu", relu(x - 2), 0, 0, 1, 2),
    EXAMPLE("gelu", gelu(x * 100), 100, 200, 300, 400),
    EXAMPLE("silu", silu(x * 100), 100, 200, 300, 400),
    EXAMPLE("fma", fma(x, y, 1), 5, 7, 7, 5),
    EXAMPLE("mulhi", mulhi(i, 1 << 30), 0, 0, 0, 0),
    EXAMPLE("popcount", popcount(i * 3), 0, 2, 2, 2),
    EXAMPLE("clz", clz(i), 32, 31, 30, 30),
    EXAMPLE("ctz", ctz(i), 32, 0, 1, 0),
    EXAMPLE("reverse_bits", reverse_bits(i << 24), 0, 128, 64, 192),
    EXAMPLE("abs", abs(x - 3), 2, 1, 0, 1),
    EXAMPLE("min", min(x, y), 1, 2, 2, 1),
    EXAMPLE("max", max(x, 3), 3, 3, 3, 4),
    EXAMPLE("min_nan", isnan(min_nan(x, NAN)), 1, 1, 1, 1),
    EXAMPLE("max_nan", max_nan(x, 2), 2, 2, 3, 4),
    EXAMPLE("clamp", clamp(x, 2, 3), 2, 2, 3, 3),
    EXAMPLE("clamp_nan", clamp_nan(x, 2, 3), 2, 2, 3, 3),
    EXAMPLE("select", select(b, x, -x), -1, -2, 3, 4),
    EXAMPLE("cdiv", cdiv(i, 2), 0, 1, 1, 2),
    EXAMPLE("floor_div", floor_div(i - 3, 2), -2, -1, -1, 0),
    EXAMPLE("floor_mod", floor_mod(i - 3, 2), 1, 0, 1, 0),
    EXAMPLE("isnan", isnan(x), 0, 0, 0, 0),
    EXAMPLE("isinf", isinf(1 / (x - 2)), 0, 1, 0, 0),

    // Shape
    EXAMPLE("reshape", reshape(m, {4, 2}), 1, 2, 3, 4, 5, 6, 7, 8),
    EXAMPLE("ravel", ravel(m), 1, 2, 3, 4, 5, 6, 7, 8),
    EXAMPLE("squeeze", squeeze(reshape(x, {1, 4}), 0), 1, 2, 3, 4),
    EXAMPLE("permute", permute(m, {1, 0}), 1, 5, 2, 6, 3, 7, 4, 8),
    EXAMPLE("trans", trans(m), 1, 5, 2, 6, 3, 7, 4, 8),
    EXAMPLE("expand_dims", expand_dims(i, 1) * 10 + expand_dims(arange(2), 0), 0, 1, 10, 11, 20, 21, 30, 31),
    EXAMPLE("broadcast_to", broadcast_to(expand_dims(x, 0), {2, 4}), 1, 2, 3, 4, 1, 2, 3, 4),
    EXAMPLE("item", item(reshape(n, {1})), 3),
    EXAMPLE("join", join(x, y), 1, 4, 2, 3, 3, 2, 4, 1),
    EXAMPLE("split", split(reshape(x, {2, 2})).second, 2, 4),
    EXAMPLE("cat", cat(x, y), 1, 2, 3, 4, 4, 3, 2, 1),
    EXAMPLE("interleave", interleave(x, -x), 1, -1, 2, -2, 3, -3, 4, -4),
    EXAMPLE("flip", flip(x, 0), 4, 3, 2, 1),
    EXAMPLE("gather", gather(x * 10, 3 - i, 0), 40, 30, 20, 10),
    EXAMPLE("histogram", histogram(i & 1, 2), 2, 2),

    // Matrix product
    EXAMPLE("dot", dot(full(f16, {2, 16}, 1), full(f16, {16, 4}, 2)), 32, 32, 32, 32, 32, 32, 32, 32),

    // Memory through pointers
    EXAMPLE("load", load(A.ptr() + i * 5, i < 3, -1), 0, 5, 10, -1),
    BODY("store", store(f.ptr() + (3 - i), x, b); return f.tile({4})(0);, 4, 3, 0, 0),

    BODY("prefetch", prefetch(A.ptr() + i); return load(A.ptr() + i);, 0, 1, 2, 3),

    // Host-side questions
    EXAMPLE("target", x * (target().sm >= 80 ? 1 : 0), 1, 2, 3, 4),
    EXAMPLE("target_info", x + target_info("sm_80").sm, 81, 82, 83, 84),
    BODY("require", require(x.rank() == 1, "x is a row"); return x;, 1, 2, 3, 4),

    // Reductions
    EXAMPLE("sum", sum(m, 1), 10, 26),
    EXAMPLE("sum", sum(m, {.keep_dims = true}) - x, 35, 34, 33, 32),
    EXAMPLE("prod", prod(x), 24),
    EXAMPLE("mean", mean(m, 0), 3, 4, 5, 6),
    EXAMPLE("reduce_max", reduce_max(m, 1, {.keep_dims = true}), 4, 8),
    EXAMPLE("reduce_min", reduce_min(m), 1),
    EXAMPLE("max_with_index", max_with_index(y).index, 0),
    EXAMPLE("min_with_index", min_with_index(y).value, 1),
    EXAMPLE("argmax", argmax(m, 1), 3, 3),
    EXAMPLE("argmin", argmin(y, 0), 3),
    EXAMPLE("xor_sum", xor_sum(i), 0),
    EXAMPLE("reduce_or", reduce_or(i), 3),
    EXAMPLE("any_of", any_of(x > 3), 1),
    EXAMPLE("all_of", all_of(x > 3), 0),
    EXAMPLE("reduce", reduce(x, 0, [](Value left, Value right) { return left * 1 + right; }), 10),
    EXAMPLE("softmax", softmax(zeros_like(x), 0), 0.25, 0.25, 0.25, 0.25),

    // Scans
    EXAMPLE("cumsum", cumsum(x), 1, 3, 6, 10),
    EXAMPLE("cumprod", cumprod(x, 0, {.reverse = true}), 24, 24, 12, 4),
    EXAMPLE("scan", scan(y, 0, [](Value earlier, Value later) { return min(earlier, later); }), 4, 3, 2, 1),

    // Sorting
    EXAMPLE("sort", sort(y), 1, 2, 3, 4),
    EXAMPLE("topk", topk(x, 2), 4, 3),
    EXAMPLE("topk", topk(x, 2, false), 1, 2),

    // Atomics
    BODY("atomic_add", atomic_add(c.ptr() + (i & 1), 1); return c.tile({4})(0);, 2, 2, 0, 0),
    BODY("atomic_min", atomic_min(c.ptr() + i, i - 2); return c.tile({4})(0);, -2, -1, 0, 0),
    BODY("atomic_max", atomic_max(c.ptr() + i, i - 2); return c.tile({4})(0);, 0, 0, 0, 1),
    BODY("atomic_and", atomic_and(c.ptr() + i, 1); return c.tile({4})(0);, 0, 0, 0, 0),
    BODY("atomic_or", atomic_or(c.ptr() + (i & 1), i); return c.tile({4})(0);, 2, 3, 0, 0),
    BODY("atomic_xor", atomic_xor(c.ptr() + (i & 1), i); return c.tile({4})(0);, 2, 2, 0, 0),
    EXAMPLE("atomic_xchg", atomic_xchg(c.ptr() + i, 5), 0, 0, 0, 0),
    BODY("atomic_cas", atomic_cas(c.ptr() + i, i, 7); return c.tile({4})(0);, 7, 0, 0, 0),

    // Random numbers
    EXAMPLE("randint4x", randint4x(0, cast(u32, i) & 0)[0] >> 16, 26151, 26151, 26151, 26151),
    EXAMPLE("randint", randint(0, cast(u32, i) & 0) >> 16, 26151, 26151, 26151, 26151),
    EXAMPLE("rand", floor(rand(42, i)), 0, 0, 0, 0),
    EXAMPLE("randn", abs(randn(42, i)) < 8, 1, 1, 1, 1),

    // Control flow
    BODY("range", auto s = var(0); for (auto k : range(n)) s += k; return s;, 3),
    BODY("if_", auto s = var(x); if_(n > 2, [&] { s = y; }).else_([&] { s = -y; }); return s;, 4, 3, 2, 1),
    BODY("while_", auto k = var(n); while_([&] { return k > 1; }, [&] { k -= 1; }); return k;, 1),

    BODY("guard", store(c.ptr() + i, 1); if_(n > 0, [&] { guard(n < 3); store(c.ptr() + i, 2); }); return c.tile({4})(0);, 1, 1, 1, 1),

    // Grids
    EXAMPLE("program_id", program_id(0), 0),
    EXAMPLE("num_programs", num_programs(0), 1),
    EXAMPLE("teams", teams(1), 0),
    EXAMPLE("cluster", cluster(1), 0),
    BODY("cluster_sum", cluster(1); return cluster_sum(arange(4));, 0, 1, 2, 3),
    BODY("cluster_sum_scatter", cluster(1); return cluster_sum_scatter(arange(4));, 0, 1, 2, 3),
    BODY("grid_sum", auto s = var(i); grid_sum(arange(4), 1, [&](Value sum) { s = sum + 1; }); return s;, 1, 2, 3, 4),
    EXAMPLE("grid1d", grid1d(A, {4}), 0),
    EXAMPLE("swizzle", swizzle(n, 2, 4, {.group = 2}).column(), 1),
    BODY("persistent", auto s = var(0); for (auto t : persistent(n)) s += t; return s;, 3),
    EXAMPLE("grid3d", grid3d(T, {1, 4, 8}).batch, 0),
    EXAMPLE("grid2d", grid2d(A, {4, 8}).column(), 0),

    // Promises
    EXAMPLE("multiple_of", load(A.ptr() + multiple_of(n - 3, {4}) + i), 0, 1, 2, 3),
    EXAMPLE("max_contiguous", load(A.ptr() + max_contiguous(i, {4})), 0, 1, 2, 3),
    EXAMPLE("max_constancy", max_constancy(i / 4, {4}), 0, 0, 0, 0),
    BODY("callable", static const auto norm = callable("norm", [](Value x, Value y) { return x * x + y * y; }); return norm(x, norm(y, 0));, 257, 85, 25, 17),
    EXAMPLE("specialize", full(i32, {specialize(n)}, specialize(A.dim(1))), 5, 5, 5),
    BODY("assume", assume(n % 3 == 0); return x;, 1, 2, 3, 4),

    // Finding mistakes
    BODY("device_print", device_print("x", {x}); return x;, 1, 2, 3, 4),
    BODY("device_assert", device_assert(x > 0, "x is positive"); return x;, 1, 2, 3, 4),
    BODY("debug_barrier", debug_barrier(); return x;, 1, 2, 3, 4),
    BODY("trace_print", trace_print("x", x); return x;, 1, 2, 3, 4),

    // PTX
    EXAMPLE("inline_ptx", inline_ptx("max.f32 $0, $1, $2;", "=f,f,f", {x, y}, {f32})[0], 4, 3, 3, 4),
    EXAMPLE("inline_cuda", inline_cuda("__device__ float cube(float x) { return x * x * x; }", "cube", {x}, f32), 1, 8, 27, 64),

    // Hints
    BODY("hint::warps", hint::warps(2); return x;, 1, 2, 3, 4),
    BODY("hint::by_target", hint::warps(hint::by_target({{80, 4}, {90, 8}})); return x;, 1, 2, 3, 4),
    BODY("hint::maxnreg", hint::maxnreg(64); return x;, 1, 2, 3, 4),
    BODY("hint::occupancy", hint::occupancy(2); return x;, 1, 2, 3, 4),
    BODY("hint::fp_fusion", hint::fp_fusion(false); return x * y + 1;, 5, 7, 7, 5),
    BODY("hint::ftz", hint::ftz(); return x * 0x1p-140f;, 0, 0, 0, 0),
    BODY("hint::stages", hint::stages(2); return x;, 1, 2, 3, 4),
  };
  return kAll;
}
// clang-format on

} // namespace tile::language
