// Tuning: what is tried, what is kept, what is taken. Times come from a script; on the virtual GPU settings are tried for real.
#include "runtime/tune/Tuner.h"
#include "runtime/tune/Attempts.h"
#include "runtime/tune/DeviceLock.h"
#include "runtime/tune/Key.h"
#include "tests/runtime/tune/Kernels.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

namespace tile::tune {
namespace {

/// Says what a script has for settings; those it does not have took a millisecond.
class Script : public Trier {
public:
  struct Line {
    double ms = 1;
    Status status = Status::Timed;
    double msCompared = 0; ///< 0: as before
  };
  std::map<std::string, Line> lines;
  std::vector<std::string> attempted;
  std::vector<std::string> compared;

  Trial attempt(const Config &config) override {
    attempted.push_back(config.str());
    Line line = lines[config.str()];
    Trial trial;
    trial.config = config;
    trial.status = line.status;
    trial.milliseconds = line.status == Status::Timed ? line.ms : 0;
    return trial;
  }
  void compare(std::vector<Trial *> finalists) override {
    for (Trial *trial : finalists) {
      compared.push_back(trial->config.str());
      if (double ms = lines[trial->config.str()].msCompared)
        trial->milliseconds = ms;
    }
  }
};

class Tuners : public test::TunedCalls {
protected:
  TuneResult tuneWith(Trier &trier, Store *store = nullptr, TuneOptions options = {}) const {
    return tune(call(), trier, store, options);
  }
  Store store() const { return {folder.file("tuned.sqlite"), Store::Access::Write}; }
};

TEST_F(Tuners, TakeTheFastest) {
  Script script;
  script.lines["block=1024 warps=8"] = {0.5};
  script.lines["block=512 warps=8"] = {0.6};
  TuneResult result = tuneWith(script);
  EXPECT_EQ(script.attempted.size(), 15u);
  EXPECT_EQ(script.attempted.front(), "block=256 warps=4") << "the kernel's own come first";
  ASSERT_TRUE(result.best && result.own);
  EXPECT_EQ(result.best->config.str(), "block=1024 warps=8");
  EXPECT_EQ(result.own->config.str(), "block=256 warps=4");
  EXPECT_FALSE(result.wasCutShort);
}

TEST_F(Tuners, TryWhatTablesSayFirst) {
  Script script;
  TuneOptions options;
  options.seeds = {{{"warps", 8}, {"block", 512}}, {{"block", 96}, {"warps", 8}}};
  tuneWith(script, nullptr, options);
  ASSERT_EQ(script.attempted.size(), 15u) << "settings that the kernel does not have are left out";
  EXPECT_EQ(script.attempted[0], "block=256 warps=4");
  EXPECT_EQ(script.attempted[1], "block=512 warps=8");
}

TEST_F(Tuners, LetFinalistsCompete) {
  Script script;
  script.lines["block=1024 warps=8"] = {0.5, Status::Timed, 0.9}; // luck
  script.lines["block=512 warps=8"] = {0.6};
  EXPECT_EQ(tuneWith(script).best->config.str(), "block=512 warps=8");
  EXPECT_EQ(script.compared.size(), 4u) << "three and the kernel's own";
}

TEST_F(Tuners, KeepTheKernelsOwnUnlessOthersAreClearlyFaster) {
  Script script;
  script.lines["block=1024 warps=8"] = {0.995};
  TuneResult near = tuneWith(script);
  EXPECT_EQ(near.best->config.str(), "block=256 warps=4");
  ASSERT_TRUE(near.passedOver);
  EXPECT_EQ(near.passedOver->config.str(), "block=1024 warps=8");
  script.lines["block=1024 warps=8"] = {0.98};
  TuneResult clear = tuneWith(script);
  EXPECT_EQ(clear.best->config.str(), "block=1024 warps=8");
  EXPECT_FALSE(clear.passedOver);
}

TEST_F(Tuners, NeverTakeWhatFailed) {
  Script script;
  for (Status status :
       {Status::Refused, Status::Wrong, Status::Failed, Status::Crashed, Status::TimedOut}) {
    script.lines["block=1024 warps=8"] = {0.1, status};
    EXPECT_EQ(tuneWith(script).best->config.str(), "block=256 warps=4");
  }
}

TEST_F(Tuners, WithoutTheKernelsOwnTheFastestOfTheOthers) {
  Script script;
  script.lines["block=256 warps=4"] = {0, Status::Refused};
  script.lines["block=64 warps=2"] = {0.7};
  TuneResult result = tuneWith(script);
  EXPECT_EQ(result.best->config.str(), "block=64 warps=2");
  EXPECT_EQ(result.own->status, Status::Refused);
}

TEST_F(Tuners, WithoutAnyThatWorksNothingIsTaken) {
  class Refuses : public Trier {
    Trial attempt(const Config &config) override {
      Trial trial;
      trial.config = config, trial.status = Status::Refused, trial.reason = "no";
      return trial;
    }
  } refuses;
  Store kept = store();
  EXPECT_FALSE(tuneWith(refuses, &kept).best);
  EXPECT_EQ(kept.all().size(), 15u);
}

TEST_F(Tuners, GoOnWhereTheyWereStopped) {
  Store kept = store();
  Script first;
  first.lines["block=64 warps=2"] = {0.2};
  std::atomic<bool> stop = false;
  int count = 0;
  TuneOptions options;
  options.stop = &stop;
  options.progress = [&](const Trial &) { stop = ++count == 5; };
  TuneResult result = tuneWith(first, &kept, options);
  EXPECT_TRUE(result.wasCutShort);
  EXPECT_EQ(first.attempted.size(), 5u);
  Script second;
  result = tuneWith(second, &kept);
  EXPECT_EQ(second.attempted.size(), 10u);
  for (const std::string &config : first.attempted)
    EXPECT_EQ(std::ranges::count(second.attempted, config), 0) << config;
  EXPECT_EQ(result.trials.size(), 15u);
  Script third;
  options = {};
  options.fresh = true;
  tuneWith(third, &kept, options);
  EXPECT_EQ(third.attempted.size(), 15u);
}

TEST_F(Tuners, NeverTryAgainWhatKilledAProcess) {
  Store kept = store();
  Script script;
  script.lines["block=64 warps=2"] = {0, Status::Crashed};
  script.lines["block=64 warps=4"] = {0, Status::TimedOut};
  tuneWith(script, &kept);
  script.attempted.clear();
  TuneOptions options;
  options.fresh = true;
  tuneWith(script, &kept, options);
  EXPECT_EQ(script.attempted.size(), 13u);
}

TEST_F(Tuners, EndWhenTimeIsUp) {
  Script script;
  TuneOptions options;
  options.seconds = -1;
  TuneResult result = tuneWith(script, nullptr, options);
  EXPECT_TRUE(result.wasCutShort);
  EXPECT_TRUE(script.attempted.empty());
}

TEST_F(Tuners, KeepWhatALaunchThenTakes) {
  Store kept = store();
  Script script;
  script.lines["block=512 warps=2"] = {0.4};
  tuneWith(script, &kept);
  Chooser chooser(Mode::Cached,
                  std::make_unique<KnownResults>(KnownSources{
                      {}, std::make_unique<Store>(kept.file(), Store::Access::Read), {}}),
                  "");
  TunedChoice choice = chooser.choose(call());
  EXPECT_EQ(choice.config.str(), "block=512 warps=2");
  EXPECT_EQ(choice.source, "the database");
}

TEST_F(Tuners, MeasureOneAtATime) {
  DeviceLock first(device, 0);
  EXPECT_TRUE(first.isHeld());
  EXPECT_FALSE(DeviceLock(device, 0.05).isHeld());
  EXPECT_TRUE(DeviceLock(Device::open("virtual:sm_80"), 0).isHeld()) << "another device";
}

TEST_F(Tuners, WaitForOthersToMeasure) {
  auto first = std::make_unique<DeviceLock>(device, 0);
  std::thread ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    first = nullptr;
  });
  EXPECT_TRUE(DeviceLock(device, 60).isHeld());
  ends.join();
}

