// Matrix products, of operands small enough for every precision to be exact.
#include "tests/fuzz/Program.h"

#include <cmath>

namespace tile::fuzz {
namespace {

using Operands = std::vector<const Tile *>;

/// The smallest inner extent of a dtype; 0 where there are no products.
int64_t leastInner(DType dtype) {
  switch (dtype) {
  case DType::F16:
  case DType::BF16:
    return 16;
  case DType::F32:
    return 8;
  case DType::F64:
    return 4;
  default:
    return 0;
  }
}
DType productType(DType dtype) { return dtype == f64 ? f64 : f32; }

std::optional<Statement> propose(Choice &choice) {
  auto *a = choice.pick([](const Type &type) {
    int64_t least = leastInner(type.dtype);
    return least && type.shape.rank() == 2 && type.shape[1] >= least;
  });
  if (!a)
    return {};
  auto *b = choice.pick([&](const Type &type) {
    return type.dtype == a->second.dtype && type.shape.rank() == 2 &&
           type.shape[0] == a->second.shape[1] &&
           a->second.shape[0] * type.shape[1] <= kMostElements;
  });
  if (!b)
    return {};
  Statement statement{
      .type = {productType(a->second.dtype), {a->second.shape[0], b->second.shape[1]}},
      .operands = {a->first, b->first},
      .attributes = {choice.below(3)}};
  auto *sum = choice.pick([&](const Type &type) { return type == statement.type; });
  if (sum && choice.oneIn(2))
    statement.operands.push_back(sum->first);
  return statement;
}

Tile evaluate(const Statement &statement, const Operands &x, Machine &) {
  Tile result(statement.type);
  const Tile &a = *x[0], &b = *x[1];
  // What tf32, and one bf16 of several, keep of an f32 operand.
  DType kept = a.type.dtype == f32 ? bf16 : a.type.dtype;
  for (const Tile *operand : {&a, &b})
    for (Number number : operand->elements)
      exactly(kept, number.f);
  int64_t inner = a.type.shape[1], columns = b.type.shape[1];
  forEach(statement.type.shape, [&](const Index &index, size_t position) {
    std::vector<double> terms;
    if (x.size() == 3)
      terms.push_back(x[2]->elements[position].f);
    for (int64_t k = 0; k < inner; ++k)
      terms.push_back(a.elements[size_t(index[0] * inner + k)].f *
                      b.elements[size_t(k * columns + index[1])].f);
    requireExactSum(statement.type.dtype, terms);
    double sum = 0;
    for (double term : terms)
      sum += term;
    result.elements[position].f = exactly(statement.type.dtype, sum);
  });
  return result;
}

Value traceDot(const Statement &statement, const std::vector<Value> &v, Parameters &) {
  constexpr Precision kPrecisions[] = {Precision::ieee, Precision::tf32, Precision::tf32x3};
  DotOptions options{.precision = kPrecisions[statement.attributes[0]]};
  return v.size() == 3 ? dot(v[0], v[1], v[2], options) : dot(v[0], v[1], options);
}

} // namespace

std::vector<Operation> productOperations() { return {{"dot", 12, propose, evaluate, traceDot}}; }

} // namespace tile::fuzz
