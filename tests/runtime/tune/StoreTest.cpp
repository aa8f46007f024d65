// Results that are kept: in lines of text, in the database, and what becomes of both when they are damaged.
#include "runtime/tune/Store.h"
#include "runtime/tune/Merge.h"
#include "tests/runtime/cache/TemporaryFolder.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace tile::tune {
namespace {

Trial trialOf(int64_t block, double ms, const std::string &problem = "f32[1024]") {
  Trial trial;
  trial.key = {"scale", "0123", problem, "virtual GPU sm_90a 132"};
  trial.config = {{"block", block}, {"warps", 4}};
  trial.status = Status::Timed;
  trial.milliseconds = ms, trial.spread = 0.01, trial.samples = 20;
  trial.toolchain = "build", trial.host = "here", trial.time = 1'700'000'000;
  return trial;
}

std::string faultOf(const std::string &line) {
  try {
    trialOfJson(line, "table.jsonl", 7);
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    return error.message();
  }
  ADD_FAILURE() << "taken: " << line;
  return {};
}

class Stores : public testing::Test {
protected:
  std::string file() const { return folder.file("deep/er/tuned.sqlite"); }
  std::vector<Trial> found(Store &store, const std::string &problem = "f32[1024]") {
    return store.trialsOf("scale", problem, "virtual GPU sm_90a 132");
  }
  test::TemporaryFolder folder;
};

TEST(TrialLines, AreReadAsTheyWereWritten) {
  Trial trial = trialOf(256, 0.125);
  trial.isChosen = true;
  EXPECT_EQ(toJson(trialOfJson(toJson(trial), "f", 1)), toJson(trial));
  EXPECT_EQ(toJson(trial),
            R"({"kernel":"scale","version":"0123","problem":"f32[1024]",)"
            R"("device":"virtual GPU sm_90a 132","config":{"block":256,"warps":4},)"
            R"("status":"timed","ms":0.125,"spread":0.01,"samples":20,"chosen":true,)"
            R"("toolchain":"build","host":"here","time":1700000000})");
  Trial slowed = trialOf(256, 0.25);
  slowed.clockMHz = 1410, slowed.doubt = "the device was slowed by heat";
  EXPECT_NE(toJson(slowed).find(R"("clock":1410,"doubt":"the device was slowed by heat")"),
            std::string::npos);
  EXPECT_EQ(toJson(trialOfJson(toJson(slowed), "f", 1)), toJson(slowed));
  Trial refused = trialOf(1024, 0);
  refused.status = Status::Refused, refused.reason = "no\n\"room\"";
  Trial read = trialOfJson(toJson(refused), "f", 1);
  EXPECT_EQ(read.status, Status::Refused);
  EXPECT_EQ(read.reason, refused.reason);
}

TEST(TrialLines, HaveWordsForNamedValues) {
  Trial trial = trialOf(256, 0.125);
  trial.config.set("order", "rows", 2);
  std::string line = toJson(trial);
  EXPECT_NE(line.find(R"("config":{"block":256,"warps":4,"order":"rows"})"), std::string::npos)
      << line;
  Trial read = trialOfJson(line, "f", 1);
  EXPECT_EQ(read.config.str(), trial.config.str());
  EXPECT_EQ(read.config["order"], Config::kUnnumbered) << "only the kernel knows it";
  EXPECT_EQ(toJson(read), line);
}

TEST(TrialLines, AreRefusedWithTheirPlace) {
  EXPECT_EQ(faultOf("{}"), "table.jsonl:7: 'kernel' is missing");
  EXPECT_EQ(faultOf(R"({"kernel":1,"problem":"p","device":"d","config":{}})"),
            "table.jsonl:7: 'kernel' has a value of another kind: 1");
  EXPECT_EQ(faultOf(R"({"kernel":"k","problem":"p","device":"d","config":{"a":1.5}})"),
            "table.jsonl:7: the setting 'a' is neither an integer nor a word: 1.5");
  EXPECT_EQ(faultOf(R"({"kernel":"k","problem":"p","device":"d","config":{"a":""}})"),
            "table.jsonl:7: the setting 'a' is neither an integer nor a word: \"\"");
  EXPECT_EQ(faultOf(R"({"kernel":"k","problem":"p","device":"d","config":{},"status":"good"})"),
            "table.jsonl:7: there is no status 'good'");
  EXPECT_EQ(faultOf(R"({"kernel":"k","problem":"p","device":"d","config":{}})"),
            "table.jsonl:7: 'ms' of what was right must be above 0");
  EXPECT_EQ(faultOf("[1]"), "table.jsonl:7: an object is expected");
  EXPECT_NE(faultOf("{\"kernel\":"), "");
}

// What is read may come from anywhere: any byte of a line changed is a line that is taken or refused, never more.
TEST(TrialLines, EveryByteMayBeWrong) {
  std::string line = toJson(trialOf(256, 0.125));
  std::mt19937 random(7);
  for (size_t at = 0; at < line.size(); ++at)
    for (int round = 0; round < 8; ++round) {
      std::string broken = line;
      broken[at] = static_cast<char>(random());
      try {
        trialOfJson(broken, "f", 1);
      } catch (const Error &error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
      }
    }
  for (size_t size = 0; size < line.size(); ++size)
    EXPECT_THROW(trialOfJson(line.substr(0, size), "f", 1), Error);
}

TEST_F(Stores, KeepResultsForTheNextProcess) {
  {
    Store store(file(), Store::Access::Write);
    store.keep(trialOf(256, 0.2));
    store.keep(trialOf(512, 0.1));
    store.keep(trialOf(512, 0.3, "f32[4096]"));
    Trial failed = trialOf(64, 0);
    failed.status = Status::Crashed;
    store.keep(failed);
  }
  Store store(file(), Store::Access::Read);
  std::vector<Trial> trials = found(store);
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[0].config["block"], 512); // the fastest first, those without a time last
  EXPECT_EQ(trials[1].config["block"], 256);
  EXPECT_EQ(trials[2].status, Status::Crashed);
  EXPECT_EQ(store.all().size(), 4u);
  EXPECT_TRUE(found(store, "f32[2]").empty());
}

