// Operations that move elements: reshapes, permutations, broadcasts, joins, gathers.
#include "tests/fuzz/Program.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tile::fuzz {
namespace {

using Operands = std::vector<const Tile *>;
using Values = std::vector<Value>;
using Visible = const std::pair<int, Type> *;

bool isPowerOfTwo(int64_t x) { return std::has_single_bit(static_cast<uint64_t>(x)); }
bool arePowersOfTwo(const Shape &shape) {
  return std::all_of(shape.begin(), shape.end(), isPowerOfTwo);
}
bool isTile(const Type &type) { return type.shape.rank() > 0; }

/// A statement of one operand.
std::optional<Statement> unary(Visible x, const Shape &shape,
                               std::vector<int64_t> attributes = {}) {
  return Statement{.type = {x->second.dtype, shape},
                   .operands = {x->first},
                   .attributes = std::move(attributes)};
}
Shape shapeOf(const std::vector<int64_t> &extents) {
  Shape shape;
  for (int64_t extent : extents)
    shape.append(extent);
  return shape;
}
size_t axisOf(const Statement &statement) { return static_cast<size_t>(statement.attributes[0]); }

std::optional<Statement> proposeReshape(Choice &choice) {
  auto *x =
      choice.pick([](const Type &type) { return isTile(type) && arePowersOfTwo(type.shape); });
  if (!x)
    return {};
  std::vector<int64_t> extents(size_t(1 + choice.below(4)), 1);
  for (int64_t left = x->second.shape.elements(); left > 1; left /= 2)
    extents[size_t(choice.below(int64_t(extents.size())))] *= 2;
  return unary(x, shapeOf(extents));
}

std::optional<Statement> proposePermute(Choice &choice) {
  auto *x = choice.pick(
      [](const Type &type) { return type.shape.rank() >= 2 && type.shape.rank() <= 4; });
  if (!x)
    return {};
  std::vector<int64_t> order(size_t(x->second.shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), choice.random);
  Shape shape;
  for (int64_t dim : order)
    shape.append(x->second.shape[int(dim)]);
  return unary(x, shape, order);
}
Tile evaluatePermute(const Statement &statement, const Operands &x, Machine &) {
  return rearranged(*x[0], statement.type.shape, [&](const Index &index) {
    Index from(index.size());
    for (size_t dim = 0; dim < index.size(); ++dim)
      from[size_t(statement.attributes[dim])] = index[dim];
    return from;
  });
}
Value tracePermute(const Statement &statement, const Values &v, Parameters &) {
  auto at = [&](size_t dim) { return int(statement.attributes[dim]); };
  switch (statement.attributes.size()) {
  case 2:
    return permute(v[0], {at(0), at(1)});
  case 3:
    return permute(v[0], {at(0), at(1), at(2)});
  default:
    return permute(v[0], {at(0), at(1), at(2), at(3)});
  }
}

std::optional<Statement> proposeExpand(Choice &choice) {
  auto *x = choice.pick([](const Type &type) { return isTile(type) && type.shape.rank() < 4; });
  if (!x)
    return {};
  int64_t axis = choice.below(x->second.shape.rank() + 1);
  return unary(x, with(x->second.shape, int(axis), 1), {axis});
}
std::optional<Statement> proposeSqueeze(Choice &choice) {
  auto *x = choice.pick([](const Type &type) {
    return type.shape.rank() > 1 && std::count(type.shape.begin(), type.shape.end(), 1) > 0;
  });
  if (!x)
    return {};
  const Shape &shape = x->second.shape;
  int64_t axis = std::find(shape.begin(), shape.end(), 1) - shape.begin();
  return unary(x, without(shape, int(axis)), {axis});
}

std::optional<Statement> proposeBroadcastTo(Choice &choice) {
  auto *x = choice.pick([](const Type &type) {
    return !isTile(type) || std::count(type.shape.begin(), type.shape.end(), 1) > 0;
  });
  if (!x)
    return {};
  Shape shape = x->second.shape;
  if (shape.rank() == 0)
    shape = shapeOf({choice.oneOf<int64_t>({1, 3, 8}), choice.oneOf<int64_t>({5, 16, 64})});
  else
    for (int dim = 0; dim < shape.rank(); ++dim)
      if (shape[dim] == 1)
        shape[dim] = choice.oneOf<int64_t>({1, 2, 3, 8, 12, 32});
  if (shape.elements() > kMostElements)
    return {};
  return unary(x, shape);
}
Tile evaluateBroadcastTo(const Statement &statement, const Operands &x, Machine &) {
  Tile result(statement.type);
  forEach(statement.type.shape, [&](const Index &index, size_t position) {
    result.elements[position] = broadcastAt(*x[0], index);
  });
  return result;
}

/// Two tiles of one type.
std::optional<Statement> proposePair(Choice &choice,
                                     const std::function<bool(const Type &)> &fits) {
  auto *a = choice.pick([&](const Type &type) {
    return fits(type) && type.shape.rank() < 4 && 2 * type.shape.elements() <= kMostElements;
  });
  if (!a)
    return {};
  auto *b = choice.pick([&](const Type &type) { return type == a->second; });
  return Statement{.type = a->second, .operands = {a->first, b->first}};
}
std::optional<Statement> proposeJoin(Choice &choice) {
  auto statement = proposePair(choice, [](const Type &) { return true; });
  if (statement)
    statement->type.shape.append(2);
  return statement;
}
Tile evaluateJoin(const Statement &statement, const Operands &x, Machine &) {
  Tile result(statement.type);
  for (size_t i = 0; i < result.elements.size(); ++i)
    result.elements[i] = x[i % 2]->elements[i / 2];
  return result;
}
std::optional<Statement> proposeSplit(Choice &choice) {
  auto *x = choice.pick([](const Type &type) {
    return type.shape.rank() > 1 && type.shape[type.shape.rank() - 1] == 2;
  });
  if (!x)
    return {};
  return unary(x, without(x->second.shape, x->second.shape.rank() - 1), {choice.below(2)});
}
Tile evaluateSplit(const Statement &statement, const Operands &x, Machine &) {
  Tile result(statement.type);
  for (size_t i = 0; i < result.elements.size(); ++i)
    result.elements[i] = x[0]->elements[2 * i + axisOf(statement)];
  return result;
}
std::optional<Statement> proposeInterleave(Choice &choice) {
  auto statement = proposePair(choice, isTile);
  if (statement)
    statement->type.shape[statement->type.shape.rank() - 1] *= 2;
  return statement;
}

std::optional<Statement> proposeCat(Choice &choice) {
  int64_t axis = choice.below(3);
  auto statement = proposePair(choice, [&](const Type &type) {
    return axis < type.shape.rank() && isPowerOfTwo(type.shape[int(axis)]);
  });
  if (!statement)
    return {};
  statement->attributes = {axis};
  statement->type.shape[int(axis)] *= 2;
  return statement;
}
Tile evaluateCat(const Statement &statement, const Operands &x, Machine &) {
  Tile result(statement.type);
  int64_t half = x[0]->type.shape[int(axisOf(statement))];
  forEach(statement.type.shape, [&](Index index, size_t position) {
    int64_t &at = index[axisOf(statement)];
    const Tile &from = *x[at >= half];
    at %= half;
    result.elements[position] = from.elements[size_t(flatten(from.type.shape, index))];
  });
  return result;
}

std::optional<Statement> proposeFlip(Choice &choice) {
  auto *x = choice.pick(isTile);
  if (!x)
    return {};
  return unary(x, x->second.shape, {choice.below(x->second.shape.rank())});
}
Tile evaluateFlip(const Statement &statement, const Operands &x, Machine &) {
  return rearranged(*x[0], statement.type.shape, [&](Index index) {
    int64_t &at = index[axisOf(statement)];
    at = statement.type.shape[int(axisOf(statement))] - 1 - at;
    return index;
  });
}

/// Gathers with indices that the tracer brings into range: index % extent, of unsigned integers.
std::optional<Statement> proposeGather(Choice &choice) {
  auto *source =
      choice.pick([](const Type &type) { return isTile(type) && type.shape.rank() <= 3; });
  if (!source)
    return {};
  const Shape &from = source->second.shape;
  int64_t axis = choice.below(from.rank());
  auto *indices = choice.pick([&](const Type &type) {
    if (type.dtype != u32 && type.dtype != i32 && type.dtype != u8)
      return false;
    return type.shape.rank() == from.rank() &&
           without(type.shape, int(axis)) == without(from, int(axis));
  });
  if (!indices)
    return {};
  return Statement{.type = {source->second.dtype, indices->second.shape},
                   .operands = {source->first, indices->first},
                   .attributes = {axis}};
}
Tile evaluateGather(const Statement &statement, const Operands &x, Machine &) {
  Tile result(statement.type);
  auto extent = uint64_t(x[0]->type.shape[int(axisOf(statement))]);
  forEach(statement.type.shape, [&](Index index, size_t position) {
    index[axisOf(statement)] = int64_t(uint64_t(wrapped(u32, x[1]->elements[position].i)) % extent);
    result.elements[position] = x[0]->elements[size_t(flatten(x[0]->type.shape, index))];
  });
  return result;
}
Value traceGather(const Statement &statement, const Values &v, Parameters &) {
  auto axis = int(statement.attributes[0]);
  Value inside = cast(u32, v[1]) % static_cast<uint32_t>(v[0].shape()[axis]);
  return gather(v[0], inside, axis);
}

std::optional<Statement> proposeItem(Choice &choice) {
  auto *x =
      choice.pick([](const Type &type) { return isTile(type) && type.shape.elements() == 1; });
  return x ? unary(x, {}) : std::nullopt;
}

/// The elements in their order, for operations that change the shape alone.
Tile sameElements(const Statement &statement, const Operands &x, Machine &) {
  Tile result(statement.type);
  result.elements = x[0]->elements;
  return result;
}

#define TRACE(expression)                                                                          \
  [](const Statement &s, const Values &v, Parameters &) -> Value {                                 \
    (void)s;                                                                                       \
    return expression;                                                                             \
  }

} // namespace

