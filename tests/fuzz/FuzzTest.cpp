// Two hundred random programs, each compiled for two numbers of warps: every element of what they
// leave in memory equals the host's.
#include "tests/fuzz/Run.h"

#include <gtest/gtest.h>

using namespace tile;
using namespace tile::fuzz;

namespace {

constexpr uint64_t kPrograms = 200;

TEST(Fuzz, RandomProgramsEqualTheHost) {
  Device device = Device::open("virtual");
  int compared = 0;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    Program program = generate(seed);
    for (int warps : {1 << seed % 2, 4 << seed % 2}) {
      Outcome outcome = runOn(device, program, warps);
      EXPECT_NE(outcome.verdict, Verdict::Wrong)
          << outcome.words << "\nwith " << warps << " warps of " << program.str();
      compared += outcome.verdict == Verdict::Equal;
    }
  }
  EXPECT_GT(compared, int(kPrograms)) << "too many programs are refused";
}

/// The oracle notices: a program whose expected value is changed is reported.
TEST(Fuzz, AWrongResultIsNoticed) {
  Device device = Device::open("virtual");
  Program program = generate(1);
  ASSERT_EQ(runOn(device, program, 4).verdict, Verdict::Equal);
  auto isSum = [](const Statement &statement) { return statement.kind == Statement::Output; };
  ASSERT_TRUE(std::any_of(program.statements.begin(), program.statements.end(), isSum));
  static const Operation kLying = [] {
    Operation lying = operations().front();
    lying.evaluate = [](const Statement &, const std::vector<const Tile *> &x, Machine &) {
      Tile wrong = *x[0];
      for (Number &number : wrong.elements)
        number.i ^= 1;
      return wrong;
    };
    lying.trace = [](const Statement &, const std::vector<Value> &v, Parameters &) { return v[0]; };
    return lying;
  }();
  for (Statement &statement : program.statements)
    if (isSum(statement)) {
      Statement lie{.operation = &kLying,
                    .result = program.values++,
                    .type = program.outputs[statement.attributes[0]],
                    .operands = statement.operands};
      statement.operands = {lie.result};
      program.statements.insert(
          program.statements.begin() + (&statement - program.statements.data()), lie);
      break;
    }
  EXPECT_EQ(runOn(device, program, 4).verdict, Verdict::Wrong);
}

} // namespace