TEST_F(Stores, TakeTheLaterOfTwo) {
  Store store(file(), Store::Access::Write);
  store.keep(trialOf(256, 0.2));
  store.keep(trialOf(256, 0.1));
  ASSERT_EQ(found(store).size(), 1u);
  EXPECT_EQ(found(store)[0].milliseconds, 0.1);
  Trial other = trialOf(256, 0.4);
  other.toolchain = "another build";
  store.keep(other);
  EXPECT_EQ(found(store).size(), 2u);
  EXPECT_EQ(store.forget("other"), 0);
  EXPECT_EQ(store.forget("scale"), 2);
  EXPECT_TRUE(found(store).empty());
}

// Drawn from few settings, so that tables contradict each other in all that can differ.
std::vector<Trial> drawnTable(std::mt19937 &random) {
  auto drawn = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  std::vector<Trial> table;
  for (int i = 0; i < 12; ++i) {
    Trial trial = trialOf(64 << drawn(3), 1 + 0.01 * drawn(4), drawn(2) ? "f32[8]" : "f32[1024]");
    trial.samples = 10 * drawn(3), trial.spread = 0.01 * drawn(3);
    trial.status = static_cast<Status>(drawn(8) ? 0 : drawn(7));
    trial.isChosen = drawn(3) == 0;
    trial.host = drawn(2) ? "here" : "there";
    trial.doubt = drawn(4) ? "" : "the device was slowed by heat";
    table.push_back(trial);
  }
  return table;
}

