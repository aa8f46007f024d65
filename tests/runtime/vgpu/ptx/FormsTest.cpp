// The rules of forms by themselves; what they say of each opcode GeneratedFormsTest compares with the assembler.
#include "runtime/vgpu/ptx/Forms.h"
#include "runtime/vgpu/ptx/Requirements.h"

#include <gtest/gtest.h>

#include <vector>

namespace tile::vgpu {
namespace {

using Modifiers = std::vector<std::string_view>;

TEST(Forms, RulesNameWhatIsMissingOrTooMuch) {
  std::initializer_list<FormRule> rules = {{.where = "relaxed", .needs = "cta gpu"},
                                           {.where = "L2::*", .never = "local"}};
  EXPECT_EQ(brokenRule(rules, "ld", Modifiers{"relaxed", "gpu"}), std::nullopt);
  EXPECT_EQ(brokenRule(rules, "ld", Modifiers{"relaxed"}), ".relaxed needs one of .cta, .gpu");
  EXPECT_EQ(brokenRule(rules, "ld", Modifiers{"local", "L2::64B"}),
            ".L2::64B does not go with .local");
}

TEST(Forms, RulesOfOneOpcodeOrOfItsFirstModifier) {
  std::initializer_list<FormRule> rules = {{.never = "acquire", .of = "red"},
                                           {.never = "tx", .of = "mbarrier.init mbarrier.inval"}};
  EXPECT_EQ(brokenRule(rules, "atom", Modifiers{"acquire"}), std::nullopt);
  EXPECT_EQ(brokenRule(rules, "red", Modifiers{"acquire"}), "red does not go with .acquire");
  EXPECT_EQ(brokenRule(rules, "mbarrier", Modifiers{"arrive", "tx"}), std::nullopt);
  EXPECT_EQ(brokenRule(rules, "mbarrier", Modifiers{"inval", "tx"}),
            "mbarrier does not go with .tx");
}

TEST(Forms, OrdersHaveStagesAndOneModifierOfEachList) {
  std::initializer_list<FormOrder> orders = {{"sync | aligned > u32 s32 | ftz"}};
  EXPECT_EQ(brokenOrder(orders, "x", Modifiers{"aligned", "sync", "ftz", "u32"}), std::nullopt);
  EXPECT_EQ(brokenOrder(orders, "x", Modifiers{"u32", "sync"}),
            ".sync does not stand here, or not beside those before it");
  EXPECT_EQ(brokenOrder(orders, "x", Modifiers{"u32", "s32"}),
            ".s32 does not stand here, or not beside those before it");
  EXPECT_EQ(brokenOrder(orders, "x", Modifiers{"u32", "unknown", "ftz"}), std::nullopt);
}

TEST(Forms, RequirementsWantAllTheirModifiersInOrder) {
  std::initializer_list<Requirement> requirements = {
      {"", 80, 70}, {"arrive.relaxed", 90, 86}, {"sp", 90, 82, true}};
  EXPECT_EQ(missingFor(requirements, Modifiers{"relaxed", "arrive"}, "sm_80", 70), std::nullopt);
  EXPECT_EQ(missingFor(requirements, Modifiers{}, "sm_75", 70),
            "it needs .target sm_80 or newer, the file has sm_75");
  EXPECT_EQ(missingFor(requirements, Modifiers{"arrive", "cta", "relaxed"}, "sm_90", 80),
            "it needs .version 8.6 or later, the file has 8.0");
  EXPECT_EQ(missingFor(requirements, Modifiers{"sp"}, "sm_90", 82),
            "it needs .target sm_90a, the file has sm_90");
}

} // namespace
} // namespace tile::vgpu
