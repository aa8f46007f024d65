// What a launch of a tuned kernel takes: what a table says, what the database says, what the kernel says.
#include "runtime/tune/Choose.h"
#include "runtime/tune/Key.h"
#include "runtime/tune/Shape.h"
#include "tests/runtime/tune/Kernels.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace tile::tune {
namespace {

class Choosing : public test::TunedCalls {
protected:
  Trial trialOf(int64_t block, double ms, const std::string &version = "") const {
    Trial trial;
    trial.key = {"tuned_scale", version, problemKey(kernel.record(), args, constants),
                 deviceKey(device)};
    trial.config = {{"block", block}, {"warps", 8}};
    trial.status = Status::Modelled;
    trial.milliseconds = ms;
    return trial;
  }
  std::string version() const { return versionOf(kernel.record(), args, constants); }
  std::string table(const std::vector<Trial> &trials, const char *name = "table.jsonl") const {
    std::string file = folder.file(name);
    std::ofstream out(file);
    for (const Trial &trial : trials)
      out << toJson(trial) << "\n\n";
    return file;
  }
  std::unique_ptr<Store> database(const std::vector<Trial> &trials) const {
    auto store = std::make_unique<Store>(folder.file("tuned.sqlite"), Store::Access::Write);
    for (const Trial &trial : trials)
      store->keep(trial);
    return store;
  }
  TunedChoice choose(Mode mode, const std::vector<std::string> &tables,
                     std::unique_ptr<Store> store,
                     const std::vector<std::string> &shipped = {}) const {
    Chooser chooser(
        mode, std::make_unique<KnownResults>(KnownSources{tables, std::move(store), shipped}), "");
    return chooser.choose(call());
  }
};

TEST_F(Choosing, WithoutResultsTheKernelSays) {
  TunedChoice choice = choose(Mode::Cached, {}, nullptr);
  EXPECT_EQ(choice.config.str(), "block=256 warps=4");
  EXPECT_EQ(choice.source, "the kernel");
}

TEST_F(Choosing, OfWhatSeveralHaveChosenTheBestKnown) {
  Trial fast = trialOf(64, 1.00), known = trialOf(512, 1.01);
  for (Trial *trial : {&fast, &known})
    trial->isChosen = true, trial->spread = 0.01;
  fast.samples = 10, known.samples = 40;
  EXPECT_EQ(choose(Mode::Cached, {}, database({fast, known})).config.str(), "block=512 warps=8");
  known.milliseconds = 1.2;
  EXPECT_EQ(choose(Mode::Cached, {table({fast, known})}, nullptr).config.str(), "block=64 warps=8");
}

TEST_F(Choosing, TablesCountForMoreThanTheDatabase) {
  TunedChoice choice = choose(Mode::Cached, {table({trialOf(512, 2)})}, database({trialOf(64, 1)}));
  EXPECT_EQ(choice.config.str(), "block=512 warps=8");
  EXPECT_EQ(choice.source, folder.file("table.jsonl"));
  choice = choose(Mode::Cached, {}, database({trialOf(64, 1)}));
  EXPECT_EQ(choice.config.str(), "block=64 warps=8");
  EXPECT_EQ(choice.source, "the database");
}

/// A kernel of one lambda, however often it is made.
Kernel<In<f32, 1>, Out<f32, 1>, Const> doubled(int64_t most) {
  return kernel("tuned_double",
                [](In<f32, 1> x, Out<f32, 1> y, Const block) {
                  Value i = grid1d(y, {block});
                  y.tile({block})(i) = x.tile({block})(i) * 2.f;
                })
      .named("x", "y", "block")
      .tunable("block", pow2(32, most), most);
}

TEST_F(Choosing, KernelsThatShareTheirCodeChooseEachForItself) {
  auto small = doubled(64), large = doubled(128);
  ASSERT_EQ(small.record().id, large.record().id);
  auto chosenBlock = [&](const detail::KernelRecord &record) {
    int64_t block = 0;
    detail::CompileSettings settings;
    detail::chooseTuned(record, device, args, {{&block, 1}, 0}, settings, {});
    return block;
  };
  EXPECT_EQ(chosenBlock(small.record()), 64);
  EXPECT_EQ(chosenBlock(large.record()), 128);
  large.otherwise([](const Problem &) { return Config{{"block", 32}}; });
  EXPECT_EQ(chosenBlock(large.record()), 32) << "what was remembered is of the kernel as it was";
  EXPECT_EQ(chosenBlock(small.record()), 64);
}

TEST_F(Choosing, ShippedTablesCountForLess) {
  std::vector<std::string> shipped = {table({trialOf(1024, 1)}, "shipped.jsonl")};
  TunedChoice choice = choose(Mode::Cached, {}, nullptr, shipped);
  EXPECT_EQ(choice.config.str(), "block=1024 warps=8");
  EXPECT_EQ(choice.source, shipped[0]);
  EXPECT_EQ(choose(Mode::Cached, {}, database({trialOf(64, 2)}), shipped).config["block"], 64);
  EXPECT_EQ(choose(Mode::Cached, {table({trialOf(512, 2)})}, nullptr, shipped).config["block"],
            512);
  EXPECT_EQ(choose(Mode::Pinned, {}, database({trialOf(64, 2)}), shipped).config["block"], 1024);
  EXPECT_EQ(choose(Mode::Off, {}, nullptr, shipped).source, "the kernel");
}

TEST_F(Choosing, OffTakesWhatTheKernelSays) {
  EXPECT_EQ(choose(Mode::Off, {table({trialOf(512, 2)})}, nullptr).source, "the kernel");
}

TEST_F(Choosing, OfSeveralTheFastestOfThisVersion) {
  EXPECT_EQ(choose(Mode::Cached, {}, database({trialOf(64, 3), trialOf(128, 2), trialOf(512, 4)}))
                .config["block"],
            128);
  EXPECT_EQ(choose(Mode::Cached, {}, database({trialOf(64, 3, version()), trialOf(128, 2)}))
                .config["block"],
            64);
}

TEST_F(Choosing, WhatWasChosenCountsForMoreThanTimes) {
  Trial chosen = trialOf(1024, 5);
  chosen.isChosen = true;
  EXPECT_EQ(choose(Mode::Cached, {}, database({trialOf(128, 2), chosen})).config["block"], 1024);
}

TEST_F(Choosing, WhatFailedIsNeverTaken) {
  Trial wrong = trialOf(128, 1);
  wrong.status = Status::Wrong;
  EXPECT_EQ(choose(Mode::Cached, {}, database({wrong})).source, "the kernel");
}

TEST_F(Choosing, SettingsThatAreNoneOfTheKernelAreNotTaken) {
  Trial strange = trialOf(96, 1), renamed = trialOf(128, 1);
  renamed.config = {{"BLOCK", 128}, {"warps", 8}};
  EXPECT_EQ(choose(Mode::Cached, {}, database({strange, renamed})).source, "the kernel");
  EXPECT_EQ(choose(Mode::Cached, {}, database({strange, renamed, trialOf(512, 9)})).config["block"],
            512);
}

// Tables have words; their numbers are the kernel's. A word that it does not have is of another
// version of it.
TEST_F(Choosing, WordsOfATableHaveTheKernelsNumbers) {
  auto ordered = test::orderedKernel();
  std::vector<int64_t> given = {0, 0};
  TunedCall orderedCall{ordered.record(), device, args, given};
  auto chosen = [&](const char *word) {
    Trial trial = trialOf(0, 1);
    trial.key = {"ordered", "", problemKey(ordered.record(), args, given), deviceKey(device)};
    trial.config = {{"block", 256}};
    trial.config.set("order", word, Config::kUnnumbered);
    Chooser chooser(Mode::Cached,
                    std::make_unique<KnownResults>(KnownSources{{table({trial})}, nullptr, {}}),
                    "");
    return chooser.choose(orderedCall);
  };
  TunedChoice choice = chosen("diagonal");
  EXPECT_EQ(choice.config, (Config{{"block", 256}, {"order", 2}}));
  EXPECT_EQ(choice.config.str(), "block=256 order=diagonal");
  EXPECT_EQ(chosen("spiral").source, "the kernel");
}

TEST_F(Choosing, RulesHoldForTheCallItself) {
  kernel.where("long vectors alone", [](const Config &config, const Problem &problem) {
    return config["block"] < problem.extent(1, 0);
  });
  EXPECT_EQ(choose(Mode::Cached, {}, database({trialOf(1024, 1)})).source, "the kernel");
}

TEST_F(Choosing, PinnedIsAnErrorWithoutATable) {
  EXPECT_EQ(choose(Mode::Pinned, {table({trialOf(512, 2)})}, nullptr).config["block"], 512);
  try {
    choose(Mode::Pinned, {}, database({trialOf(64, 1)}));
    FAIL() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::NotTuned);
    EXPECT_NE(error.message().find("f32[1024]:0+16 f32[1024]:0+16 factor=3"), std::string::npos)
        << error.message();
  }
}