TEST_F(Stores, MergeTablesInAnyOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::vector<Trial>> tables;
    for (int i = 0; i < 4; ++i)
      tables.push_back(drawnTable(random));
    std::array<size_t, 5> order = {0, 1, 2, 3, 0}; // one comes twice
    std::ranges::sort(order);
    std::string expected;
    do {
      std::string name = folder.file("merged.sqlite");
      std::filesystem::remove(name);
      Store store(name, Store::Access::Write);
      for (size_t table : order)
        store.merge(tables[table]);
      std::string all;
      for (const Trial &trial : store.all())
        all += toJson(trial) + "\n";
      if (expected.empty())
        expected = all;
      ASSERT_EQ(all, expected);
    } while (std::ranges::next_permutation(order).found); // 60 of them
  }
}

TEST_F(Stores, MergedResultsAreThoseWithMostSamples) {
  Store store(file(), Store::Access::Write);
  Trial few = trialOf(64, 1.0), many = trialOf(64, 1.1), wrong = trialOf(128, 0);
  few.samples = 10, many.samples = 30, few.isChosen = true;
  wrong.status = Status::Wrong;
  store.merge({many, trialOf(128, 0.5)});
  store.merge({few, wrong});
  std::vector<Trial> kept = found(store);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].milliseconds, 1.1);
  EXPECT_EQ(kept[0].samples, 30);
  EXPECT_TRUE(kept[0].isChosen) << "somebody chose it";
  EXPECT_EQ(kept[1].status, Status::Wrong) << "what was wrong once is not taken";
}

TEST(BestKnown, OfTimesThatMayBeEqualIsTheOneWithMostSamples) {
  Trial a = trialOf(64, 1.00), b = trialOf(128, 1.01), c = trialOf(256, 1.10);
  a.samples = 10, b.samples = 40, c.samples = 90;
  std::vector<const Trial *> chosen = {&a, &b, &c};
  EXPECT_EQ(chosen[bestKnown(chosen)], &b) << "1 % apart, each known to 1 %";
  b.spread = a.spread = 0.001;
  EXPECT_EQ(chosen[bestKnown(chosen)], &a) << "clearly the fastest";
}

TEST_F(Stores, TextIsNeverTakenForSql) {
  Store store(file(), Store::Access::Write);
  Trial trial = trialOf(1, 1, "'; DROP TABLE trials; --");
  store.keep(trial);
  EXPECT_EQ(found(store, trial.key.problem).size(), 1u);
}

TEST_F(Stores, WhatIsNoDatabaseIsSetAside) {
  std::filesystem::create_directories(folder.file("deep/er"));
  std::ofstream(file()) << std::string(5000, 'x');
  EXPECT_THROW(Store(file(), Store::Access::Read), Error);
  Store store(file(), Store::Access::Write);
  store.keep(trialOf(256, 0.2));
  EXPECT_EQ(found(store).size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(file() + ".bak"));
}

// Pages of the file overwritten with anything: an error, an empty answer or a right one, and the next writer has a whole database.
TEST_F(Stores, DamageCostsResultsAndNothingElse) {
  std::mt19937 random(1);
  for (int round = 0; round < 12; ++round) {
    std::filesystem::remove_all(folder.file("deep"));
    {
      Store store(file(), Store::Access::Write);
      for (int i = 0; i < 40; ++i)
        store.keep(trialOf(i, 1 + i));
    }
    auto size = std::filesystem::file_size(file());
    {
      std::fstream bytes(file(), std::ios::in | std::ios::out | std::ios::binary);
      for (int i = 0; i < 64; ++i) {
        bytes.seekp(static_cast<std::streamoff>(random() % size));
        bytes.put(static_cast<char>(random()));
      }
    }
    try {
      Store store(file(), Store::Access::Read);
      for (const Trial &trial : found(store))
        EXPECT_EQ(trial.key.kernel, "scale");
    } catch (const Error &error) {
      EXPECT_NE(error.code(), ErrorCode::InternalCompilerError);
    }
    try {
      Store store(file(), Store::Access::Write);
      store.keep(trialOf(256, 0.2));
    } catch (const Error &error) { // damage that a check of pages does not see
      EXPECT_EQ(error.code(), ErrorCode::IoError);
    }
  }
}

