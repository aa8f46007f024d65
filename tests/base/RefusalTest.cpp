#include "base/Refusal.h"

#include <gtest/gtest.h>

namespace tile {
namespace {

Refusal whyNotEven(int number) {
  if (number % 2)
    return std::to_string(number) + " is odd";
  return {};
}

std::optional<int> half(int number, Refusal *why = nullptr) {
  if (Refusal odd = whyNotEven(number))
    return refuse(why, std::move(odd));
  return number / 2;
}

TEST(Refusal, IsFalseWhereNothingIsRefused) {
  EXPECT_FALSE(whyNotEven(4));
  EXPECT_TRUE(whyNotEven(5));
  EXPECT_EQ(*whyNotEven(5), "5 is odd");
}

TEST(Refusal, OfAValueGoesToWhoeverWantsIt) {
  Refusal why;
  EXPECT_EQ(half(4, &why), 2);
  EXPECT_FALSE(why);
  EXPECT_EQ(half(5, &why), std::nullopt);
  EXPECT_EQ(*why, "5 is odd");
  EXPECT_EQ(half(5), std::nullopt);
}

} // namespace
} // namespace tile
