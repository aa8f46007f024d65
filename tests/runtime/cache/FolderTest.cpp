// The folder: whom it trusts, what it keeps, what it leaves alone.
#include "runtime/cache/Folder.h"
#include "runtime/cache/Entry.h"
#include "tests/runtime/cache/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tile::cache {
namespace {

using test::TemporaryFolder;

std::vector<std::byte> bytesOf(size_t count, int value = 1) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

std::string nameOf(int number) { return cache::nameOf(std::to_string(number)); }

class CacheFolder : public testing::Test {
protected:
  FolderOptions options(int64_t mostBytes = int64_t(1) << 30) {
    FolderOptions options;
    options.path = temporary.file("kernels");
    options.mostBytes = mostBytes;
    return options;
  }
  std::string pathOf(const std::string &name) {
    return temporary.file("kernels/" + name.substr(0, 2) + "/" + name.substr(2) + ".tile");
  }
  static void setAge(const std::string &path, int64_t seconds) {
    timespec at = {std::time(nullptr) - seconds, 0}, times[] = {at, at};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0) << path;
  }
  static int64_t ageOf(const std::string &path) {
    struct stat facts;
    return ::stat(path.c_str(), &facts) ? -1 : std::time(nullptr) - facts.st_mtim.tv_sec;
  }
  TemporaryFolder temporary;
};

