// Tables that come with the library: where they are found, and that those of the sources were timed on GPUs.
#include "runtime/tune/ShippedTables.h"
#include "runtime/tune/Trial.h"
#include "tests/runtime/cache/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace tile::tune {
namespace {

namespace fs = std::filesystem;

class ShippedTables : public testing::Test {
protected:
  ~ShippedTables() override { unsetenv("TILE_TUNE_SHIPPED"); }
  fs::path root() const { return folder.file("prefix"); }
  void put(const char *file) const {
    fs::path path = root() / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "\n";
  }
  test::TemporaryFolder folder;
};

TEST_F(ShippedTables, AreFoundFromTheLibrarysFolder) {
  put("share/tilec/tuned/b.jsonl"), put("share/tilec/tuned/a.jsonl");
  put("share/tilec/tuned/README.md");
  std::string tuned = (root() / "share/tilec/tuned").string();
  std::vector<std::string> expected = {tuned + "/a.jsonl", tuned + "/b.jsonl"};
  EXPECT_EQ(shippedTablesBeside(root() / "lib"), expected);
  EXPECT_EQ(shippedTablesBeside(root() / "lib/x86_64-linux-gnu"), expected);
  EXPECT_TRUE(shippedTablesBeside(root() / "lib/some/where/else").empty());
  EXPECT_TRUE(shippedTablesBeside({}).empty());
}

TEST_F(ShippedTables, AreThoseOfTheFolderThatTheEnvironmentNames) {
  put("tables/own.jsonl");
  setenv("TILE_TUNE_SHIPPED", (root() / "tables").c_str(), 1);
  EXPECT_EQ(shippedTables(), std::vector{(root() / "tables/own.jsonl").string()});
  setenv("TILE_TUNE_SHIPPED", "off", 1);
  EXPECT_TRUE(shippedTables().empty());
  setenv("TILE_TUNE_SHIPPED", (root() / "missing").c_str(), 1);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(shippedTables().empty());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("is no folder"), std::string::npos);
}

TEST_F(ShippedTables, OfTheSourcesWereTimedOnGpus) {
  std::vector<std::string> tables =
      shippedTables(); // of this build, whose folder links to the sources'
  for (const std::string &table : tables)
    for (const Trial &trial : readTable(table)) {
      std::string line = table + ": " + trial.key.kernel + " " + trial.key.problem;
      EXPECT_EQ(trial.status, Status::Timed) << line;
      EXPECT_TRUE(trial.isChosen) << line;
      EXPECT_TRUE(trial.doubt.empty()) << line << ": " << trial.doubt;
      EXPECT_EQ(trial.key.device.find("virtual"), std::string::npos) << line;
    }
  auto isTable = [](const fs::directory_entry &entry) {
    return entry.path().extension() == ".jsonl";
  };
  EXPECT_EQ(tables.size(),
            std::ranges::count_if(fs::directory_iterator(TILE_SHIPPED_TABLES), isTable))
      << "the build finds the tables of the sources";
}

} // namespace
} // namespace tile::tune
