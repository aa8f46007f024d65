// Matrix products, of operands small enough for every precision to be exact.
#include "tests/fuzz/Program.h"

#include <numeric>

namespace tile::fuzz {
namespace {

using Operands = std::vector<const Tile *>;

/// The dtype in which products are summed; nothing where there are none.
std::optional<DType> sumType(DType dtype) {
  switch (dtype) {
  case DType::I8:
  case DType::U8:
    return i32;
  case DType::E4M3:
  case DType::E5M2:
  case DType::F16:
  case DType::BF16:
  case DType::F32:
    return f32;
  case DType::F64:
    return f64;
  default:
    return {};
  }
}

/// The smallest inner extent, one instruction's.
int64_t leastInner(DType dtype) { return 32 / static_cast<int64_t>(sizeOf(dtype)); }
/// Sums of these may be f16 as well.
bool sumsInF16(DType dtype) { return dtype == f16 || dtype == DType::E4M3 || dtype == DType::E5M2; }

/// [B, M, K] x [B, K, N], or without B.
bool isMatrix(const Shape &shape) { return shape.rank() == 2 || shape.rank() == 3; }
int64_t rows(const Shape &shape) { return shape[shape.rank() - 2]; }
int64_t columns(const Shape &shape) { return shape[shape.rank() - 1]; }
int64_t batches(const Shape &shape) { return shape.rank() == 3 ? shape[0] : 1; }
Shape productShape(const Shape &a, const Shape &b) {
  return a.rank() == 3 ? Shape{a[0], rows(a), columns(b)} : Shape{rows(a), columns(b)};
}

constexpr Precision kPrecisions[] = {Precision::ieee, Precision::tf32, Precision::tf32x3,
                                     Precision::bf16x3, Precision::bf16x6};

std::optional<Statement> propose(Choice &choice) {
  auto *a = choice.pick([](const Type &type) {
    return sumType(type.dtype) && isMatrix(type.shape) &&
           columns(type.shape) >= leastInner(type.dtype);
  });
  if (!a)
    return {};
  const Shape &left = a->second.shape;
  auto *b = choice.pick([&](const Type &type) {
    return type.dtype == a->second.dtype && type.shape.rank() == left.rank() &&
           batches(type.shape) == batches(left) && rows(type.shape) == columns(left) &&
           batches(left) * rows(left) * columns(type.shape) <= kMostElements;
  });
  if (!b)
    return {};
  Statement statement{.type = {*sumType(a->second.dtype), productShape(left, b->second.shape)},
                      .operands = {a->first, b->first},
                      .attributes = {choice.below(std::size(kPrecisions))}};
  auto *sum = choice.pick([&](const Type &type) {
    return type == statement.type ||
           (type.shape == statement.type.shape && type.dtype == f16 && sumsInF16(a->second.dtype));
  });
  if (sum && choice.oneIn(2)) {
    statement.operands.push_back(sum->first);
    statement.type.dtype = sum->second.dtype;
  }
  return statement;
}

/// The sum of a[i, k] * b[k, j] over k, and of what was there.
int64_t integerSum(const std::vector<std::pair<Number, Number>> &factors, Number before) {
  int64_t sum = before.i;
  for (auto [a, b] : factors)
    sum += a.i * b.i;
  return wrapped(i32, sum);
}
double floatSum(DType dtype, const std::vector<std::pair<Number, Number>> &factors, Number before) {
  std::vector<double> terms;
  terms.reserve(factors.size() + 1);
  terms.push_back(before.f);
  for (auto [a, b] : factors)
    terms.push_back(a.f * b.f);
  requireExactSum(dtype, terms);
  return exactly(dtype, std::accumulate(terms.begin(), terms.end(), 0.0));
}

Tile evaluate(const Statement &statement, const Operands &x, Machine &) {
  Tile result(statement.type);
  const Tile &a = *x[0], &b = *x[1];
  DType dtype = a.type.dtype;
  // Operands of f32 must be exact in bf16, since tf32 and a single term of bf16 keep no more of them.
  if (dtype == f32)
    for (const Tile *operand : {&a, &b})
      for (Number number : operand->elements)
        exactly(bf16, number.f);
  int64_t m = rows(a.type.shape), inner = columns(a.type.shape), n = columns(b.type.shape);
  std::vector<std::pair<Number, Number>> factors(static_cast<size_t>(inner));
  forEach(statement.type.shape, [&](const Index &index, size_t position) {
    int64_t batch = index.size() == 3 ? index[0] : 0, i = index[index.size() - 2], j = index.back();
    for (int64_t k = 0; k < inner; ++k)
      factors[size_t(k)] = {a.elements[size_t((batch * m + i) * inner + k)],
                            b.elements[size_t((batch * inner + k) * n + j)]};
    Number before = x.size() == 3 ? x[2]->elements[position] : Number{.i = 0};
    if (isFloat(dtype))
      result.elements[position].f = floatSum(statement.type.dtype, factors, before);
    else
      result.elements[position].i = integerSum(factors, before);
  });
  return result;
}

Value traceDot(const Statement &statement, const std::vector<Value> &v, Parameters &) {
  DotOptions options{.precision = kPrecisions[statement.attributes[0]]};
  return v.size() == 3 ? dot(v[0], v[1], v[2], options) : dot(v[0], v[1], options);
}

} // namespace

std::vector<Operation> productOperations() { return {{"dot", 12, propose, evaluate, traceDot}}; }

} // namespace tile::fuzz