std::vector<Operation> shapeOperations() {
  return {
      {"reshape", 6, proposeReshape, sameElements, TRACE(reshape(v[0], s.type.shape))},
      {"permute", 6, proposePermute, evaluatePermute, tracePermute},
      {"expand_dims", 3, proposeExpand, sameElements,
       TRACE(expand_dims(v[0], int(s.attributes[0])))},
      {"squeeze", 1, proposeSqueeze, sameElements, TRACE(squeeze(v[0], int(s.attributes[0])))},
      {"broadcast_to", 3, proposeBroadcastTo, evaluateBroadcastTo,
       TRACE(broadcast_to(v[0], s.type.shape))},
      {"join", 3, proposeJoin, evaluateJoin, TRACE(join(v[0], v[1]))},
      {"split", 4, proposeSplit, evaluateSplit,
       TRACE(s.attributes[0] ? split(v[0]).second : split(v[0]).first)},
      {"interleave", 2, proposeInterleave, evaluateJoin, TRACE(interleave(v[0], v[1]))},
      {"cat", 3, proposeCat, evaluateCat, TRACE(cat(v[0], v[1], int(s.attributes[0])))},
      {"flip", 3, proposeFlip, evaluateFlip, TRACE(flip(v[0], int(s.attributes[0])))},
      {"gather", 4, proposeGather, evaluateGather, traceGather},
      {"item", 2, proposeItem, sameElements, TRACE(item(v[0]))},
  };
}

} // namespace tile::fuzz
