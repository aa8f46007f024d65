// Files are written whole or not at all.
#include "base/AtomicFile.h"

#include <tile/Error.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

using namespace tile;
namespace fs = std::filesystem;

namespace {

/// Each test has a folder of its own.
class AtomicFile : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tile-file-test-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string at(const std::string &name) const { return (folder / name).string(); }

  std::string contentOf(const std::string &name) const {
    std::ifstream file(at(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  size_t countFiles() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  /// The message of the error that writing must end with.
  std::string refusal(const std::string &path) const {
    try {
      base::writeFile(path, "x");
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::IoError);
      return error.message();
    }
    return "(it was written)";
  }

  fs::path folder;
};

TEST_F(AtomicFile, ReplacesWhatWasThere) {
  base::writeFile(at("a"), "one");
  base::writeFile(at("a"), std::string("t\0o", 3));
  EXPECT_EQ(contentOf("a"), std::string("t\0o", 3));
  base::writeFile(at("a"), "");
  EXPECT_EQ(contentOf("a"), "");
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(AtomicFile, HasTheRightsThatTheUserGivesToNewFiles) {
  mode_t before = ::umask(027);
  base::writeFile(at("a"), "x");
  ::umask(before);
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms(0640));
}

TEST_F(AtomicFile, WritesThroughLinks) {
  base::writeFile(at("target"), "one");
  fs::create_symlink("target", at("link"));
  base::writeFile(at("link"), "two");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(contentOf("target"), "two");
}

TEST_F(AtomicFile, WritesIntoDevices) {
  base::writeFile("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(refusal("/dev/full"),
            "cannot write '/dev/full': " + std::string(std::strerror(ENOSPC)));
}

TEST_F(AtomicFile, RefusalsNameThePathAndLeaveNothingBehind) {
  base::writeFile(at("a"), "x");
  for (std::string name : {"a/below", "none/below"})
    EXPECT_TRUE(refusal(at(name)).starts_with("cannot write '" + at(name) + "': ")) << name;
  EXPECT_EQ(refusal(folder.string()),
            "cannot write '" + folder.string() + "': " + std::strerror(EISDIR));
  // A name as long as names may be leaves none for the file that is written first.
  refusal(at(std::string(255, 'n')));
  EXPECT_EQ(countFiles(), 1u);
  EXPECT_EQ(contentOf("a"), "x");
}

TEST_F(AtomicFile, TellsBeforehandWhatCannotBeWritten) {
  base::checkWritable(at("a"));
  base::writeFile(at("a"), "x");
  base::checkWritable(at("a"));
  for (std::string path : {at("a/below"), at("none/below"), folder.string()})
    EXPECT_THROW(base::checkWritable(path), Error) << path;
  EXPECT_EQ(countFiles(), 1u);
}

} // namespace
