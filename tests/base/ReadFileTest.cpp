// Files are read whole, or refused with the reason.
#include "base/ReadFile.h"

#include <tile/Error.h>

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

using namespace tile;

namespace {

std::string refusalOf(const std::string &path) {
  try {
    base::readFile(path);
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::IoError);
    return error.message();
  }
  return "";
}

TEST(ReadFile, YieldsEveryByte) {
  std::string path = ::testing::TempDir() + "tile-read-file-test", content;
  for (int i = 0; i < 200'000; ++i)
    content += static_cast<char>(i % 251);
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_EQ(base::readFile(path), content);
  std::ofstream(path, std::ios::binary | std::ios::trunc).flush();
  EXPECT_EQ(base::readFile(path), "");
  std::remove(path.c_str());
}

TEST(ReadFile, SaysWhyItCannot) {
  EXPECT_EQ(refusalOf("/no/such/file"), "cannot read '/no/such/file': No such file or directory");
  EXPECT_EQ(refusalOf("/proc/self"), "cannot read '/proc/self': Is a directory");
}

} // namespace
