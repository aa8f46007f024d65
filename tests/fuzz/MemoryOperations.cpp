// Where values come from, constants and loads, and stores and atomics that a program does on its way.
#include "tests/fuzz/Program.h"

#include <algorithm>

namespace tile::fuzz {
namespace {

using Operands = std::vector<const Tile *>;
using Values = std::vector<Value>;

Shape someShape(Choice &choice, int rank) {
  Shape shape;
  for (int dim = 0; dim < rank; ++dim)
    shape.append(choice.oneOf<int64_t>({1, 2, 4, 8, 16, 16, 32, 64, 3, 12, 48, 5}));
  return shape;
}
bool isIndex(const Type &type) { return type.dtype == i32 && type.shape.rank() == 0; }

// --- Constants -----------------------------------------------------------------------------------

std::optional<Statement> proposeFull(Choice &choice) {
  DType dtype = choice.oneOf({i1, i8, i32, i32, u16, u32, i64, f16, bf16, f32, f32, f64});
  int64_t number = dtype == i1 ? choice.below(2) : choice.below(15) - (isUnsigned(dtype) ? 0 : 7);
  return Statement{.type = {dtype, someShape(choice, int(choice.below(4)))},
                   .attributes = {number}};
}
Tile evaluateFull(const Statement &statement, const Operands &, Machine &) {
  Tile result(statement.type);
  Number number{.i = statement.attributes[0]};
  if (isFloat(statement.type.dtype))
    number.f = double(statement.attributes[0]) / 2;
  std::fill(result.elements.begin(), result.elements.end(), number);
  return result;
}
Value traceFull(const Statement &statement, const Values &, Parameters &) {
  int64_t number = statement.attributes[0];
  if (isFloat(statement.type.dtype))
    return full(statement.type.dtype, statement.type.shape, double(number) / 2);
  return full(statement.type.dtype, statement.type.shape, number);
}

std::optional<Statement> proposeIndex(Choice &choice) {
  Shape shape = someShape(choice, int(1 + choice.below(3)));
  return Statement{.type = {i32, shape}, .attributes = {choice.below(shape.rank())}};
}
Tile evaluateIndex(const Statement &statement, const Operands &, Machine &) {
  Tile result(statement.type);
  forEach(statement.type.shape, [&](const Index &index, size_t position) {
    result.elements[position].i = index[size_t(statement.attributes[0])];
  });
  return result;
}

// --- Loads through views: attributes are the input, whether offsets count elements, row, column ---

constexpr int64_t kRowMask = 3;

std::optional<Statement> proposeView(Choice &choice) {
  int64_t input = choice.below(kInputs);
  Statement statement{.type = {choice.program.inputs[input].dtype, someShape(choice, 2)}};
  bool inElements = choice.oneIn(3);
  int64_t most = inElements ? 40 : 3;
  statement.attributes = {input, inElements, choice.below(most) - (inElements ? 8 : 0),
                          choice.below(most) - (inElements ? 8 : 0)};
  if (auto *scalar = choice.pick(isIndex); scalar && choice.oneIn(2))
    statement.operands = {scalar->first};
  return statement;
}
Tile evaluateView(const Statement &statement, const Operands &x, Machine &machine) {
  const TensorSpec &tensor = machine.program->inputs[statement.attributes[0]];
  const Shape &shape = statement.type.shape;
  bool inElements = statement.attributes[1] != 0;
  int64_t row = statement.attributes[2] + (x.empty() ? 0 : x[0]->elements[0].i & kRowMask);
  int64_t top = row * (inElements ? 1 : shape[0]);
  int64_t left = statement.attributes[3] * (inElements ? 1 : shape[1]);
  Tile result(statement.type);
  forEach(shape, [&](const Index &index, size_t position) {
    int64_t i = top + index[0], j = left + index[1];
    if (i >= 0 && j >= 0 && i < tensor.extents[0] && j < tensor.extents[1])
      result.elements[position] = tensor.values[size_t(i * tensor.extents[1] + j)];
    else if (isFloat(statement.type.dtype))
      result.elements[position].f = 0;
  });
  return result;
}
Value traceView(const Statement &statement, const Values &v, Parameters &parameters) {
  auto tiles = parameters.inputs[statement.attributes[0]].tile(statement.type.shape);
  int row = int(statement.attributes[2]), column = int(statement.attributes[3]);
  if (v.empty())
    return statement.attributes[1] ? tiles.offset(row, column) : tiles(row, column);
  Value moved = row + (v[0] & kRowMask);
  return statement.attributes[1] ? tiles.offset(moved, column) : tiles(moved, column);
}

// --- Loads through pointers: attributes are the input, the first element, the step, the first
// element that is not read ---

/// The place of each element in row-major order, as a tile.
Value linearIndex(const Shape &shape) {
  if (shape.rank() == 0)
    return cast(i32, full(i32, {}, 0));
  Value linear;
  for (int dim = 0; dim < shape.rank(); ++dim) {
    Value along = index(dim, shape);
    linear = dim == 0 ? along : linear * int(shape[dim]) + along;
  }
  return linear;
}

std::optional<Statement> proposePointer(Choice &choice) {
  int64_t input = choice.below(kInputs);
  const TensorSpec &tensor = choice.program.inputs[input];
  int64_t size = int64_t(tensor.values.size());
  return Statement{
      .type = {tensor.dtype, someShape(choice, int(choice.below(4)))},
      .attributes = {input, choice.below(32), 1 + choice.below(3), 1 + choice.below(size)}};
}
Tile evaluatePointer(const Statement &statement, const Operands &, Machine &machine) {
  const TensorSpec &tensor = machine.program->inputs[statement.attributes[0]];
  Tile result(statement.type);
  for (size_t i = 0; i < result.elements.size(); ++i) {
    int64_t at = statement.attributes[1] + int64_t(i) * statement.attributes[2];
    if (at < statement.attributes[3])
      result.elements[i] = tensor.values[size_t(at)];
    else if (isFloat(statement.type.dtype))
      result.elements[i].f = 1;
    else
      result.elements[i].i = 1;
  }
  return result;
}
Value tracePointer(const Statement &statement, const Values &, Parameters &parameters) {
  Value at = linearIndex(statement.type.shape) * int(statement.attributes[2]) +
             int(statement.attributes[1]);
  const auto &input = parameters.inputs[statement.attributes[0]];
  Value other = statement.type.dtype == i1 ? full(i1, {}, true) : full(statement.type.dtype, {}, 1);
  return load(input.ptr() + at, at < int(statement.attributes[3]), other);
}

// --- Loads by the index of a loop: attributes are the input, the axis along which the index moves, the tile's place along the
// other one, how the load is written, and the input's extents. The generator makes these itself. ---

enum class Way : int64_t { Tiles, Elements, Pointers };

/// Elements by which a load that counts them begins before its tile.
constexpr int kMargin = 3;

Tile evaluateStep(const Statement &statement, const Operands &x, Machine &machine) {
  const TensorSpec &tensor = machine.program->inputs[statement.attributes[0]];
  int64_t axis = statement.attributes[1], start[2];
  for (int dim = 0; dim < 2; ++dim)
    start[dim] =
        (dim == axis ? x[0]->elements[0].i : statement.attributes[2]) * statement.type.shape[dim] -
        (Way(statement.attributes[3]) == Way::Elements ? kMargin : 0);
  Tile result(statement.type);
  bool isTransposed = statement.attributes[6];
  forEach(statement.type.shape, [&](const Index &index, size_t position) {
    int64_t i = start[0] + index[0], j = start[1] + index[1];
    if (isTransposed)
      std::swap(i, j);
    if (i >= 0 && j >= 0 && i < tensor.extents[0] && j < tensor.extents[1])
      result.elements[position] = tensor.values[size_t(i * tensor.extents[1] + j)];
    else if (isFloat(statement.type.dtype))
      result.elements[position].f = 0;
  });
  return result;
}
Value traceStep(const Statement &statement, const Values &v, Parameters &parameters) {
  const auto &input = parameters.inputs[statement.attributes[0]];
  const Shape &shape = statement.type.shape;
  Value other = full(i32, {}, statement.attributes[2]);
  bool movesColumns = statement.attributes[1] == 1;
  Value row = movesColumns ? other : v[0], column = movesColumns ? v[0] : other;
  auto view = statement.attributes[6] ? input.T() : input;
  if (Way(statement.attributes[3]) == Way::Tiles)
    return view.tile(shape)(row, column);
  Value top = row * int(shape[0]), left = column * int(shape[1]);
  if (Way(statement.attributes[3]) == Way::Elements)
    return view.tile(shape).offset(top - kMargin, left - kMargin);
  int height = int(statement.attributes[4]), width = int(statement.attributes[5]);
  Value i = index(0, shape) + top, j = index(1, shape) + left;
  return load(input.ptr() + (i * width + j), (i < height) & (j < width),
              full(statement.type.dtype, {}, 0));
}

// --- The program's own scratch memory: attributes are the first element and the direction ---------

std::optional<Statement> proposeScratchStore(Choice &choice) {
  auto *x = choice.pick(
      [](const Type &type) { return type.dtype == i32 && type.shape.elements() <= kScratch; });
  if (!x)
    return {};
  int64_t size = x->second.shape.elements(), first = choice.below(kScratch - size + 1);
  bool backwards = choice.oneIn(2);
  return Statement{.type = x->second,
                   .operands = {x->first},
                   .attributes = {backwards ? first + size - 1 : first, backwards ? -1 : 1}};
}
Tile evaluateScratchStore(const Statement &statement, const Operands &x, Machine &machine) {
  for (size_t i = 0; i < x[0]->elements.size(); ++i)
    machine.scratch[size_t(statement.attributes[0] + int64_t(i) * statement.attributes[1])] =
        int32_t(x[0]->elements[i].i);
  return *x[0];
}
Value traceScratchStore(const Statement &statement, const Values &v, Parameters &parameters) {
  const Shape &shape = statement.type.shape;
  Value first = parameters.id * int(kScratch) + int(statement.attributes[0]);
  if (shape.rank() == 1 && statement.attributes[1] == 1)
    parameters.scratch.tile(shape).offset(first) = v[0];
  else
    store(parameters.scratch.ptr() + (linearIndex(shape) * int(statement.attributes[1]) + first),
          v[0]);
  return v[0];
}

std::optional<Statement> proposeScratchLoad(Choice &choice) {
  int64_t size = choice.oneOf<int64_t>({1, 8, 32, 48, 128, 256});
  return Statement{.type = {i32, {size}}, .attributes = {choice.below(kScratch - size + 1)}};
}
Tile evaluateScratchLoad(const Statement &statement, const Operands &, Machine &machine) {
  Tile result(statement.type);
  for (size_t i = 0; i < result.elements.size(); ++i)
    result.elements[i].i = machine.scratch[size_t(statement.attributes[0]) + i];
  return result;
}
Value traceScratchLoad(const Statement &statement, const Values &, Parameters &parameters) {
  Value first = parameters.id * int(kScratch) + int(statement.attributes[0]);
  return parameters.scratch.tile(statement.type.shape).offset(first);
}

// --- Additions to counters that all programs share -------------------------------------------------

std::optional<Statement> proposeCount(Choice &choice) {
  auto *x = choice.pick([](const Type &type) { return type.dtype == i32; });
  if (!x)
    return {};
  return Statement{.type = x->second, .operands = {x->first}, .attributes = {choice.below(5) - 2}};
}
Tile evaluateCount(const Statement &statement, const Operands &x, Machine &machine) {
  for (Number number : x[0]->elements)
    machine.counters[size_t(number.i & (kCounters - 1))] += int32_t(statement.attributes[0]);
  return *x[0];
}
Value traceCount(const Statement &statement, const Values &v, Parameters &parameters) {
  Value at = v[0] & int(kCounters - 1);
  atomic_add(parameters.counters.ptr() + at, int32_t(statement.attributes[0]),
             {.sem = MemorySem::relaxed});
  return v[0];
}

} // namespace

std::vector<Operation> memoryOperations() {
  return {
      {"full", 2, proposeFull, evaluateFull, traceFull},
      {"index", 2, proposeIndex, evaluateIndex,
       [](const Statement &statement, const Values &, Parameters &) {
         return index(int(statement.attributes[0]), statement.type.shape);
       }},
      {"load_view", 10, proposeView, evaluateView, traceView},
      {"load_step", 0, [](Choice &) { return std::optional<Statement>(); }, evaluateStep,
       traceStep},
      {"load_pointer", 6, proposePointer, evaluatePointer, tracePointer},
      {"scratch_store", 3, proposeScratchStore, evaluateScratchStore, traceScratchStore},
      {"scratch_load", 2, proposeScratchLoad, evaluateScratchLoad, traceScratchLoad},
      {"count", 2, proposeCount, evaluateCount, traceCount},
  };
}

} // namespace tile::fuzz
