// Programs from seeds. A statement is tried on the host first and dropped where its result would be
// open or rounded, so that every program kept has one right answer.
#include "tests/fuzz/Program.h"

#include <algorithm>
#include <set>

namespace tile::fuzz {

const std::pair<int, Type> *Choice::pick(const std::function<bool(const Type &)> &fits) {
  std::vector<const std::pair<int, Type> *> found, tiles;
  for (const auto &value : visible)
    if (fits(value.second)) {
      found.push_back(&value);
      if (value.second.shape.elements() > 1)
        tiles.push_back(&value);
    }
  if (!tiles.empty() && !oneIn(5))
    found = std::move(tiles);
  if (found.empty())
    return nullptr;
  int64_t count = int64_t(found.size());
  return found[size_t(std::max(below(count), below(count)))];
}

namespace {

const Operation &operationNamed(const std::string &name) {
  return *std::find_if(operations().begin(), operations().end(),
                       [&](const Operation &operation) { return operation.name == name; });
}

class Generator {
public:
  explicit Generator(uint64_t seed) : random_(seed) { program_.seed = seed; }

  Program generate() {
    makeArguments();
    Block block;
    block.visible = {{0, {i32, {}}}, {1, {i32, {}}}};
    for (int id = 0; id < program_.programs; ++id)
      block.machines.emplace_back(program_, id);
    program_.values = 2;
    fill(block, 10 + below(40), 0);
    addOutputs(block);
    program_.statements = std::move(block.statements);
    return std::move(program_);
  }

private:
  /// A list of statements in the making: what they can use, and the state each program is in.
  struct Block {
    std::vector<Statement> statements;
    std::vector<std::pair<int, Type>> visible;
    std::vector<std::pair<int, Type>> variables;
    std::vector<Machine> machines;
  };

  int64_t below(int64_t count) { return int64_t(random_() % uint64_t(count)); }

  void makeArguments() {
    program_.programs = int(1 + below(3));
    program_.argument = below(5);
    constexpr DType kTypes[] = {i32, f32, f16, i32, f32, i8,   bf16,
                                i64, u8,  f64, u32, i16, e4m3, e5m2};
    for (TensorSpec &tensor : program_.inputs) {
      tensor.dtype = &tensor != program_.inputs && below(3) == 0 ? program_.inputs[0].dtype
                                                                 : kTypes[below(std::size(kTypes))];
      tensor.extents = {1 + below(120), below(2) ? 1 + below(70) : 16 * (1 + below(7))};
      bool isWide = !isFloat(tensor.dtype) && below(2);
      int64_t most = isFloat8(tensor.dtype) ? 8 : 16;
      for (int64_t i = tensor.extents[0] * tensor.extents[1]; i > 0; --i)
        tensor.values.push_back(
            isFloat(tensor.dtype)
                ? Number{.f = double(below(2 * most + 1) - most) / 4}
                : Number{.i = wrapped(tensor.dtype, isWide ? int64_t(random_()) : below(17) - 8)});
    }
  }

  /// Adds a statement if every program of the launch can run it.
  bool accept(Block &block, Statement statement) {
    auto machines = block.machines;
    try {
      for (Machine &machine : machines)
        machine.run(statement);
    } catch (const NotComparable &) {
      return false;
    }
    block.machines = std::move(machines);
    if (statement.result >= 0 && statement.kind != Statement::For)
      block.visible.push_back({statement.result, statement.type});
    if (statement.kind == Statement::Declare)
      block.variables.push_back({statement.result, statement.type});
    block.statements.push_back(std::move(statement));
    return true;
  }

  void fill(Block &block, int64_t count, int depth) {
    constexpr int64_t kTries = 12;
    for (int64_t tries = 0; int64_t(block.statements.size()) < count && tries < count * kTries;
         ++tries)
      addStatement(block, depth);
  }

  void addStatement(Block &block, int depth) {
    int64_t dice = below(100);
    if (dice < 5)
      addVariable(block);
    else if (dice < 14)
      addAssignment(block);
    else if (dice < 20 && depth < 3)
      addFor(block, depth);
    else if (dice < 25 && depth < 3)
      addIf(block, depth);
    else if (dice < 27 && depth < 2)
      addWhile(block, depth);
    else if (dice < 32 && depth < 2)
      addStagedFor(block, depth);
    else
      addOperation(block);
  }

  void addOperation(Block &block) {
    int64_t total = 0;
    for (const Operation &operation : operations())
      total += operation.weight;
    int64_t dice = below(total);
    for (const Operation &operation : operations())
      if ((dice -= operation.weight) < 0) {
        addUse(block, operation, block.visible);
        return;
      }
  }