// --- On the virtual GPU --------------------------------------------------------------------------

TEST_F(Tuners, OnTheVirtualGpuTheScoreIsTheModels) {
  x.upload(std::vector<float>(1000, 2.f));
  y.upload(std::vector<float>(1000, 7.f));
  Attempts attempts(call());
  TuneResult result = tuneWith(attempts);
  ASSERT_TRUE(result.best);
  for (const Trial &trial : result.trials) {
    EXPECT_EQ(trial.status, Status::Modelled) << trial.config.str() << ": " << trial.reason;
    EXPECT_GT(trial.milliseconds, 0);
  }
  EXPECT_EQ(y.download(), std::vector<float>(1000, 7.f)) << "the user's tensors were changed";
}

TEST_F(Tuners, WrongResultsAreNoticed) {
  auto sometimes = tile::kernel("sometimes_wrong",
                                [](In<f32, 1> x, Out<f32, 1> y, Const block) {
                                  Value i = grid1d(y, {block});
                                  y.tile({block})(i) =
                                      x.tile({block})(i) * (block == 128 ? 2.5f : 2.f);
                                })
                       .named("x", "y", "block")
                       .tunable("block", {64, 128, 256});
  x.upload(std::vector<float>(1000, 2.f));
  std::vector<int64_t> own = {0};
  TunedCall tried{sometimes.record(), device, args, own};
  Attempts attempts(tried);
  EXPECT_EQ(attempts.attempt({{"block", 256}}).status, Status::Modelled);
  Trial wrong = attempts.attempt({{"block", 128}});
  EXPECT_EQ(wrong.status, Status::Wrong);
  EXPECT_EQ(wrong.reason, "output 0: element 0 is 5, of the reference 4");
}

