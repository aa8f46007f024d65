// What .target and .version instructions need, and what no instruction of PTX is: requirements.txt and refused.txt against
// the virtual GPU and, where it is installed, against ptxas.
#include "tests/runtime/vgpu/ptx/Assembler.h"

#include <algorithm>
#include <map>

namespace tile::vgpu {
namespace {

// Those that exist, from ptxas's least on.
constexpr std::pair<const char *, int> kTargets[] = {{"sm_75", 63}, {"sm_80", 70}, {"sm_86", 71},
                                                     {"sm_89", 78}, {"sm_90", 78}, {"sm_90a", 80}};
constexpr int kVersions[] = {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77,
                             78, 80, 81, 82, 83, 84, 85, 86, 87, 88};

// The next lower target for the same version, and the next lower version for the same target, if they exist.
std::vector<Level> levelsBelow(const Level &level) {
  std::vector<Level> below;
  auto target = std::ranges::find(kTargets, level.target, [](auto &row) { return row.first; });
  for (auto lower = target; lower != std::begin(kTargets);)
    if ((--lower)->second <= level.version) {
      below.push_back({lower->first, level.version});
      break;
    }
  for (const int *lower = std::ranges::find(kVersions, level.version); lower != kVersions;)
    if (*--lower >= target->second) {
      below.push_back({level.target, *lower});
      break;
    }
  return below;
}

TEST(Requirements, InstructionsRunForTheTargetAndVersionThatBroughtThem) {
  std::vector<Case> cases = readCases();
  ASSERT_GT(cases.size(), 300u);
  for (const Case &each : cases)
    EXPECT_EQ(objection(each.least, each.instruction), "") << each.instruction;
}

TEST(Requirements, InstructionsAreRefusedForLess) {
  for (const Case &each : readCases())
    for (const Level &level : levelsBelow(each.least)) {
      std::string message = objection(level, each.instruction);
      bool isOlder = level.target == each.least.target;
      std::string needs = isOlder ? "it needs .version " + versionText(each.least.version)
                                  : "it needs .target " + each.least.target;
      std::string has = ", the file has " + (isOlder ? versionText(level.version) : level.target);
      EXPECT_TRUE(message.find(needs) != std::string::npos && message.ends_with(has))
          << each.instruction << " for " << level.target << " " << level.version << ": '" << message
          << "'";
    }
}

TEST(Requirements, ATargetNeedsTheVersionThatKnowsIt) {
  auto device = device::openVirtual({.target = "sm_90a"});
  for (auto [target, version] : kTargets)
    for (int given : kVersions) {
      std::string ptx = kernelOf({target, given}, {});
      if (given >= version) {
        EXPECT_NO_THROW(device->loadModule(ptx)) << target << " " << given;
        continue;
      }
      try {
        device->loadModule(ptx);
        ADD_FAILURE() << target << " " << given;
      } catch (const Error &error) {
        EXPECT_EQ(error.message(), ".target " + std::string(target) + " needs .version " +
                                       versionText(version) + " or later, the file has " +
                                       versionText(given));
      }
    }
}

std::vector<std::string> readRefused() {
  std::ifstream file(TILE_TEST_REFUSED);
  EXPECT_TRUE(file);
  std::vector<std::string> instructions;
  for (std::string line; std::getline(file, line);)
    instructions.push_back(line);
  return instructions;
}

TEST(Forms, WhatIsNoPtxIsRefused) {
  std::vector<std::string> refused = readRefused();
  ASSERT_GT(refused.size(), 70u);
  for (const std::string &instruction : refused) {
    std::string spelling = instruction.substr(0, instruction.find_first_of(" ;"));
    EXPECT_NE(objection(kHighest, instruction).find("'" + spelling + "'"), std::string::npos)
        << instruction;
  }
}

TEST(Forms, MessagesNameTheModifiers) {
  EXPECT_EQ(objection(kHighest, "ld.relaxed.global.u32 %r1, [%d0];"),
            "'ld.relaxed.global.u32': .relaxed needs one of .cta, .cluster, .gpu, .sys");
  EXPECT_EQ(objection(kHighest, "st.const.u32 [%d0], %r1;"),
            "'st.const.u32': st does not go with .const");
  EXPECT_EQ(objection(kHighest, "and.u32 %r1, %r2, %r3;"),
            "'and.u32': and needs one of .b16, .b32, .b64, .pred");
  EXPECT_EQ(objection(kHighest, "ld.nc.u32 %r1, [%d0];"), "'ld.nc.u32': .nc needs .global");
  EXPECT_EQ(objection(kHighest, "fence.async.proxy;"),
            "'fence.async.proxy': .proxy does not stand here, or not beside those before it");
  for (std::string mode : {"im2col", "tile::gather4"})
    EXPECT_NE(objection(kHighest, "cp.async.bulk.tensor.3d.shared::cluster.global." + mode +
                                      ".mbarrier::complete_tx::bytes [%r1], [%d0, {%r1,%r2,%r3}], "
                                      "[%r3], {%h1};")
                  .find("." + mode + " is not modelled"),
              std::string::npos);
}

// --- ptxas ---------------------------------------------------------------------------------------

// ptxas gives up after a hundred complaints.
constexpr size_t kAtOnce = 8;

TEST_F(Assembler, AgreesWithTheTable) {
  std::map<Level, std::vector<std::string>> groups;
  for (const Case &each : readCases())
    groups[each.least].push_back(each.instruction);
  for (const auto &[level, instructions] : groups) {
    for (size_t index : objections(level, instructions))
      ADD_FAILURE() << "ptxas refuses " << instructions.at(index) << " for " << level.target << " "
                    << level.version;
    for (const Level &below : levelsBelow(level))
      for (size_t begin = 0; begin < instructions.size(); begin += kAtOnce) {
        std::vector<std::string> part(
            instructions.begin() + static_cast<ptrdiff_t>(begin),
            instructions.begin() +
                static_cast<ptrdiff_t>(std::min(begin + kAtOnce, instructions.size())));
        std::set<size_t> refused = objections(below, part);
        for (size_t i = 0; i < part.size(); ++i)
          EXPECT_TRUE(refused.contains(i))
              << "ptxas takes " << part[i] << " for " << below.target << " " << below.version;
      }
  }
}

TEST_F(Assembler, RefusesTheSameForms) {
  std::vector<std::string> refused = readRefused();
  for (size_t begin = 0; begin < refused.size(); begin += kAtOnce) {
    size_t end = std::min(begin + kAtOnce, refused.size());
    std::vector<std::string> part(refused.begin() + static_cast<ptrdiff_t>(begin),
                                  refused.begin() + static_cast<ptrdiff_t>(end));
    std::set<size_t> objected = objections(kHighest, part);
    for (size_t i = 0; i < part.size(); ++i)
      EXPECT_TRUE(objected.contains(i)) << "ptxas takes " << part[i];
  }
}

} // namespace
} // namespace tile::vgpu
