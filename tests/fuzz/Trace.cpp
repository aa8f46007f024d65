// A program in the language: what the body of its kernel does.
#include "tests/fuzz/Program.h"

namespace tile::fuzz {
namespace {

/// Values and variables by their numbers. Handles are made in the scope where they are declared,
/// and never assigned.
class Tracer {
public:
  Tracer(Parameters &parameters) : parameters_(parameters) {
    values_.emplace(0, parameters.id);
    values_.emplace(1, parameters.argument);
  }

  void trace(const std::vector<Statement> &statements) {
    for (const Statement &statement : statements)
      trace(statement);
  }

private:
  Value value(int number) const {
    auto variable = variables_.find(number);
    return variable != variables_.end() ? variable->second.get() : values_.at(number);
  }

  void trace(const Statement &statement) {
    auto operand = [&](size_t i) { return value(statement.operands[i]); };
    switch (statement.kind) {
    case Statement::Apply: {
      std::vector<Value> operands;
      for (size_t i = 0; i < statement.operands.size(); ++i)
        operands.push_back(operand(i));
      values_.emplace(statement.result,
                      statement.operation->trace(statement, operands, parameters_));
      return;
    }
    case Statement::Declare:
      variables_.emplace(statement.result, var(operand(0)));
      return;
    case Statement::Assign:
      variables_.at(statement.operands[0]) = operand(1);
      return;
    case Statement::For: {
      Range plain = range(operand(0), operand(1), int(statement.attributes[kStep]));
      int stages = int(statement.attributes[kStages]);
      Range loop = stages ? plain.stages(stages) : plain;
      Range turned = statement.attributes[kRotated] ? loop.overlap_dots() : loop;
      for (Value i : statement.attributes[kSpecialized] ? turned.warp_specialize() : turned) {
        values_.emplace(statement.result, i);
        trace(statement.regions[0]);
      }
      return;
    }
    case Statement::If:
      if_(operand(0), [&] { trace(statement.regions[0]); }).else_([&] {
        trace(statement.regions[1]);
      });
      return;
    case Statement::While: {
      Var &counter = variables_.at(statement.operands[0]);
      while_([&] { return counter > 0; },
             [&] {
               counter = counter - 1;
               trace(statement.regions[0]);
             });
      return;
    }
    case Statement::Output:
      storeOutput(int(statement.attributes[0]), operand(0));
      return;
    }
  }

  /// Matrices through the view, a tile a program; other ranks through pointers.
  void storeOutput(int output, const Value &x) {
    auto &view = parameters_.outputs[output];
    Shape shape = x.shape();
    if (shape.rank() == 2) {
      view.tile(shape)(parameters_.id, 0) = x;
      return;
    }
    Value at = parameters_.id * int(shape.elements());
    int64_t stride = shape.elements();
    for (int dim = 0; dim < shape.rank(); ++dim) {
      stride /= shape[dim];
      Value along = index(dim, shape) * int(stride);
      at = dim == 0 ? along + parameters_.id * int(shape.elements()) : at + along;
    }
    store(view.ptr() + at, x);
  }

  Parameters &parameters_;
  std::map<int, Value> values_;
  std::map<int, Var> variables_;
};

} // namespace

void trace(const Program &program, Parameters &parameters) {
  Tracer(parameters).trace(program.statements);
}

} // namespace tile::fuzz
