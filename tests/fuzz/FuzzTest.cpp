// Two hundred random programs, each compiled for two numbers of warps, once as sm_80 and once as sm_90a: every element of
// what they leave in memory equals the host's. Where passes are left out, which makes code that takes eight times as long, each
// is compiled for one of the two.
#include "tests/fuzz/Run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

using namespace tile;
using namespace tile::fuzz;

namespace {

constexpr uint64_t kPrograms = 200;

/// Generated once for all tests, since each statement that is tried is run on the host.
const Program &programOf(uint64_t seed) {
  static std::map<uint64_t, Program> programs;
  auto [place, isNew] = programs.try_emplace(seed);
  if (isNew)
    place->second = generate(seed);
  return place->second;
}

TEST(Fuzz, RandomProgramsEqualTheHost) {
  const Device targets[] = {Device::open("virtual:sm_80"), Device::open("virtual:sm_90a")};
  const bool lacksPasses = std::getenv("TILE_DISABLE_PASSES") != nullptr;
  int compared = 0;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    const Program &program = programOf(seed);
    uint64_t target = seed / 2; // each number of warps meets both
    for (int warps : {1 << seed % 2, 4 << seed % 2}) {
      const Device &device = targets[target++ % 2];
      if (lacksPasses && (warps >= 4) != (seed / 4 % 2 == 1))
        continue;
      Outcome outcome = runOn(device, program, warps);
      EXPECT_NE(outcome.verdict, Verdict::Wrong)
          << outcome.words << "\nwith " << warps << " warps as " << device.target() << " of "
          << program.str();
      compared += outcome.verdict == Verdict::Equal;
    }
  }
  EXPECT_GT(compared, int(lacksPasses ? kPrograms / 2 : kPrograms))
      << "too many programs are refused";
}

// Each without another choice of passes.
TEST(Fuzz, ProgramsWithoutSomePassesEqualTheHost) {
  Device device = Device::open("virtual:sm_80");
  for (uint64_t seed = 0; seed < kPrograms; seed += 4) {
    const Program &program = programOf(seed);
    passes::PassSelection selection = somePassesLeftOut(seed);
    std::string without;
    for (const std::string &pass : selection.disabled)
      without += " " + pass;
    Outcome outcome = runOn(device, program, 4, selection);
    EXPECT_NE(outcome.verdict, Verdict::Wrong)
        << outcome.words << "\nwithout" << without << " of " << program.str();
  }
}

bool hasStagedLoop(const std::vector<Statement> &statements) {
  return std::any_of(statements.begin(), statements.end(), [](const Statement &statement) {
    return (statement.kind == Statement::For && statement.attributes[kStages] > 1) ||
           std::any_of(statement.regions.begin(), statement.regions.end(), hasStagedLoop);
  });
}

TEST(Fuzz, ManyProgramsHaveStagedLoops) {
  int staged = 0;
  for (uint64_t seed = 0; seed < kPrograms; ++seed)
    staged += hasStagedLoop(programOf(seed).statements);
  EXPECT_GT(staged, int(kPrograms / 3));
}

/// An operation that returns its operand, but with one bit changed on the host: the comparison must notice.
Operation lie() {
  Operation operation;
  operation.name = "lie";
  operation.evaluate = [](const Statement &, const std::vector<const Tile *> &x, Machine &) {
    Tile wrong = *x[0];
    wrong.elements.back().i ^= 1;
    return wrong;
  };
  operation.trace = [](const Statement &, const std::vector<Value> &v, Parameters &) {
    return v[0];
  };
  return operation;
}

TEST(Fuzz, OneWrongBitOfOneElementIsNoticed) {
  static const Operation kLie = lie();
  Device device = Device::open("virtual");
  Program program = generate(1);
  ASSERT_EQ(runOn(device, program, 4).verdict, Verdict::Equal);
  auto store =
      std::find_if(program.statements.begin(), program.statements.end(),
                   [](const Statement &statement) { return statement.kind == Statement::Output; });
  ASSERT_NE(store, program.statements.end());
  Statement changed{.operation = &kLie,
                    .result = program.values++,
                    .type = program.outputs[store->attributes[0]],
                    .operands = store->operands};
  store->operands = {changed.result};
  program.statements.insert(store, changed);
  EXPECT_EQ(runOn(device, program, 4).verdict, Verdict::Wrong);
}

} // namespace
