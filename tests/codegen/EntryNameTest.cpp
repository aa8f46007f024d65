// A kernel may have any name; its entry point has one that PTX accepts.
#include "codegen/EntryName.h"

#include <gtest/gtest.h>

#include <set>

using tile::codegen::entryNameOf;

TEST(EntryName, IdentifiersStay) {
  for (const char *name : {"matmul", "_x1", "main", "printf", "add"})
    EXPECT_EQ(entryNameOf(name), name);
}

TEST(EntryName, OtherBytesBecomeHex) {
  EXPECT_EQ(entryNameOf("a b"), "a$20b");
  EXPECT_EQ(entryNameOf("\xc3\xa4"), "$c3$a4");
  EXPECT_EQ(entryNameOf("1st"), "$1st");
  EXPECT_EQ(entryNameOf(""), "$");
}

TEST(EntryName, ReservedNamesAreSetApart) {
  EXPECT_EQ(entryNameOf("WARP_SZ"), "WARP_SZ$");
  EXPECT_EQ(entryNameOf("tile_shared"), "tile_shared$");
}

TEST(EntryName, LongNamesKeepTheirDifference) {
  std::string longName(10000, 'x');
  std::string first = entryNameOf(longName + "1"), second = entryNameOf(longName + "2");
  EXPECT_LT(first.size(), 200u);
  EXPECT_NE(first, second);
}

TEST(EntryName, DifferentNamesDiffer) {
  std::set<std::string> names;
  const char *all[] = {"a", "a$", "a b", "a$20b", "a.b",     "a-b",
                       "$", "",   "1",   "$1",    "WARP_SZ", "WARP_SZ$"};
  for (const char *name : all)
    names.insert(entryNameOf(name));
  EXPECT_EQ(names.size(), std::size(all));
}