  /// Adds a use of an operation, of values out of a list; its number, or nothing if there is none.
  std::optional<int> addUse(Block &block, const Operation &operation,
                            const std::vector<std::pair<int, Type>> &values) {
    Choice choice{random_, program_, values};
    std::optional<Statement> statement = operation.propose(choice);
    if (!statement || statement->type.shape.elements() > kMostElements)
      return {};
    statement->operation = &operation;
    return addResult(block, std::move(*statement));
  }

  /// Adds a statement with a result; its number, or nothing if the statement was dropped.
  std::optional<int> addResult(Block &block, Statement statement) {
    int result = statement.result = program_.values++;
    return accept(block, std::move(statement)) ? std::optional(result) : std::nullopt;
  }

  void addVariable(Block &block) {
    const auto &[number, type] = block.visible[size_t(below(int64_t(block.visible.size())))];
    accept(block, {.kind = Statement::Declare,
                   .result = program_.values++,
                   .type = type,
                   .operands = {number}});
  }

  /// Stores a value of its type, other than itself, to a variable.
  void addAssignment(Block &block) {
    if (block.variables.empty())
      return;
    auto [variable, type] = block.variables[size_t(below(int64_t(block.variables.size())))];
    Choice choice{random_, program_, block.visible};
    auto *value = choice.pick([&, type = type](const Type &other) { return other == type; });
    if (value->first != variable)
      accept(block, {.kind = Statement::Assign, .operands = {variable, value->first}});
  }

  int addNumber(Block &block, int64_t number) {
    int result = program_.values++;
    accept(block, {.operation = &operationNamed("full"),
                   .result = result,
                   .type = {i32, {}},
                   .attributes = {number}});
    return result;
  }

  /// The block with which the inside of a region starts: it sees the values outside and has no statements yet.
  Block inside(const Block &block) {
    Block inner = block;
    inner.statements.clear();
    return inner;
  }
  std::vector<Statement> fillRegion(Block inner, int depth) {
    fill(inner, 1 + below(5), depth + 1);
    for (int tries = 0; tries < 3; ++tries)
      addAssignment(inner);
    return std::move(inner.statements);
  }

  void addFor(Block &block, int depth) {
    int lo = below(3) ? addNumber(block, below(3)) : 0;
    int hi = below(3) ? addNumber(block, below(6)) : 1;
    Statement loop{
        .kind = Statement::For,
        .result = program_.values++,
        .type = {i32, {}},
        .operands = {lo, hi},
        .attributes = {1 + below(2), below(3) ? 0 : 1 + below(5), below(8) == 0, below(8) == 0}};
    if (below(5) == 0)
      std::swap(loop.operands[0], loop.operands[1]), loop.attributes[kStep] = -1;
    loop.regions.push_back(fillRegion(insideLoop(block, loop), depth));
    accept(block, std::move(loop));
  }

  Block insideLoop(const Block &block, const Statement &loop) {
    Block inner = inside(block);
    for (Machine &machine : inner.machines)
      machine.values[loop.result] = machine.values.at(loop.operands[0]);
    inner.visible.push_back({loop.result, loop.type});
    return inner;
  }

  /// A variable that is zero as yet.
  int addZeros(Block &block, const Type &type) {
    auto zero =
        addResult(block, {.operation = &operationNamed("full"), .type = type, .attributes = {0}});
    return *addResult(block, {.kind = Statement::Declare, .type = type, .operands = {*zero}});
  }

  template <class T = int64_t> T oneOf(std::initializer_list<T> list) {
    return list.begin()[below(int64_t(list.size()))];
  }
  static constexpr int64_t kPointers = 2; ///< the way of loads that no view has

