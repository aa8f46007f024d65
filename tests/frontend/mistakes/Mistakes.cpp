#include "tests/frontend/mistakes/Mistakes.h"

#include <optional>

using namespace tile;

namespace {

std::vector<Mistake> list;

template <class F> void wrong(F lambda, std::vector<int64_t> consts = {}) {
  auto made = kernel("wrong", lambda);
  auto kept = std::make_shared<decltype(made)>(made);
  list.push_back({{kept, &kept->record()}, std::move(consts)});
}

// clang-format off
void products() {
  wrong([](In<f16, 2> a) { dot(a.tile({32, 32})(0, 0), a.tile({16, 32})(0, 0)); });
  wrong([](In<f16, 2> a, In<bf16, 2> b) { dot(a.tile({32, 32})(0, 0), b.tile({32, 32})(0, 0)); });
  wrong([](In<f16, 2> a) { dot(a.tile({32, 8})(0, 0), a.tile({8, 32})(0, 0)); });
  wrong([](In<f16, 2> a) { dot(a.tile({32, 32})(0, 0), a.tile({32, 32})(0, 0), zeros(f32, {32, 64})); });
  wrong([](In<bf16, 2> a) { dot(a.tile({32, 32})(0, 0), a.tile({32, 32})(0, 0), zeros(bf16, {32, 32})); });
  wrong([](In<f32, 1> a) { dot(a.tile({32})(0), a.tile({32})(0)); });
}

void types() {
  wrong([](In<i32, 1> a, In<u32, 1> b) { a.tile({32})(0) / b.tile({32})(0); });
  wrong([](In<i32, 1> a, In<u32, 1> b) { a.tile({32})(0) % b.tile({32})(0); });
  wrong([](In<f32, 1> a) { a.tile({32})(0) & 1; });
  wrong([](In<f32, 1> a) { ~a.tile({32})(0); });
  wrong([](In<i8, 1> a) { a.tile({32})(0) + 300; });
  wrong([](In<u8, 1> a) { a.tile({32})(0) + -1; });
  wrong([](In<i32, 1> a) { exp(a.tile({32})(0)); });
  wrong([](In<f32, 1> a) { select(a.tile({32})(0), 1.0f, 2.0f); });
  wrong([](In<f32, 1> a, Out<f16, 1> y) { y.tile({32})(0) = a.tile({32})(0); });
  wrong([](In<f32, 1> a) { bitcast(i64, a.tile({32})(0)); });
  wrong([](In<f32, 1> a) { mulhi(a.tile({32})(0), 3); });
}

void shapes() {
  wrong([](In<f32, 1> a) { a.tile({32})(0) + a.tile({64})(0); });
  wrong([](In<f32, 1> a) { reshape(a.tile({32})(0), {64}); });
  wrong([](In<f32, 1> a) { reshape(a.tile({48})(0), {3, 16}); reshape(a.tile({48})(0), {16, 3}); });
  wrong([](In<f32, 2> a) { permute(a.tile({4, 8})(0, 0), {0, 0}); });
  wrong([](In<f32, 1> a) { trans(a.tile({32})(0)); });
  wrong([](In<f32, 1> a) { broadcast_to(a.tile({32})(0), {16}); });
  wrong([](In<f32, 2> a) { squeeze(a.tile({4, 8})(0, 0), 0); });
  wrong([](In<f32, 1> a) { split(a.tile({32})(0)); });
  wrong([](In<f32, 1> a) { item(a.tile({32})(0)); });
  wrong([](In<f32, 1> a) { cat(a.tile({32})(0), a.tile({64})(0)); });
  wrong([](In<f32, 2> a) { a.tile({32})(0, 0); });
  wrong([](In<f32, 1> a) { a.tile({0})(0); });
  wrong([](In<f32, 1> a) { a.tile({1 << 21})(0); });
  wrong([] { arange(4, 4); });
  wrong([](In<f32, 1> a) { zeros(f32, {1, 1, 1, 1, 1, 1, 1, 1, 1}); });
}

void reductions() {
  wrong([](In<f32, 2> a) { sum(a.tile({4, 8})(0, 0), 2); });
  wrong([](In<f32, 2> a) { argmax(a.tile({4, 8})(0, 0), -3); });
  wrong([](In<f32, 1> a) { xor_sum(a.tile({32})(0)); });
  wrong([](In<f32, 1> a) { reduce(a.tile({32})(0), 0, [](Value x, Value y) { return cast(i32, x + y); }); });
  wrong([](In<f32, 1> a) { topk(a.tile({32})(0), 5); });
  wrong([](In<f32, 1> a) { sort(a.tile({48})(0)); });
  wrong([](In<f32, 1> a) { histogram(a.tile({32})(0), 8); });
}

void control() {
  wrong([](In<f32, 1> a) { if_(a.tile({32})(0) > 0, [] {}); });
  wrong([](Scalar<i32> n) { if_(n, [] {}); });
  wrong([] { if_(1 < 2, [] {}); });
  wrong([](Scalar<f32> x) { for (auto i : range(x)) (void)i; });
  wrong([](Scalar<i32> n) { for (auto i : range(0, n, 0)) (void)i; });
  wrong([](Scalar<i32> n) { Value s = n; for (auto i : range(n)) s = s + i; });
  wrong([](Scalar<i32> n) { auto s = var(n); for (auto i : range(n)) s = cast(f32, i); });
  wrong([](Scalar<i32> n) { std::optional<Value> kept; for (auto i : range(n)) kept.emplace(i + 1); *kept + 1; });
  wrong([](Scalar<i32> n) { for (auto i : range(n)) { (void)i; break; } n + 1; });
  wrong([](Scalar<i32> n) { while_([&] { return n; }, [] {}); });
  wrong([](Scalar<i32> n) { Value empty; n + empty; });
  wrong([](Scalar<i32> n) { static std::optional<Value> other; if (!other) tileIr(kernel("first", [](Scalar<i32> k) { other.emplace(k); })); *other + n; });
  wrong([](In<f32, 1> a) { var(a.handle()); });
}

void memory() {
  wrong([](In<f32, 1> a) { store(a.ptr() + arange(32), zeros(f32, {32})); });
  wrong([](Out<f32, 1> y) { load(y.ptr() + arange(32)); });
  wrong([](In<f32, 1> a) { load(a.ptr() + arange(32), arange(64) < 3); });
  wrong([](In<f32, 1> a) { load(a.ptr() + 0.5f); });
  wrong([](In<f32, 1> a) { a.ptr() + a.ptr(); });
  wrong([](InOut<i8, 1> a) { atomic_add(a.ptr() + arange(32), cast(i8, arange(32))); });
  wrong([](InOut<i32, 1> a) { atomic_add(a.ptr() + arange(32), zeros(f32, {32})); });
  wrong([](InOut<i8, 1> a) { atomic_add(a.tile({32})(0), cast(i8, arange(32))); });
  wrong([](InOut<f32, 1> a) { atomic_add(a.tile({32})(0), arange(32)); });
  wrong([](InOut<f32, 1> a) { atomic_add(a.tile({32}).hints({.cache = Cache::cs})(0), 1.0f); });
  wrong([](In<f32, 2> a) { a.dim(2); });
  wrong([](In<f32, 1> a, Const B) { require(B % 2 == 0, "B must be even"); }, {3});
  wrong([](Out<f32, 2> y) { grid2d(y, {16, 16}); grid2d(y, {32, 32}); });
  wrong([] { program_id(3); });
  wrong([] { teams(0); });
  wrong([] { teams(7); });
  wrong([] { teams(2); teams(2); });
  wrong([](Scalar<i32> n) { for (auto i : range(n)) teams(2) + i; });
  wrong([] { cluster(3); });
  wrong([] { cluster(16); });
  wrong([] { cluster(2); cluster(2); });
  wrong([] { cluster_sum(zeros(f32, {32})); });
  wrong([] { cluster(2); teams(2); cluster_sum(zeros(f32, {32})); });
  wrong([] { cluster(2); cluster_sum(1.0f); });
  wrong([] { cluster(2); cluster_sum(zeros(f16, {32})); });
  wrong([] { cluster(2); cluster_sum_scatter(zeros(f32, {96})); });
  wrong([] { cluster(8); cluster_sum_scatter(zeros(f32, {4, 32})); });
  wrong([] { grid_sum(zeros(f32, {32}), 0, [](Value) {}); });
  wrong([] { grid_sum(zeros(f32, {32}), 257, [](Value) {}); });
  wrong([] { grid_sum(program_id(0), 2, [](Value) {}); });
  wrong([] { grid_sum(zeros(bf16, {32}), 2, [](Value) {}); });
  wrong([] { cluster(2); grid_sum(zeros(f32, {32}), 2, [](Value) {}); });
  wrong([] { grid_sum(zeros(f32, {32}), 2, [](Value) {}); teams(2); });
  wrong([](Scalar<i32> n) { for (auto i : range(n)) grid_sum(zeros(i32, {32}) + i, 2, [](Value) {}); });
}
// clang-format on

} // namespace

std::vector<Mistake> mistakes() {
  products(), types(), shapes(), reductions(), control(), memory();
  return std::move(list);
}
