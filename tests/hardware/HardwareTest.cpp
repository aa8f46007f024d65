// Each probe writes on the virtual GPU what it wrote on hardware, but for those of differences.txt, each of which must
// differ: a line that is not needed any more fails as well. With TILE_DEVICE=cuda the probes run on that GPU, where
// nothing may differ.
//
//   HardwareTest --record FILE    records all probes
//   HardwareTest --prune          takes lines out of differences.txt that are not needed any more
#include "tests/hardware/Compare.h"
#include "tests/hardware/Recording.h"
#include "tests/hardware/Run.h"

#include <gtest/gtest.h>

#include <tile/Error.h>

#include <filesystem>
#include <iostream>
#include <set>

namespace tile::hardware {
namespace {

const std::string kRecording = TILE_HARDWARE_DATA "/h100.probes",
                  kDifferences = TILE_HARDWARE_DATA "/differences.txt";

const Recording &recording() {
  static const Recording recording = Recording::read(kRecording);
  return recording;
}

const Differences &differences() {
  static const Differences differences = Differences::read(kDifferences);
  return differences;
}

struct Outcome {
  Comparison comparison;
  std::string difference; // empty if there is none
};

Outcome tryProbe(device::Device &device, const Probe &probe) {
  auto recorded = recording().probes.find(probe.name);
  if (recorded == recording().probes.end())
    return {{}, "is not recorded"};
  Outcome outcome;
  try {
    outcome.comparison =
        compare(probe, run(device, probe), recorded->second, !device.props().isVirtual);
  } catch (const Error &error) {
    outcome.difference = error.what();
  }
  if (const Comparison &c = outcome.comparison; c.different > 0)
    outcome.difference = std::to_string(c.different) + " of " + std::to_string(c.values) +
                         " values differ; first " + c.first;
  return outcome;
}

// True if the recording is missing and may be: in the bundle, which leaves the tree.
bool isOptionalAndMissing() {
#ifdef TILE_HARDWARE_OPTIONAL
  return !std::filesystem::exists(kRecording);
#else
  return false;
#endif
}

void compareAll(const std::vector<Probe> &probes) {
  if (isOptionalAndMissing())
    GTEST_SKIP() << kRecording << " is not here";
  static const std::shared_ptr<device::Device> device = openProbed();
  size_t equal = 0, values = 0, approximate = 0;
  for (const Probe &probe : probes) {
    auto [comparison, difference] = tryProbe(*device, probe);
    const std::string *reason =
        device->props().isVirtual ? differences().reasonOf(probe.name) : nullptr;
    if (!reason && !difference.empty())
      ADD_FAILURE() << probe.name << ": " << difference;
    if (reason && difference.empty())
      ADD_FAILURE() << probe.name
                    << " differs no more: HardwareTest --prune takes it out of differences.txt, "
                       "where it is under\n"
                    << *reason;
    equal += difference.empty();
    values += comparison.values;
    approximate += comparison.approximate;
  }
  std::cout << equal << " of " << probes.size() << " probes equal, " << values << " values, "
            << approximate << " of approximate functions apart, but within their bounds\n";
}

TEST(Hardware, Floats) { compareAll(floatProbes()); }
TEST(Hardware, Halves) { compareAll(halfProbes()); }
TEST(Hardware, Conversions) { compareAll(conversionProbes()); }
TEST(Hardware, Integers) { compareAll(integerProbes()); }
TEST(Hardware, Video) { compareAll(videoProbes()); }
TEST(Hardware, Collectives) { compareAll(collectiveProbes()); }
TEST(Hardware, MatrixMoves) { compareAll(matrixMoveProbes()); }
TEST(Hardware, Atomics) { compareAll(atomicProbes()); }
TEST(Hardware, Specials) { compareAll(specialProbes()); }
TEST(Hardware, Fragments) { compareAll(fragmentProbes()); }
TEST(Hardware, TensorLoads) { compareAll(tensorLoadProbes()); }
TEST(Hardware, TensorStores) { compareAll(tensorStoreProbes()); }
TEST(Hardware, Bulk) { compareAll(bulkProbes()); }
TEST(Hardware, Barriers) { compareAll(barrierProbes()); }
TEST(Hardware, Clusters) { compareAll(clusterProbes()); }
TEST(Hardware, Mma) { compareAll(mmaProbes()); }
TEST(Hardware, Wgmma) { compareAll(wgmmaProbes()); }
TEST(Hardware, SparseWgmma) { compareAll(sparseWgmmaProbes()); }
TEST(Hardware, Descriptors) { compareAll(descriptorProbes()); }

TEST(Hardware, EveryProbeIsRecordedAndEveryDifferenceIsOfAProbe) {
  if (isOptionalAndMissing())
    GTEST_SKIP() << kRecording << " is not here";
  std::set<std::string> names;
  for (const Probe &probe : allProbes())
    EXPECT_TRUE(names.insert(probe.name).second) << "two probes are called " << probe.name;
  std::set<std::string> recorded;
  for (const auto &[name, outputs] : recording().probes)
    recorded.insert(name);
  EXPECT_EQ(names, recorded);
  for (const Differences::Group &group : differences().groups)
    for (const std::string &name : group.probes)
      EXPECT_TRUE(names.count(name))
          << "there is no probe " << name << ", but differences.txt lists it";
}

int record(const std::string &path) {
  std::shared_ptr<device::Device> device = openProbed();
  Recording result{device->props().name, {}};
  int failures = 0;
  for (const Probe &probe : allProbes())
    try {
      result.probes[probe.name] = run(*device, probe);
    } catch (const Error &error) {
      std::cerr << probe.name << ": " << error.what() << "\n";
      result.probes.erase(probe.name);
      ++failures;
      if (error.code() == ErrorCode::ContextLost)
        break;
    }
  result.write(path);
  std::cout << result.probes.size() << " probes recorded on " << result.device << ", " << failures
            << " failed\n";
  return failures > 0;
}

int prune() {
  std::shared_ptr<device::Device> device = openProbed();
  std::set<std::string> equal;
  for (const Probe &probe : allProbes())
    if (tryProbe(*device, probe).difference.empty() && differences().reasonOf(probe.name))
      equal.insert(probe.name);
  Differences rest = differences();
  rest.remove(equal);
  rest.write(kDifferences);
  std::cout << equal.size() << " lines taken out\n";
  return 0;
}

} // namespace
} // namespace tile::hardware

int main(int argc, char **argv) {
#ifdef TILE_HARDWARE_OPTIONAL
  testing::GTEST_FLAG(filter) = "Hardware.*:Harness.*"; // the program has other tests as well
#endif
  testing::InitGoogleTest(&argc, argv);
  std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 2 && words[0] == "--record")
      return tile::hardware::record(words[1]);
    if (words.size() == 1 && words[0] == "--prune")
      return tile::hardware::prune();
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return RUN_ALL_TESTS();
}
