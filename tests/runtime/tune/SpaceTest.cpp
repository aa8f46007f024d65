// What may be tuned of a kernel, and what is refused while it is declared.
#include "runtime/tune/Candidates.h"
#include "runtime/tune/Key.h"
#include "runtime/tune/Search.h"
#include "tests/runtime/tune/Kernels.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tile::tune {
namespace {

using test::orderedKernel, test::scaledKernel;

template <class F> std::string messageOf(F action) {
  try {
    action();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    return error.message();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

std::vector<int64_t> valuesOf(const Choices &choices) {
  return {choices.values().begin(), choices.values().end()};
}

TEST(Choices, AreTheValuesTheySay) {
  EXPECT_EQ(valuesOf(pow2(32, 256)), (std::vector<int64_t>{32, 64, 128, 256}));
  EXPECT_EQ(valuesOf(pow2(8, 8)), std::vector<int64_t>{8});
  EXPECT_EQ(valuesOf(steps(2, 5)), (std::vector<int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(valuesOf(steps(16, 50, 16)), (std::vector<int64_t>{16, 32, 48}));
  EXPECT_EQ(valuesOf(onOff()), (std::vector<int64_t>{0, 1}));
}

TEST(Choices, RefuseWhatIsNoRow) {
  EXPECT_EQ(messageOf([] { pow2(32, 100); }),
            "pow2(32, 100): the last value must be the first, doubled some times");
  messageOf([] { pow2(0, 8); });
  messageOf([] { pow2(16, 8); });
  messageOf([] { steps(1, 9, 0); });
  messageOf([] { steps(3, 2); });
  messageOf([] { steps(0, int64_t{1} << 62); });
}

TEST(Config, KeepsNamesInOrder) {
  Config config = {{"BM", 128}, {"warps", 8}};
  config.set("BM", 64).set("BN", 32);
  EXPECT_EQ(config.str(), "BM=64 warps=8 BN=32");
  EXPECT_EQ(config["BN"], 32);
  EXPECT_EQ(config.get("BK", 7), 7);
  EXPECT_EQ(messageOf([&] { config["BK"]; }), "there is no setting 'BK' in: BM=64 warps=8 BN=32");
}

TEST(Words, AreNumbersWithNames) {
  Choices choices = words({"rows", "columns"});
  EXPECT_EQ(valuesOf(choices), (std::vector<int64_t>{0, 1}));
  Config config;
  config.set("order", "columns", 1).set("block", 64);
  EXPECT_EQ(config.str(), "order=columns block=64");
  EXPECT_EQ(config.word("order"), "columns");
  EXPECT_EQ(config.word("block"), "");
  EXPECT_EQ(config, (Config{{"order", 1}, {"block", 64}}));
  EXPECT_EQ(config.set("order", 0).str(), "order=0 block=64");
}

TEST(Words, OfAKernelGoByNameEverywhere) {
  auto kernel = orderedKernel();
  const TuningSpace &space = spaceOf(kernel.record());
  std::vector<HostArg> args = {exampleView(f32, {100}), exampleView(f32, {100})};
  std::vector<int64_t> constants = {0, 0};
  Problem problem(kernel.record(), args, constants, "sm_90a", 132);
  EXPECT_EQ(defaultOf(kernel.record(), space, problem).str(), "block=128 order=columns");
  std::set<std::string> seen, near;
  forEachConfig(space, [&](const Config &config) { return seen.insert(config.str()).second; });
  EXPECT_EQ(seen.size(), 9u);
  EXPECT_TRUE(seen.contains("block=64 order=diagonal"));
  // Words have no order: all others are beside one. Numbers have.
  for (const Config &config : neighboursOf(space, {{"block", 64}, {"order", 0}}))
    near.insert(config.str());
  EXPECT_EQ(near, (std::set<std::string>{"block=128 order=0", "block=64 order=columns",
                                         "block=64 order=diagonal"}));

  // As it is read: a word whose number this kernel knows, or the number itself.
  Config read;
  read.set("order", "diagonal", Config::kUnnumbered).set("block", 64);
  EXPECT_EQ(inOrder(space, read).str(), "block=64 order=diagonal");
  EXPECT_EQ(inOrder(space, read), (Config{{"block", 64}, {"order", 2}}));
  EXPECT_EQ(numbered(space, {{"order", 0}}).str(), "order=rows");
  EXPECT_EQ(refusalOf(space, numbered(space, read), problem), "");
  apply(space, numbered(space, read), constants, *std::make_unique<detail::CompileSettings>());
  EXPECT_EQ(constants, (std::vector<int64_t>{64, 2}));

  read.set("order", "spiral", Config::kUnnumbered);
  EXPECT_EQ(refusalOf(space, numbered(space, read), problem),
            "order = spiral is none of rows, columns, diagonal");
  read.set("order", 3);
  EXPECT_EQ(refusalOf(space, numbered(space, read), problem),
            "order = 3 is none of rows, columns, diagonal");
}

TEST(TuningSpace, RefusesWhatCannotBeTuned) {
  auto plain = [] {
    return kernel("untuned",
                  [](In<f32, 1> x, Out<f32, 1> y, Const block) {
                    Value i = grid1d(y, {block});
                    y.tile({block})(i) = x.tile({block})(i);
                  })
        .named("x", "y", "block");
  };
  EXPECT_EQ(messageOf([&] { plain().tunable("blok", {1}); }),
            "kernel 'untuned' has no constant 'blok' to tune; there are: block; and warps, maxnreg "
            "and occupancy of the launch");
  EXPECT_EQ(messageOf([&] { plain().tunable("block", {64}).tunable("block", {64}); }),
            "'block' of kernel 'untuned' is tuned already");
  EXPECT_EQ(messageOf([&] {
              plain().tunable("block", {64, 128}, 96);
            }),
            "'block' is 96 where nothing better is known, which is none of its values: 64, 128");
  EXPECT_EQ(messageOf([&] { plain().tunable("block", {}); }),
            "'block' of kernel 'untuned' has no values to choose from");
  EXPECT_EQ(messageOf([&] { (void)scaledKernel().tuned().with("block", 64); }),
            "'block' of kernel 'tuned_scale' is tuned: call the kernel with .consts(...) to choose "
            "it");
  EXPECT_EQ(messageOf([&] { (void)scaledKernel().tuned().with("blocks", 64); }),
            "kernel 'tuned_scale' has no constant 'blocks'; there are: block, factor");
}

TEST(TuningSpace, HasEachCombinationOnce) {
  auto kernel = scaledKernel();
  const TuningSpace &space = spaceOf(kernel.record());
  std::set<std::string> seen;
  forEachConfig(space, [&](const Config &config) {
    seen.insert(config.str());
    return true;
  });
  EXPECT_EQ(seen.size(), 15u);
  EXPECT_EQ(sizeOf(space), 15);
  EXPECT_TRUE(seen.contains("block=1024 warps=8"));
}

TEST(TuningSpace, HasNeighboursOfOnePlace) {
  auto kernel = scaledKernel();
  std::set<std::string> found;
  for (const Config &config : neighboursOf(spaceOf(kernel.record()), {{"block", 64}, {"warps", 4}}))
    found.insert(config.str());
  EXPECT_EQ(found,
            (std::set<std::string>{"block=128 warps=4", "block=64 warps=2", "block=64 warps=8"}));
}

/// A problem of the kernel for n elements, on an H100.
struct ProblemOf {
  explicit ProblemOf(const detail::KernelRecord &record, int64_t n)
      : args{exampleView(f32, {n}), exampleView(f32, {n})},
        problem(record, args, constants, "sm_90a", 132) {}
  std::vector<HostArg> args;
  std::vector<int64_t> constants = {0, 3};
  Problem problem;
};

TEST(TuningSpace, SaysWhySettingsAreNotItsOwn) {
  auto kernel =
      scaledKernel().where("a thread has an element", [](const Config &config, const Problem &) {
        return config["block"] >= config["warps"] * 32;
      });
  const TuningSpace &space = spaceOf(kernel.record());
  ProblemOf of(kernel.record(), 1000);
  EXPECT_EQ(refusalOf(space, {{"block", 256}, {"warps", 8}}, of.problem), "");
  EXPECT_EQ(refusalOf(space, {{"block", 128}, {"warps", 8}}, of.problem),
            "a thread has an element");
  EXPECT_EQ(refusalOf(space, {{"block", 96}, {"warps", 2}}, of.problem),
            "block = 96 is none of 64, 128, 256, 512, 1024");
  EXPECT_EQ(refusalOf(space, {{"block", 128}}, of.problem), "warps is missing");
  EXPECT_NE(refusalOf(space, {{"block", 256}, {"warps", 8}, {"x", 1}}, of.problem), "");
}

TEST(TuningSpace, KernelsChooseForTheProblem) {
  auto kernel = scaledKernel().otherwise([](const Problem &problem) {
    return Config{{"block", problem.extent(1, 0) > 500 ? 1024 : 64}};
  });
  const TuningSpace &space = spaceOf(kernel.record());
  EXPECT_EQ(defaultOf(kernel.record(), space, ProblemOf(kernel.record(), 1000).problem).str(),
            "block=1024 warps=4");
  EXPECT_EQ(defaultOf(kernel.record(), space, ProblemOf(kernel.record(), 100).problem).str(),
            "block=64 warps=4");
  auto wrong = scaledKernel().otherwise([](const Problem &) { return Config{{"blok", 1}}; });
  EXPECT_EQ(messageOf([&] {
              defaultOf(wrong.record(), spaceOf(wrong.record()),
                        ProblemOf(wrong.record(), 1).problem);
            }),
            "the settings that kernel 'tuned_scale' takes otherwise have 'blok', which is not "
            "tuned");
}

TEST(Candidates, AreOrderedByTheModelAndTellWhatIsLeftOut) {
  auto kernel =
      scaledKernel()
          .where("blocks of a kilobyte at least",
                 [](const Config &config, const Problem &) { return config["block"] >= 256; })
          .work([](const Config &config, const Problem &problem) {
            auto block = static_cast<double>(config["block"]);
            Work work;
            work.threads = static_cast<int>(config["warps"]) * 32;
            work.sharedBytes = config["block"] == 1024 ? 300'000 : 0;
            work.bytesRead = block * 4, work.bytesWritten = block * 4;
            work.programs = static_cast<double>(problem.extent(1, 0)) / block;
            return work;
          });
  ProblemOf of(kernel.record(), 1 << 24);
  Candidates found = candidatesOf(kernel.record(), spaceOf(kernel.record()), of.problem);
  EXPECT_TRUE(found.isModelled);
  EXPECT_EQ(found.ordered.size(), 6u); // 256 and 512
  EXPECT_EQ(found.ordered.front().config["block"], 512);
  EXPECT_EQ(found.leftOut["blocks of a kilobyte at least"].count, 6);
  EXPECT_EQ(
      found.leftOut["a program needs 300000 bytes of shared memory, and may have 232448"].count, 3);
}

TEST(Candidates, WithoutAModelBeginWithTheKernelsOwn) {
  auto kernel = scaledKernel();
  ProblemOf of(kernel.record(), 1000);
  Candidates found = candidatesOf(kernel.record(), spaceOf(kernel.record()), of.problem);
  EXPECT_FALSE(found.isModelled);
  EXPECT_EQ(found.ordered.front().config.str(), "block=256 warps=4");
}

TEST(ProblemKey, IsTheSameForExtentsOfABucket) {
  EXPECT_EQ(bucketOf(0), 0);
  EXPECT_EQ(bucketOf(7), 7);
  EXPECT_EQ(bucketOf(9), 10);
  EXPECT_EQ(bucketOf(17), 20);
  EXPECT_EQ(bucketOf(4096), 4096);
  EXPECT_EQ(bucketOf(4097), 5120);
  EXPECT_EQ(bucketOf(11008), 12288);
  for (int64_t extent = 1; extent < 5000; ++extent) {
    EXPECT_GE(bucketOf(extent), extent);
    EXPECT_LE(bucketOf(extent), std::max<int64_t>(extent, extent * 5 / 4));
    EXPECT_EQ(bucketOf(bucketOf(extent)), bucketOf(extent));
    EXPECT_LE(bucketOf(extent), bucketOf(extent + 1));
  }
}

TEST(ProblemKey, TellsLayoutsAndConstantsApart) {
  auto kernel = scaledKernel();
  std::vector<HostArg> args = {exampleView(f32, {1000}), exampleView(f32, {1000})};
  std::vector<int64_t> constants = {0, 3};
  EXPECT_EQ(problemKey(kernel.record(), args, constants), "f32[1024]:0+16 f32[1024]:0+16 factor=3");
  args[0].strides[0] = 2;
  args[1].pointer = reinterpret_cast<void *>(8);
  EXPECT_EQ(problemKey(kernel.record(), args, constants), "f32[1024] f32[1024]:0 factor=3");
}

TEST(KernelVersion, FollowsFromTheCode) {
  auto kernel = scaledKernel();
  auto other = tile::kernel("tuned_scale",
                            [](In<f32, 1> x, Out<f32, 1> y, Const block, Const factor) {
                              Value i = grid1d(y, {block});
                              y.tile({block})(i) =
                                  x.tile({block})(i) * static_cast<float>(factor) + 1.f;
                            })
                   .named("x", "y", "block", "factor")
                   .tunable("block", pow2(64, 1024), 256);
  std::vector<HostArg> args = {exampleView(f32, {1000}), exampleView(f32, {1000})};
  std::vector<HostArg> longer = {exampleView(f32, {1001}), exampleView(f32, {1001})};
  std::vector<int64_t> constants = {0, 3};
  std::string version = versionOf(kernel.record(), args, constants);
  EXPECT_EQ(version.size(), 16u);
  EXPECT_EQ(versionOf(kernel.record(), longer, constants), version);
  EXPECT_NE(versionOf(other.record(), args, constants), version);
}

/// Times that a function of the settings says.
TEST(Search, TriesAllOfFew) {
  auto kernel = scaledKernel();
  ProblemOf of(kernel.record(), 1000);
  const TuningSpace &space = spaceOf(kernel.record());
  Candidates candidates = candidatesOf(kernel.record(), space, of.problem);
  Search search(space, candidates, {}, [](const Config &) { return true; }, {.trials = 15});
  std::set<std::string> tried;
  while (std::optional<Config> config = search.next())
    EXPECT_TRUE(tried.insert(config->str()).second);
  EXPECT_EQ(tried.size(), 15u);
}

TEST(Search, ClimbsFromSeedsToTheBest) {
  auto kernel = tile::kernel("searched",
                             [](Out<f32, 1> y, Const a, Const b, Const c) {
                               y.tile({a})(grid1d(y, {a})) = 1.f;
                               (void)b, (void)c;
                             })
                    .named("y", "a", "b", "c")
                    .tunable("a", steps(1, 40))
                    .tunable("b", steps(1, 40))
                    .tunable("c", steps(1, 40));
  std::vector<HostArg> args = {exampleView(f32, {64})};
  std::vector<int64_t> constants(3);
  Problem problem(kernel.record(), args, constants, "sm_90a", 132);
  const TuningSpace &space = spaceOf(kernel.record());
  Candidates candidates = candidatesOf(kernel.record(), space, problem);
  auto away = [](int64_t value, double best) {
    return std::abs(static_cast<double>(value) - best);
  };
  Search search(space, candidates, {{{"a", 20}, {"b", 10}, {"c", 30}}},
                [](const Config &) { return true; }, {.trials = 200, .first = 4});
  double best = INFINITY;
  while (std::optional<Config> config = search.next()) {
    double time =
        1 + away((*config)["a"], 25) + away((*config)["b"], 14) + away((*config)["c"], 28);
    search.tell(*config, time);
    best = std::min(best, time);
  }
  EXPECT_EQ(best, 1); // 11 steps away among 64,000
  EXPECT_LE(search.tried(), 200);
}

TEST(Search, DoesNotBuildOnWhatFailed) {
  auto kernel = scaledKernel();
  ProblemOf of(kernel.record(), 1000);
  const TuningSpace &space = spaceOf(kernel.record());
  Candidates candidates = candidatesOf(kernel.record(), space, of.problem);
  Search search(space, candidates, {{{"block", 64}, {"warps", 2}}},
                [](const Config &config) { return config["warps"] < 8; },
                {.trials = 100, .first = 1});
  int64_t count = 0;
  while (std::optional<Config> config = search.next()) {
    EXPECT_NE((*config)["warps"], 8);
    search.tell(*config, std::nullopt);
    ++count;
  }
  EXPECT_EQ(count, 10); // all but those that may not be tried
}

} // namespace
} // namespace tile::tune
