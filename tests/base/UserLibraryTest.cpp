// What the code of a user's library throws while it is loaded is that library's error.
#include "base/UserLibrary.h"

#include <tile/Error.h>

#include <gtest/gtest.h>

using namespace tile;

namespace {

std::string refusalOf(const std::string &path) {
  try {
    base::loadUserLibrary(path, "mine.so");
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::LinkError);
    EXPECT_EQ(error.fault(), Fault::User);
    return error.message();
  }
  return "";
}

TEST(UserLibraries, WhatStaticVariablesThrowIsTheError) {
  EXPECT_EQ(refusalOf(TILE_TEST_THROWING),
            "cannot load 'mine.so': a static variable of it throws: no such thing");
}

TEST(UserLibraries, TheLoadersWordsAreTheReason) {
  EXPECT_NE(refusalOf("/no/such/library.so").find("cannot load 'mine.so': /no/such/library.so: "),
            std::string::npos);
}

} // namespace
