// Reductions, scans, sorting and histograms.
#include "tests/fuzz/Program.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tile::fuzz {
namespace {

using Operands = std::vector<const Tile *>;
using Values = std::vector<Value>;
using Group = std::vector<Number>;

/// attributes[0] is the axis, kAllAxes for none; attributes[1] whether dimensions are kept, or the
/// order is reversed or descending.
constexpr int64_t kAllAxes = -1;
int axisOf(const Statement &statement) { return int(statement.attributes[0]); }
bool flagOf(const Statement &statement) { return statement.attributes[1] != 0; }

/// The dtype in which sums of a dtype are computed.
DType sumType(DType dtype) {
  if (isFloat(dtype) || bitsOf(dtype) >= 32)
    return dtype;
  return isUnsigned(dtype) ? u32 : i32;
}
bool below(DType dtype, Number a, Number b) {
  if (isFloat(dtype))
    return a.f < b.f;
  return isUnsigned(dtype) ? uint64_t(a.i) < uint64_t(b.i) : a.i < b.i;
}

Number sumOf(DType dtype, DType to, const Group &group) {
  Number sum{.i = 0};
  if (!isFloat(dtype)) {
    uint64_t total = 0;
    for (Number x : group)
      total += uint64_t(x.i);
    sum.i = wrapped(to, int64_t(total));
    return sum;
  }
  std::vector<double> terms;
  sum.f = 0;
  for (Number x : group)
    terms.push_back(x.f), sum.f += x.f;
  requireExactSum(accumulator(dtype), terms);
  exactly(to, sum.f);
  return sum;
}
Number dotOf(DType, DType to, const Group &group) {
  uint64_t product = 1;
  for (Number x : group)
    product *= uint64_t(x.i);
  return {.i = wrapped(to, int64_t(product))};
}
template <bool Largest> Number extremeOf(DType dtype, DType, const Group &group) {
  Number best = group[0];
  for (Number x : group)
    if (Largest ? below(dtype, best, x) : below(dtype, x, best))
      best = x;
  return best;
}
template <bool Largest> Number placeOf(DType dtype, DType, const Group &group) {
  size_t best = 0;
  for (size_t i = 1; i < group.size(); ++i)
    if (Largest ? below(dtype, group[best], group[i]) : below(dtype, group[i], group[best]))
      best = i;
  return {.i = int64_t(best)};
}
Number xorOf(DType, DType, const Group &group) {
  int64_t result = 0;
  for (Number x : group)
    result ^= x.i;
  return {.i = result};
}
Number orOf(DType, DType, const Group &group) {
  int64_t result = 0;
  for (Number x : group)
    result |= x.i;
  return {.i = result};
}
Number anyOf(DType dtype, DType, const Group &group) {
  return {.i = std::any_of(group.begin(), group.end(),
                           [&](Number x) { return isFloat(dtype) ? x.f != 0 : x.i != 0; })};
}
Number allOf(DType dtype, DType, const Group &group) {
  return {.i = std::all_of(group.begin(), group.end(),
                           [&](Number x) { return isFloat(dtype) ? x.f != 0 : x.i != 0; })};
}

using Call = Value (*)(const Value &, std::optional<int>, ReduceOptions);
#define CALL(function)                                                                             \
  [](const Value &x, std::optional<int> axis, ReduceOptions options) {                             \
    return function(x, axis, options);                                                             \
  }

struct Reduction {
  const char *name;
  bool (*fits)(DType);
  DType (*to)(DType);
  Number (*combine)(DType, DType, const Group &);
  Call call;
};
bool anyType(DType dtype) { return !isFloat8(dtype); }
bool noBool(DType dtype) { return dtype != i1 && !isFloat8(dtype); }
bool integersOnly(DType dtype) { return isInteger(dtype) && dtype != i1; }
DType same(DType dtype) { return dtype; }
DType truth(DType) { return i1; }
DType place(DType) { return i32; }

const Reduction kReductions[] = {
    {"sum", anyType, sumType, sumOf, CALL(sum)},
    {"prod", integersOnly, sumType, dotOf, CALL(prod)},
    {"reduce_max", noBool, same, extremeOf<true>, CALL(reduce_max)},
    {"reduce_min", noBool, same, extremeOf<false>, CALL(reduce_min)},
    // Integers only: among floats -0 is below 0, which the host's numbers do not keep apart.
    {"argmax", integersOnly, place, placeOf<true>, CALL(argmax)},
    {"argmin", integersOnly, place, placeOf<false>, CALL(argmin)},
    {"xor_sum", integersOnly, same, xorOf, CALL(xor_sum)},
    {"reduce_or", integersOnly, same, orOf, CALL(reduce_or)},
    {"any_of", anyType, truth, anyOf, CALL(any_of)},
    {"all_of", anyType, truth, allOf, CALL(all_of)},
    {"reduce", noBool, same, extremeOf<true>,
     [](const Value &x, std::optional<int> axis, ReduceOptions options) {
       return reduce(
           x, axis, [](Value a, Value b) { return select(a < b, b, a); }, options);
     }},
};
#undef CALL

std::optional<Statement> proposeReduction(const Reduction &row, Choice &choice) {
  auto *x =
      choice.pick([&](const Type &type) { return type.shape.rank() > 0 && row.fits(type.dtype); });
  if (!x)
    return {};
  const Shape &shape = x->second.shape;
  int64_t axis = choice.oneIn(4) ? kAllAxes : choice.below(shape.rank());
  bool keeps = choice.oneIn(3);
  Shape result;
  if (axis != kAllAxes)
    result = keeps ? with(without(shape, int(axis)), int(axis), 1) : without(shape, int(axis));
  else if (keeps)
    for (int dim = 0; dim < shape.rank(); ++dim)
      result.append(1);
  return Statement{.type = {row.to(x->second.dtype), result},
                   .operands = {x->first},
                   .attributes = {axis, keeps}};
}
Tile evaluateReduction(const Reduction &row, const Statement &statement, const Operands &x,
                       Machine &) {
  std::vector<Group> groups(size_t(statement.type.shape.elements()));
  const Shape &shape = x[0]->type.shape;
  int axis = axisOf(statement);
  forEach(shape, [&](const Index &index, size_t position) {
    size_t group = 0;
    if (axis != kAllAxes) {
      Index rest = index;
      rest.erase(rest.begin() + axis);
      group = size_t(flatten(without(shape, axis), rest));
    }
    groups[group].push_back(x[0]->elements[position]);
  });
  Tile result(statement.type);
  for (size_t i = 0; i < groups.size(); ++i)
    result.elements[i] = row.combine(x[0]->type.dtype, statement.type.dtype, groups[i]);
  return result;
}

/// Calls `visit` with the positions of each line of a tile along an axis, in their order.
void forEachLine(const Shape &shape, int axis,
                 const std::function<void(const std::vector<size_t> &)> &visit) {
  std::map<int64_t, std::vector<size_t>> lines;
  forEach(shape, [&](Index index, size_t position) {
    index[size_t(axis)] = 0;
    lines[flatten(shape, index)].push_back(position);
  });
  for (auto &[start, line] : lines)
    visit(line);
}

struct Scan {
  const char *name;
  bool (*fits)(DType);
  DType (*to)(DType);
  Number (*combine)(DType, DType, const Group &);
  Value (*call)(const Value &, int axis, bool reverse);
};
/// Combines by taking the first element, which is associative and does not commute.
Number firstOf(DType, DType, const Group &group) { return group[0]; }
const Scan kScans[] = {
    {"cumsum", anyType, sumType, sumOf,
     [](const Value &x, int axis, bool reverse) { return cumsum(x, axis, {.reverse = reverse}); }},
    {"cumprod", integersOnly, sumType, dotOf,
     [](const Value &x, int axis, bool reverse) { return cumprod(x, axis, {.reverse = reverse}); }},
    {"scan_min", noBool, same, extremeOf<false>,
     [](const Value &x, int axis, bool reverse) {
       return scan(
           x, axis, [](Value a, Value b) { return min(a, b); }, reverse);
     }},
    {"scan_first", anyType, same, firstOf,
     [](const Value &x, int axis, bool reverse) {
       return scan(
           x, axis, [](Value a, Value) { return a; }, reverse);
     }},
};

std::optional<Statement> proposeScan(const Scan &row, Choice &choice) {
  auto *x =
      choice.pick([&](const Type &type) { return type.shape.rank() > 0 && row.fits(type.dtype); });
  if (!x)
    return {};
  return Statement{.type = {row.to(x->second.dtype), x->second.shape},
                   .operands = {x->first},
                   .attributes = {choice.below(x->second.shape.rank()), choice.below(2)}};
}
Tile evaluateScan(const Scan &row, const Statement &statement, const Operands &x, Machine &) {
  Tile result(statement.type);
  forEachLine(statement.type.shape, axisOf(statement), [&](std::vector<size_t> line) {
    if (flagOf(statement))
      std::reverse(line.begin(), line.end());
    Group group;
    for (size_t position : line) {
      group.push_back(x[0]->elements[position]);
      result.elements[position] = row.combine(x[0]->type.dtype, statement.type.dtype, group);
    }
  });
  return result;
}

bool canBeSorted(const Type &type) {
  int rank = type.shape.rank();
  return rank > 0 && noBool(type.dtype) && std::has_single_bit(uint64_t(type.shape[rank - 1]));
}
std::optional<Statement> proposeSort(Choice &choice) {
  auto *x = choice.pick(canBeSorted);
  if (!x)
    return {};
  return Statement{.type = x->second, .operands = {x->first}, .attributes = {0, choice.below(2)}};
}
std::optional<Statement> proposeTopk(Choice &choice) {
  auto *x = choice.pick(canBeSorted);
  if (!x)
    return {};
  Type type = x->second;
  int64_t &extent = type.shape[type.shape.rank() - 1];
  extent >>= choice.below(std::bit_width(uint64_t(extent)));
  return Statement{.type = type, .operands = {x->first}, .attributes = {0, 1}};
}
Tile evaluateSorted(const Statement &statement, const Operands &x, Machine &) {
  Tile result(statement.type);
  int last = statement.type.shape.rank() - 1;
  size_t from = size_t(x[0]->type.shape[last]), to = size_t(statement.type.shape[last]);
  for (size_t row = 0; row * to < result.elements.size(); ++row) {
    Group line(x[0]->elements.begin() + int64_t(row * from),
               x[0]->elements.begin() + int64_t((row + 1) * from));
    std::sort(line.begin(), line.end(), [&](Number a, Number b) {
      return flagOf(statement) ? below(statement.type.dtype, b, a)
                               : below(statement.type.dtype, a, b);
    });
    std::copy_n(line.begin(), to, result.elements.begin() + int64_t(row * to));
  }
  return result;
}

std::optional<Statement> proposeHistogram(Choice &choice) {
  auto *x =
      choice.pick([](const Type &type) { return type.dtype == i32 && type.shape.rank() == 1; });
  if (!x)
    return {};
  return Statement{.type = {i32, {choice.oneOf<int64_t>({1, 2, 8, 64})}}, .operands = {x->first}};
}
Tile evaluateHistogram(const Statement &statement, const Operands &x, Machine &) {
  Tile result(statement.type);
  for (Number value : x[0]->elements)
    if (value.i >= 0 && value.i < statement.type.shape[0])
      ++result.elements[size_t(value.i)].i;
  return result;
}

} // namespace

