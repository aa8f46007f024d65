// Entries: what is read is what was written, or nothing.
#include "runtime/cache/Entry.h"
#include "runtime/cache/BuildId.h"

#include <gtest/gtest.h>

namespace tile::cache {
namespace {

Entry example() {
  Entry entry = {R"({"kernel":"example"})", R"({"threads":128})", {}, {}};
  for (int line = 0; line < 40; ++line)
    entry.ptx += "add.s32 %r" + std::to_string(line) + ", %r1, %r2;\n";
  for (int i = 0; i < 300; ++i)
    entry.cubin.push_back(static_cast<std::byte>(i * 7));
  return entry;
}

bool isExample(const std::optional<Entry> &entry) {
  Entry expected = example();
  return entry && entry->key == expected.key && entry->facts == expected.facts &&
         entry->ptx == expected.ptx && entry->cubin == expected.cubin;
}

TEST(CacheEntries, ComeBackAsTheyWere) {
  EXPECT_TRUE(isExample(decode(encode(example()))));
  std::optional<Entry> empty = decode(encode({}));
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->key.empty() && empty->ptx.empty() && empty->cubin.empty());
}

TEST(CacheEntries, OfAnyOtherLengthAreRefused) {
  std::vector<std::byte> whole = encode(example());
  for (size_t length = 0; length < whole.size(); ++length)
    ASSERT_FALSE(decode(std::span(whole).first(length))) << length << " of " << whole.size();
  whole.push_back({});
  EXPECT_FALSE(decode(whole));
}

TEST(CacheEntries, WithAnyBitFlippedAreRefused) {
  std::vector<std::byte> whole = encode(example());
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::byte flip{static_cast<unsigned char>(1 << bit % 8)};
    whole[bit / 8] ^= flip;
    std::string why;
    ASSERT_FALSE(decode(whole, &why)) << "bit " << bit;
    ASSERT_FALSE(why.empty());
    whole[bit / 8] ^= flip;
  }
  EXPECT_TRUE(isExample(decode(whole)));
}

// No length that a file claims is believed before the file has it.
TEST(CacheEntries, ClaimsOfHugePartsAreRefused) {
  std::vector<std::byte> whole = encode(example());
  for (size_t part = 0; part < 6; ++part) {
    std::vector<std::byte> huge = whole;
    for (size_t i = 0; i < 7; ++i)
      huge[16 + part * 8 + i] = std::byte{0xff};
    EXPECT_FALSE(decode(huge));
  }
}

TEST(CacheEntries, NamesFollowFromTheKey) {
  EXPECT_EQ(nameOf("a").size(), 64u);
  EXPECT_EQ(nameOf("a"), nameOf("a"));
  EXPECT_NE(nameOf("a"), nameOf("b"));
  // BLAKE3 of nothing, as its authors publish it.
  EXPECT_EQ(digestOf(""), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
}

TEST(BuildIds, AreThatOfTheProgram) {
  std::string id = buildId();
  EXPECT_GE(id.size(), 16u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), id.npos);
}

} // namespace
} // namespace tile::cache