TEST_F(CacheFolder, KeepsWhatIsWritten) {
  Folder folder(options());
  ASSERT_EQ(folder.refusal(), "");
  EXPECT_FALSE(folder.read(nameOf(1)));
  folder.write(nameOf(1), bytesOf(100)), folder.write(nameOf(2), bytesOf(0));
  EXPECT_EQ(folder.read(nameOf(1)), bytesOf(100));
  EXPECT_EQ(folder.read(nameOf(2)), bytesOf(0));
  folder.write(nameOf(1), bytesOf(50, 2));
  EXPECT_EQ(Folder(options()).read(nameOf(1)), bytesOf(50, 2));
  EXPECT_EQ(folder.files().size(), 2u);
  struct stat facts;
  ASSERT_EQ(::stat(pathOf(nameOf(1)).c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(folder.path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

TEST_F(CacheFolder, TakesNoOtherNames) {
  Folder folder(options());
  for (const char *name : {"", "short", "../../../../../../../../etc/passwd",
                           "../aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    folder.write(name, bytesOf(1));
    EXPECT_FALSE(folder.read(name));
  }
  EXPECT_TRUE(folder.files().empty());
}

TEST_F(CacheFolder, WhatWasSetAsideIsNotReadAgain) {
  testing::internal::CaptureStderr();
  Folder folder(options());
  folder.write(nameOf(1), bytesOf(10));
  folder.setAside(nameOf(1), "it is not what was written");
  EXPECT_FALSE(folder.read(nameOf(1)));
  EXPECT_TRUE(folder.files().empty());
  folder.write(nameOf(1), bytesOf(11));
  EXPECT_EQ(folder.read(nameOf(1)), bytesOf(11));
  folder.setAside(nameOf(1), "again");
  std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("it is not what was written; kernels are compiled anew\n"), told.npos)
      << told;
  EXPECT_EQ(told.find("again"), told.npos) << "one warning is enough";
}

// --- Whom it trusts ------------------------------------------------------------------------------

TEST_F(CacheFolder, RefusesAFolderThatOthersMayWriteTo) {
  FolderOptions shared = options();
  ASSERT_EQ(::mkdir(shared.path.c_str(), 0700), 0);
  for (mode_t mode : {0770, 0707, 0777}) {
    ASSERT_EQ(::chmod(shared.path.c_str(), mode), 0);
    Folder folder(shared);
    EXPECT_EQ(folder.refusal(), "others may write to it");
    folder.write(nameOf(1), bytesOf(1));
    EXPECT_FALSE(folder.read(nameOf(1)));
  }
  shared.trustsAll = true;
  Folder trusting(shared);
  EXPECT_EQ(trusting.refusal(), "");
  trusting.write(nameOf(1), bytesOf(1));
  EXPECT_TRUE(trusting.read(nameOf(1)));
  ASSERT_EQ(::chmod(shared.path.c_str(), 0755), 0);
  EXPECT_EQ(Folder(options()).refusal(), "") << "others may read";
}

TEST_F(CacheFolder, RefusesAFolderOfAnotherUser) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder away";
  FolderOptions foreign = options();
  ASSERT_EQ(::mkdir(foreign.path.c_str(), 0700), 0);
  ASSERT_EQ(::chown(foreign.path.c_str(), 12345, 12345), 0);
  EXPECT_EQ(Folder(foreign).refusal(), "it belongs to another user");
}

TEST_F(CacheFolder, RefusesWhatIsNoFolder) {
  std::ofstream(options().path) << "a file";
  EXPECT_EQ(Folder(options()).refusal(), "it is no folder");
  FolderOptions nowhere = options();
  nowhere.path = options().path + "/below/a/file";
  EXPECT_NE(Folder(nowhere).refusal(), "");
}

// A link that somebody has put in the place of a file leads nowhere.
TEST_F(CacheFolder, FollowsNoLinks) {
  Folder folder(options());
  folder.write(nameOf(1), bytesOf(10));
  ASSERT_EQ(::rename(pathOf(nameOf(1)).c_str(), temporary.file("elsewhere").c_str()), 0);
  ASSERT_EQ(::symlink(temporary.file("elsewhere").c_str(), pathOf(nameOf(1)).c_str()), 0);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(folder.read(nameOf(1)));
  testing::internal::GetCapturedStderr();
  folder.write(nameOf(1), bytesOf(5));
  EXPECT_EQ(folder.read(nameOf(1)), bytesOf(5));
  EXPECT_EQ(std::filesystem::file_size(temporary.file("elsewhere")), 10u);
}

TEST_F(CacheFolder, ReadsOnlyWhereItShall) {
  Folder(options()).write(nameOf(1), bytesOf(10));
  setAge(pathOf(nameOf(1)), 100000);
  FolderOptions reading = options();
  reading.isReadOnly = true;
  Folder folder(reading);
  EXPECT_TRUE(folder.read(nameOf(1)));
  EXPECT_GT(ageOf(pathOf(nameOf(1))), 90000) << "nor is a time changed";
  folder.write(nameOf(2), bytesOf(10));
  EXPECT_FALSE(folder.read(nameOf(2)));
}

// --- What does not fit ---------------------------------------------------------------------------

TEST_F(CacheFolder, AFullDiskIsToldOnceAndReadFrom) {
  Folder folder(options());
  folder.write(nameOf(1), bytesOf(10));
  rlimit before, small;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before, small.rlim_cur = 1000;
  auto *handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  testing::internal::CaptureStderr();
  folder.write(nameOf(2), bytesOf(5000)), folder.write(nameOf(3), bytesOf(5000));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
  folder.write(nameOf(4), bytesOf(10)); // it does not try again
  EXPECT_EQ(folder.files().size(), 1u);
  EXPECT_TRUE(folder.read(nameOf(1)));
  size_t drafts = 0;
  for (const auto &item : std::filesystem::recursive_directory_iterator(folder.path()))
    drafts += item.path().filename().string().starts_with(".draft-");
  EXPECT_EQ(drafts, 0u);
}

TEST_F(CacheFolder, ThoseUsedLongestAgoGo) {
  constexpr int kFiles = 20;
  Folder folder(options(10000));
  for (int i = 0; i < kFiles; ++i) {
    folder.write(nameOf(i), bytesOf(100));
    setAge(pathOf(nameOf(i)), 10 * i);
  }
  EXPECT_EQ(folder.prune(1000), 1000);
  for (int i = 0; i < kFiles; ++i)
    EXPECT_EQ(folder.read(nameOf(i)).has_value(), i < 10) << i;
}

TEST_F(CacheFolder, ReadingCountsAsUse) {
  Folder folder(options());
  folder.write(nameOf(1), bytesOf(10));
  setAge(pathOf(nameOf(1)), 100000);
  EXPECT_TRUE(folder.read(nameOf(1)));
  EXPECT_LT(ageOf(pathOf(nameOf(1))), 1000);
  setAge(pathOf(nameOf(1)), -100000); // the clock was set back since
  EXPECT_TRUE(folder.read(nameOf(1)));
  EXPECT_LT(std::abs(ageOf(pathOf(nameOf(1)))), 1000);
}

TEST_F(CacheFolder, StaysWithinItsRoom) {
  constexpr int64_t kMost = 100000, kEach = 1000;
  Folder folder(options(kMost));
  for (int i = 0; i < 250; ++i) {
    folder.write(nameOf(i), bytesOf(kEach));
    int64_t bytes = 0;
    for (const FileFacts &file : folder.files())
      bytes += file.bytes;
    ASSERT_LE(bytes, kMost + kMost / 4) << "after " << i;
  }
  EXPECT_TRUE(folder.read(nameOf(249)));
}

TEST_F(CacheFolder, LeavesOthersFilesAlone) {
  Folder folder(options());
  folder.write(nameOf(1), bytesOf(100));
  std::string beside = pathOf(nameOf(1)).substr(0, pathOf(nameOf(1)).rfind('/')) + "/notes.txt";
  std::ofstream(beside) << "mine";
  std::ofstream(folder.path() + "/also mine") << "mine";
  setAge(beside, 1000000), setAge(folder.path() + "/also mine", 1000000);
  EXPECT_EQ(folder.prune(0), 100);
  EXPECT_TRUE(folder.files().empty());
  EXPECT_TRUE(std::filesystem::exists(beside));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/also mine"));
}

TEST_F(CacheFolder, DraftsThatWereLeftBehindGo) {
  Folder folder(options());
  folder.write(nameOf(1), bytesOf(100));
  std::string inside = pathOf(nameOf(1)).substr(0, pathOf(nameOf(1)).rfind('/'));
  std::ofstream(inside + "/.draft-old") << "half", std::ofstream(inside + "/.draft-new") << "half";
  setAge(inside + "/.draft-old", 100000);
  folder.prune(1000000);
  EXPECT_FALSE(std::filesystem::exists(inside + "/.draft-old"));
  EXPECT_TRUE(std::filesystem::exists(inside + "/.draft-new")) << "somebody may be writing it";
}

} // namespace
} // namespace tile::cache