TEST_F(Stores, ANewerFormatIsLeftAlone) {
  { Store store(file(), Store::Access::Write); }
  sqlite3 *database = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "PRAGMA user_version = 99", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  for (Store::Access access : {Store::Access::Read, Store::Access::Write})
    try {
      Store store(file(), access);
      ADD_FAILURE() << "was opened";
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::IoError);
      EXPECT_NE(error.message().find("newer version"), std::string::npos) << error.message();
    }
  EXPECT_FALSE(std::filesystem::exists(file() + ".bak"));
}

TEST_F(Stores, FoldersThatCannotBeWrittenAreErrors) {
  std::ofstream(folder.file("plain")) << "no folder";
  EXPECT_THROW(Store(folder.file("plain/tuned.sqlite"), Store::Access::Write), Error);
  EXPECT_THROW(Store(folder.file("missing.sqlite"), Store::Access::Read), Error);
}

TEST_F(Stores, SeveralThreadsAndWritersLoseNothing) {
  { Store store(file(), Store::Access::Write); }
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer)
    writers.emplace_back([&, writer] {
      Store store(file(), Store::Access::Write);
      for (int i = 0; i < 25; ++i)
        store.keep(trialOf(writer * 100 + i, 1 + i));
    });
  for (std::thread &writer : writers)
    writer.join();
  Store store(file(), Store::Access::Read);
  EXPECT_EQ(store.all().size(), 100u);
}

// A launch waits 20 ms at most for somebody who holds the database.
TEST_F(Stores, ReadersDoNotWaitForWriters) {
  Store store(file(), Store::Access::Write);
  store.keep(trialOf(256, 0.2));
  sqlite3 *holder = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &holder), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(holder, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  auto begun = std::chrono::steady_clock::now();
  try {
    Store reader(file(), Store::Access::Read);
    EXPECT_LE(found(reader).size(), 1u);
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::IoError);
  }
  std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begun;
  EXPECT_LT(waited.count(), 2) << "seconds; 20 ms for each access on an idle machine";
  sqlite3_exec(holder, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(holder);
}

TEST_F(Stores, AreLeftAloneByForkedChildren) {
  auto store = std::make_unique<Store>(file(), Store::Access::Write);
  store->keep(trialOf(1, 1));
  pid_t child = fork();
  if (child == 0) {
    int refused = 0;
    auto expectRefusal = [&](auto call) {
      try {
        call();
      } catch (const Error &error) {
        refused += error.message().find("before this process was forked") != std::string::npos;
      }
    };
    expectRefusal([&] { store->all(); });
    expectRefusal([&] { store->keep(trialOf(2, 1)); });
    expectRefusal([&] { store->forget("scale"); });
    store.reset();
    Store own(file() + ".own", Store::Access::Write); // of the child
    own.keep(trialOf(3, 1));
    _exit(refused == 3 && own.all().size() == 1 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  store->keep(trialOf(4, 1));
  EXPECT_EQ(store->all().size(), 2u);
}

// A process that is killed while it writes leaves a whole database with all that was kept before.
TEST_F(Stores, KilledWritersLeaveAWholeDatabase) {
  { Store store(file(), Store::Access::Write); }
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
      Store store(file(), Store::Access::Write);
      for (int i = 0;; ++i) {
        store.keep(trialOf(round * 100000 + i, 1));
        if (write(ready[1], "x", 1) != 1)
          _exit(1);
      }
    }
    close(ready[1]);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1); // one is kept
    usleep(random() % 3000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    Store store(file(), Store::Access::Write); // checks the pages
    std::vector<Trial> trials = store.all();
    EXPECT_TRUE(std::ranges::any_of(
        trials, [&](const Trial &trial) { return trial.config["block"] == round * 100000; }));
  }
  EXPECT_FALSE(std::filesystem::exists(file() + ".bak"));
}

} // namespace
} // namespace tile::tune
