// Errors of ops: the call must throw the code, and say these words.
#pragma once

#include <tile/Error.h>

#include <gtest/gtest.h>

#include <string>

namespace tile::test {

template <class Call> void expectRefused(ErrorCode code, const std::string &words, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected: " << words;
  } catch (const Error &error) {
    EXPECT_EQ(nameOf(error.code()), std::string(nameOf(code)));
    EXPECT_EQ(error.fault(), Fault::User);
    EXPECT_NE(error.message().find(words), std::string::npos) << error.what();
    EXPECT_NE(error.file().find("Test.cpp"), std::string::npos) << "not at the caller's line";
  }
}

} // namespace tile::test