TEST_F(Tuners, WhatIsReadAndWrittenIsRestoredForEach) {
  auto grows = tile::kernel("grows",
                            [](InOut<f32, 1> x, Const block) {
                              Value i = grid1d(x, {block});
                              Value old = x.tile({block})(i);
                              x.tile({block})(i) = old * 2.f;
                            })
                   .named("x", "block")
                   .tunable("block", {64, 128, 256});
  x.upload(std::vector<float>(1000, 3.f));
  std::vector<int64_t> own = {0};
  std::vector<HostArg> one = {args[0]};
  TunedCall tried{grows.record(), device, one, own};
  Attempts attempts(tried);
  for (int64_t block : {64, 128, 256})
    EXPECT_EQ(attempts.attempt({{"block", block}}).status, Status::Modelled);
  EXPECT_EQ(x.download(), std::vector<float>(1000, 3.f));
}

TEST_F(Tuners, RefusalsAndFindingsAreReasons) {
  auto greedy = tile::kernel("greedy",
                             [](In<f32, 1> x, Out<f32, 1> y, Const block) {
                               Value i = grid1d(y, {block});
                               auto from =
                                   block == 128 ? x.tile({block}).unchecked() : x.tile({block});
                               y.tile({block})(i) = from(i);
                             })
                    .named("x", "y", "block")
                    .tunable("block", {64, 128, 1 << 20});
  x.upload(std::vector<float>(1000, 2.f));
  std::vector<int64_t> own = {0};
  TunedCall tried{greedy.record(), device, args, own};
  Attempts attempts(tried);
  Trial refused = attempts.attempt({{"block", 1 << 20}});
  EXPECT_EQ(refused.status, Status::Refused) << nameOf(refused.status);
  EXPECT_FALSE(refused.reason.empty());
  Trial failed = attempts.attempt({{"block", 128}}); // reads behind the end
  EXPECT_EQ(failed.status, Status::Failed) << nameOf(failed.status) << failed.reason;
  EXPECT_EQ(attempts.attempt({{"block", 64}}).status, Status::Modelled) << "goes on";
}

} // namespace
} // namespace tile::tune