TEST_F(Choosing, RecordsEachProblemOnce) {
  std::string file = folder.file("shapes.jsonl");
  Chooser chooser(Mode::Record, std::make_unique<KnownResults>(KnownSources()), file);
  chooser.choose(call()), chooser.choose(call());
  std::stringstream lines;
  lines << std::ifstream(file).rdbuf();
  EXPECT_EQ(lines.str(),
            R"({"kernel":"tuned_scale","args":["f32[1000]","f32[1000]"],"consts":{"factor":3}})"
            "\n");
}

TEST_F(Choosing, RecordsThatCannotBeWrittenAreOneWarning) {
  for (const auto &[file, told] :
       {std::pair("/no/such/folder/shapes.jsonl", "cannot write to '/no/such/folder/shapes.jsonl'"),
        std::pair("", "TILE_TUNE=record needs a file, TILE_TUNE_RECORD")}) {
    Chooser chooser(Mode::Record, std::make_unique<KnownResults>(KnownSources()), file);
    ::testing::internal::CaptureStderr();
    chooser.choose(call());
    std::string warning = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(warning.find(told), std::string::npos) << warning;
    ::testing::internal::CaptureStderr();
    chooser.choose(call());
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  }
}

TEST_F(Choosing, QuickTriesWhatIsNotKnownAndKeepsIt) {
  std::string file = folder.file("found.sqlite");
  setenv("TILE_TUNE_DB", file.c_str(), 1);
  x.upload(std::vector<float>(1000, 2.f));
  EXPECT_EQ(choose(Mode::Quick, {}, nullptr).source, "trials of this process");
  unsetenv("TILE_TUNE_DB");
  Store found(file, Store::Access::Read);
  std::vector<Trial> trials = found.all();
  EXPECT_EQ(trials.size(), 8u);
  EXPECT_EQ(std::ranges::count_if(trials, [](const Trial &trial) { return trial.isChosen; }), 1);
  EXPECT_EQ(choose(Mode::Quick, {table({trialOf(512, 2)})}, nullptr).config["block"], 512)
      << "what is known is not tried";
}