std::vector<Operation> reductionOperations() {
  std::vector<Operation> list;
  for (const Reduction &row : kReductions)
    list.push_back({row.name, 1, [&row](Choice &choice) { return proposeReduction(row, choice); },
                    [&row](const Statement &statement, const Operands &x, Machine &machine) {
                      return evaluateReduction(row, statement, x, machine);
                    },
                    [&row](const Statement &statement, const Values &v, Parameters &) {
                      std::optional<int> axis = axisOf(statement);
                      if (axis == kAllAxes)
                        axis.reset();
                      return row.call(v[0], axis, {.keep_dims = flagOf(statement)});
                    }});
  for (const Scan &row : kScans)
    list.push_back({row.name, 2, [&row](Choice &choice) { return proposeScan(row, choice); },
                    [&row](const Statement &statement, const Operands &x, Machine &machine) {
                      return evaluateScan(row, statement, x, machine);
                    },
                    [&row](const Statement &statement, const Values &v, Parameters &) {
                      return row.call(v[0], axisOf(statement), flagOf(statement));
                    }});
  list.push_back({"sort", 2, proposeSort, evaluateSorted,
                  [](const Statement &statement, const Values &v, Parameters &) {
                    return sort(v[0], flagOf(statement));
                  }});
  list.push_back({"topk", 2, proposeTopk, evaluateSorted,
                  [](const Statement &statement, const Values &v, Parameters &) {
                    return topk(v[0], int(statement.type.shape[statement.type.shape.rank() - 1]));
                  }});
  list.push_back({"histogram", 2, proposeHistogram, evaluateHistogram,
                  [](const Statement &statement, const Values &v, Parameters &) {
                    return histogram(v[0], int(statement.type.shape[0]));
                  }});
  return list;
}

} // namespace tile::fuzz
