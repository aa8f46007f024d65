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
      tensor.dtype = kTypes[below(std::size(kTypes))];
      tensor.extents = {1 + below(70), 1 + below(70)};
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
    else
      addOperation(block);
  }

  void addOperation(Block &block) {
    int64_t total = 0;
    for (const Operation &operation : operations())
      total += operation.weight;
    int64_t dice = below(total);
    for (const Operation &operation : operations()) {
      if ((dice -= operation.weight) >= 0)
        continue;
      Choice choice{random_, program_, block.visible};
      std::optional<Statement> statement = operation.propose(choice);
      if (!statement || statement->type.shape.elements() > kMostElements)
        return;
      statement->operation = &operation;
      statement->result = program_.values++;
      accept(block, std::move(*statement));
      return;
    }
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
    Statement loop{.kind = Statement::For,
                   .result = program_.values++,
                   .type = {i32, {}},
                   .operands = {lo, hi},
                   .attributes = {1 + below(2)}};
    if (below(5) == 0)
      std::swap(loop.operands[0], loop.operands[1]), loop.attributes[0] = -1;
    Block inner = inside(block);
    for (Machine &machine : inner.machines)
      machine.values[loop.result] = machine.values.at(loop.operands[0]);
    inner.visible.push_back({loop.result, loop.type});
    loop.regions.push_back(fillRegion(std::move(inner), depth));
    accept(block, std::move(loop));
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