  /// A loop that asks for stages and sums products of what it loads by its index, with other uses of the loaded tiles,
  /// loads and stores of memory that it changes, and any statements.
  void addStagedFor(Block &block, int depth) {
    int64_t left = below(kInputs), right = below(kInputs);
    DType dtype = program_.inputs[left].dtype;
    if (program_.inputs[right].dtype != dtype)
      right = left;
    int64_t m = oneOf({16, 32, 48, 64}), n = oneOf({8, 16, 24, 32, 40}),
            inner = oneOf({32, 32, 48, 64});
    if (sizeOf(dtype) > 1 && below(2))
      inner = 16;
    if (m * inner > kMostElements)
      m = 32;
    DType factor = below(3) == 0 ? otherFactor(dtype) : dtype;
    Type sumType{isFloat(factor) ? accumulator(factor) : i32, {m, n}}, mostType{dtype, {m}};
    int sums = addZeros(block, sumType), most = addZeros(block, mostType);
    bool hasProducts = isFloat(factor) || sizeOf(factor) == 1;
    std::optional<int> own; // sums of products of a tile by itself
    Type ownType{sumType.dtype, {inner, inner}};
    if (hasProducts && factor == dtype && below(3) == 0 && m * int64_t(sizeOf(dtype)) >= 32 &&
        inner * inner <= kMostElements)
      own = addZeros(block, ownType);
    std::optional<int> chained; // sums of products of products
    Type chainedType{sumType.dtype, {m, n}};
    if (below(2) && isFloat(dtype) && factor == dtype && sizeOf(dtype) > 1 &&
        n * int64_t(sizeOf(dtype)) >= 32)
      chained = addZeros(block, chainedType);
    Statement loop{
        .kind = Statement::For,
        .type = {i32, {}},
        .operands = {addNumber(block, below(2)), below(8) ? addNumber(block, below(8)) : 1},
        .attributes = {below(4) ? 1 : 2, 1 + below(5), chained ? below(2) : below(8) == 0,
                       below(3) == 0}};
    loop.result = program_.values++;
    Block body = insideLoop(block, loop);
    if (below(4) == 0)
      addUse(body, operationNamed("scratch_load"), {});
    int a = addStep(body, left, 1, {m, inner}, loop.result),
        b = addStep(body, right, 0, {inner, n}, below(8) ? loop.result : 0);
    if (below(3) == 0)
      if (auto rows = addMaximum(body, a, {dtype, {m, inner}}, mostType))
        accept(body, {.kind = Statement::Assign, .operands = {most, *rows}});
    auto leftFactor = addFactor(body, a, {factor, {m, inner}}, dtype),
         rightFactor = addFactor(body, b, {factor, {inner, n}}, dtype);
    if (hasProducts && leftFactor && rightFactor)
      if (auto product = addResult(body, {.operation = &operationNamed("dot"),
                                          .type = sumType,
                                          .operands = {*leftFactor, *rightFactor, sums},
                                          .attributes = {below(5)}}))
        accept(body, {.kind = Statement::Assign, .operands = {sums, *product}});
    if (own)
      addOwnProduct(body, a, {ownType, *own});
    if (chained)
      addChain(body, {a, b}, {left, n}, sumType, {chainedType, *chained}, loop.result);
    if (below(3) == 0)
      addUse(body, operationNamed("scratch_store"), body.visible);
    if (below(2))
      fill(body, int64_t(body.statements.size()) + 1 + below(4), depth + 1);
    loop.regions.push_back(std::move(body.statements));
    accept(block, std::move(loop));
  }

  /// A dtype to which factors of products are widened, or narrowed.
  DType otherFactor(DType dtype) {
    if (sizeOf(dtype) == 1 && dtype != i1)
      return below(3) ? f16 : oneOf({bf16, f32});
    if (dtype == f32)
      return below(2) ? f16 : bf16;
    return dtype == f16 || dtype == bf16 ? f32 : dtype;
  }

  /// The tile, or what a product takes for it.
  std::optional<int> addFactor(Block &block, int tile, const Type &type, DType dtype) {
    if (type.dtype == dtype)
      return tile;
    return addResult(block,
                     {.operation = &operationNamed("cast"), .type = type, .operands = {tile}});
  }

  /// A product of two tiles is an operand of the next, as in attention.
  void addChain(Block &block, std::vector<int> tiles, std::pair<int64_t, int64_t> third,
                const Type &product, const std::pair<Type, int> &sums, int index) {
    auto [input, n] = third;
    DType dtype = program_.inputs[input].dtype;
    auto scores = addResult(block, {.operation = &operationNamed("dot"),
                                    .type = product,
                                    .operands = std::move(tiles),
                                    .attributes = {0}});
    auto weights = scores ? addResult(block, {.operation = &operationNamed("cast"),
                                              .type = {dtype, product.shape},
                                              .operands = {*scores}})
                          : std::nullopt;
    if (!weights)
      return;
    int values = addStep(block, input, 0, {n, n}, index);
    if (auto sum = addResult(block, {.operation = &operationNamed("dot"),
                                     .type = sums.first,
                                     .operands = {*weights, values, sums.second},
                                     .attributes = {0}}))
      accept(block, {.kind = Statement::Assign, .operands = {sums.second, *sum}});
  }