TEST_F(Choosing, ATableThatCannotBeReadIsNotUsed) {
  std::ofstream(folder.file("table.jsonl")) << toJson(trialOf(512, 1)) << "\n{\"kernel\": \n";
  EXPECT_EQ(
      choose(Mode::Cached, {folder.file("table.jsonl"), folder.file("missing")}, nullptr).source,
      "the kernel");
}

TEST_F(Choosing, LaunchesTakeWhatIsChosen) {
  Stream stream = device.stream();
  std::vector<float> values(1000, 2.f);
  x.upload(values);
  auto tuned = kernel.tuned().with("factor", 3);
  EXPECT_EQ(tuned.choice(device, x, y).config.str(), "block=256 warps=4");
  tuned(stream, x, y);
  tuned(stream, x, y); // from what the thread remembers
  EXPECT_EQ(y.download(), std::vector<float>(1000, 6.f));
  kernel.tuned().with("factor", 5)(stream, x, y); // another constant, another kernel
  EXPECT_EQ(y.download(), std::vector<float>(1000, 10.f));
}

TEST_F(Choosing, AConstantThatNobodyGivesIsNamed) {
  Stream stream = device.stream();
  try {
    kernel.tuned()(stream, x, y);
    FAIL() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(), "the constant 'factor' of kernel 'tuned_scale' is neither tuned nor "
                               "given: give it as in .tuned().with(\"NAME\", value)");
    EXPECT_NE(error.file().find("ChooseTest.cpp"), std::string::npos);
  }
}

TEST_F(Choosing, WrongArgumentsAreNamedAsOfAnyLaunch) {
  Stream stream = device.stream();
  auto wrong = device.tensor<half>({1000});
  Tensor any = wrong;
  try {
    kernel.tuned().with("factor", 3)(stream, any, y);
    FAIL() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_NE(error.message().find("'x'"), std::string::npos) << error.message();
  }
}

} // namespace
} // namespace tile::tune
