// Golden files: texts that are generated, committed and compared, so that a change of what the
// compiler makes is seen in review. `TILE_UPDATE_GOLDEN=1` rewrites them.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace tile::test {

/// The text without what differs between machines and versions: folders, source lines, the lines in
/// which LLVM names itself.
std::string normalised(const std::string &text);

/// Compares with tests/`path`, or rewrites it; the message shows the first line that differs.
::testing::AssertionResult matchesGolden(const std::string &text, const std::string &path);

} // namespace tile::test

#define EXPECT_GOLDEN(text, path) EXPECT_TRUE(::tile::test::matchesGolden(text, path))