  /// A tile, with rows for columns, by itself: the program transposes it, or loads it once more from the transposed tensor.
  void addOwnProduct(Block &block, int tile, const std::pair<Type, int> &sums) {
    Statement load = *std::find_if(block.statements.begin(), block.statements.end(),
                                   [&](const Statement &each) { return each.result == tile; });
    Type transposed{load.type.dtype, {load.type.shape[1], load.type.shape[0]}};
    Statement rows = {.operation = &operationNamed("permute"),
                      .type = transposed,
                      .operands = {tile},
                      .attributes = {1, 0}};
    if (below(2) && load.attributes[3] != kPointers) {
      rows = load;
      rows.type = transposed;
      rows.attributes[1] = 1 - rows.attributes[1];
      rows.attributes[6] = 1 - rows.attributes[6];
    }
    auto left = addResult(block, std::move(rows));
    auto product = left ? addResult(block, {.operation = &operationNamed("dot"),
                                            .type = sums.first,
                                            .operands = {*left, tile, sums.second},
                                            .attributes = {0}})
                        : std::nullopt;
    if (product)
      accept(block, {.kind = Statement::Assign, .operands = {sums.second, *product}});
  }

  int addStep(Block &block, int64_t input, int64_t axis, const Shape &shape, int index) {
    const TensorSpec &tensor = program_.inputs[input];
    int64_t way = std::max<int64_t>(0, below(6) - 3);
    bool isTransposed = way != kPointers && below(3) == 0;
    return *addResult(block, {.operation = &operationNamed("load_step"),
                              .type = {tensor.dtype, shape},
                              .operands = {index},
                              .attributes = {input, axis, below(3) / 2, way, tensor.extents[0],
                                             tensor.extents[1], isTransposed}});
  }

  /// The largest elements of rows.
  std::optional<int> addMaximum(Block &block, int tile, const Type &type, const Type &result) {
    for (int tries = 0; tries < 20; ++tries) { // until it is the right axis
      Choice choice{random_, program_, {{tile, type}}};
      const Operation &maximum = operationNamed("reduce_max");
      std::optional<Statement> statement = maximum.propose(choice);
      if (!statement || statement->type != result)
        continue;
      statement->operation = &maximum;
      return addResult(block, std::move(*statement));
    }
    return {};
  }

  void addIf(Block &block, int depth) {
    Choice choice{random_, program_, block.visible};
    auto *scalar = choice.pick([](const Type &type) { return type == Type{i32, {}}; });
    int left = scalar->first, right = addNumber(block, below(4)), condition = program_.values++;
    if (!accept(block, {.operation = &operationNamed("lt"),
                        .result = condition,
                        .type = {i1, {}},
                        .operands = {left, right}}))
      return;
    Statement branch{.kind = Statement::If, .operands = {condition}};
    branch.regions.push_back(fillRegion(inside(block), depth));
    branch.regions.push_back(below(2) ? fillRegion(inside(block), depth)
                                      : std::vector<Statement>());
    accept(block, std::move(branch));
  }

  void addWhile(Block &block, int depth) {
    int start = below(2) ? addNumber(block, below(4)) : 1, counter = program_.values++;
    Statement declare{
        .kind = Statement::Declare, .result = counter, .type = {i32, {}}, .operands = {start}};
    if (!accept(block, std::move(declare)))
      return;
    block.variables.pop_back(); // nothing but the loop changes it
    Statement loop{.kind = Statement::While, .operands = {counter}};
    loop.regions.push_back(fillRegion(inside(block), depth));
    accept(block, std::move(loop));
  }

  /// Stores the values that nothing else uses, beginning with the last.
  void addOutputs(Block &block) {
    std::set<int> used;
    for (const Statement &statement : block.statements)
      used.insert(statement.operands.begin(), statement.operands.end());
    auto candidates = block.visible;
    std::reverse(candidates.begin(), candidates.end());
    std::partition(candidates.begin(), candidates.end(),
                   [&](const auto &value) { return used.count(value.first) == 0; });
    for (int output = 0; output < kOutputs && output < int(candidates.size()); ++output) {
      auto [number, type] = candidates[size_t(output)];
      program_.outputs[output] = type;
      accept(block, {.kind = Statement::Output, .operands = {number}, .attributes = {output}});
    }
  }

  std::mt19937_64 random_;
  Program program_;
};

} // namespace

Program generate(uint64_t seed) { return Generator(seed).generate(); }

} // namespace tile::fuzz
