// The host's meaning of a program: plain loops over plain arrays.
#include "tests/fuzz/Program.h"

namespace tile::fuzz {

const std::vector<Operation> &operations() {
  static const std::vector<Operation> kAll = [] {
    std::vector<Operation> all;
    for (auto list : {elementwiseOperations(), shapeOperations(), reductionOperations(),
                      productOperations(), memoryOperations()})
      all.insert(all.end(), list.begin(), list.end());
    return all;
  }();
  return kAll;
}

/// More rounds than any generated loop has.
constexpr int kMostRounds = 100;

static std::shared_ptr<const Tile> scalar(int64_t value) {
  Tile tile({i32, {}});
  tile.elements[0].i = wrapped(i32, value);
  return std::make_shared<const Tile>(std::move(tile));
}

Machine::Machine(const Program &program, int id)
    : program(&program), id(id), values{{0, scalar(id)}, {1, scalar(program.argument)}} {}

void Machine::run(const std::vector<Statement> &statements) {
  for (const Statement &statement : statements)
    run(statement);
}

void Machine::run(const Statement &statement) {
  auto number = [&](size_t operand) {
    return values.at(statement.operands[operand])->elements[0].i;
  };
  switch (statement.kind) {
  case Statement::Apply: {
    std::vector<const Tile *> operands;
    for (int operand : statement.operands)
      operands.push_back(values.at(operand).get());
    values[statement.result] =
        std::make_shared<const Tile>(statement.operation->evaluate(statement, operands, *this));
    return;
  }
  case Statement::Declare:
    values[statement.result] = values.at(statement.operands[0]);
    return;
  case Statement::Assign:
    values[statement.operands[0]] = values.at(statement.operands[1]);
    return;
  case Statement::For: {
    int64_t hi = number(1), step = statement.attributes[0];
    for (int64_t i = number(0); step > 0 ? i < hi : i > hi; i += step) {
      values[statement.result] = scalar(i);
      run(statement.regions[0]);
    }
    return;
  }
  case Statement::If:
    run(statement.regions[number(0) ? 0 : 1]);
    return;
  case Statement::While:
    for (int round = 0; number(0) > 0; ++round) {
      if (round == kMostRounds)
        throw NotComparable("a loop without end");
      values[statement.operands[0]] = scalar(number(0) - 1);
      run(statement.regions[0]);
    }
    return;
  case Statement::Output:
    outputs[statement.attributes[0]] = values.at(statement.operands[0]);
    return;
  }
}

} // namespace tile::fuzz
