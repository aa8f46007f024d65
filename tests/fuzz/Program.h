// Random programs of the language: statements over numbered values, from which the generator, the
// host's evaluator, the tracer and the printer all work.
#pragma once

#include "tests/fuzz/Tiles.h"

#include <tile/tile.h>

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace tile::fuzz {

struct Operation;

/// Attributes of a loop: its step, stages (0: none said), and whether it is rotated, and has a warp of its own to load.
enum ForAttributes : uint8_t { kStep, kStages, kRotated, kSpecialized };

/// A step of a program. Operands and results are numbers of values; a variable is a value that
/// Assign changes.
struct Statement {
  enum Kind : uint8_t {
    Apply,   ///< result = operation(operands)
    Declare, ///< result = var(operands[0])
    Assign,  ///< operands[0] = operands[1]
    For,     ///< result is the index; operands are lo and hi; attributes are ForAttributes
    If,      ///< operands[0] decides between regions 0 and 1
    While,   ///< repeats region 0 while the variable operands[0], counted down here, is positive
    Output   ///< operands[0] is stored to output attributes[0]
  } kind = Apply;
  const Operation *operation = nullptr;
  int result = -1;
  Type type = {}; ///< of the result
  std::vector<int> operands = {};
  std::vector<int64_t> attributes = {};
  std::vector<std::vector<Statement>> regions = {};
};

/// A tensor argument: what it holds is made from the program's seed.
struct TensorSpec {
  DType dtype = i32;
  std::vector<int64_t> extents;
  std::vector<Number> values;
};

constexpr int kInputs = 3, kOutputs = 4;
/// Elements of the InOut tensor that each program owns, and of the one that all share.
constexpr int64_t kScratch = 256, kCounters = 64;

struct Program {
  uint64_t seed = 0;
  int programs = 1;     ///< how many the launch has
  int64_t argument = 0; ///< of the scalar parameter
  TensorSpec inputs[kInputs];
  Type outputs[kOutputs]; ///< of one program's stores; each output is that, once a program
  std::vector<Statement> statements;
  int values = 0; ///< numbers given out

  std::string str() const;
};

/// Computes on the host what one program of a launch computes.
struct Machine {
  /// At the start: value 0 is the program's place in the launch, value 1 the scalar argument.
  Machine(const Program &program, int id);

  const Program *program;
  int id; ///< its place in the launch
  std::map<int, std::shared_ptr<const Tile>> values;
  std::vector<int32_t> scratch = std::vector<int32_t>(kScratch);
  std::vector<int32_t> counters = std::vector<int32_t>(kCounters); ///< its share of the additions
  std::shared_ptr<const Tile> outputs[kOutputs];

  /// Throws NotComparable.
  void run(const Statement &statement);
  void run(const std::vector<Statement> &statements);
};

/// The kernel's parameters while it is traced.
struct Parameters {
  In<any, 2> inputs[kInputs];
  InOut<i32, 1> scratch, counters;
  Out<any, 2> outputs[kOutputs];
  Value argument, id;
};

/// The state on which a choice of the generator depends.
struct Choice {
  std::mt19937_64 &random;
  const Program &program;
  std::vector<std::pair<int, Type>> visible;

  int64_t below(int64_t count) { return static_cast<int64_t>(random() % uint64_t(count)); }
  bool oneIn(int64_t count) { return below(count) == 0; }
  template <class T> T oneOf(std::initializer_list<T> list) {
    return list.begin()[below(int64_t(list.size()))];
  }
  /// A visible value that fits, tiles and later ones with preference; null if there is none.
  const std::pair<int, Type> *pick(const std::function<bool(const Type &)> &fits);
};

/// One operation of the language, four ways.
struct Operation {
  std::string name;
  int weight;
  /// Operands, attributes and type of a use; nothing if no visible value fits.
  std::function<std::optional<Statement>(Choice &)> propose;
  std::function<Tile(const Statement &, const std::vector<const Tile *> &, Machine &)> evaluate;
  std::function<Value(const Statement &, const std::vector<Value> &, Parameters &)> trace;
};

/// All operations. By topic, each list lives in the file of its name.
const std::vector<Operation> &operations();
std::vector<Operation> elementwiseOperations(), shapeOperations(), reductionOperations(),
    productOperations(), memoryOperations();

/// Tiles stay small, so that a program takes milliseconds.
constexpr int64_t kMostElements = 2048;

/// A program that is comparable and has results in both outputs.
Program generate(uint64_t seed);
/// Calls the language for each statement; the body of a kernel.
void trace(const Program &program, Parameters &parameters);
/// A smaller program for which `fails` still holds.
Program shrink(Program program, const std::function<bool(const Program &)> &fails);

} // namespace tile::fuzz
