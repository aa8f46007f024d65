// The comparison with hardware notices what it must: differences, distances of approximate functions, damaged
// recordings.
#include "tests/Ptxas.h"
#include "tests/hardware/Closeness.h"
#include "tests/hardware/Compare.h"
#include "tests/hardware/Recording.h"
#include "tests/hardware/Run.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace tile::hardware {
namespace {

Probe probeNamed(const std::string &name) {
  for (Probe &probe : allProbes())
    if (probe.name == name)
      return probe;
  throw std::runtime_error("no probe " + name);
}

// A file that goes with the test.
class Scratch {
public:
  explicit Scratch(const std::string &name = "file")
      : path(testing::TempDir() + "tile_harness_" + std::to_string(::getpid()) + "_" + name) {}
  ~Scratch() { std::filesystem::remove(path); }
  void write(const std::string &content) const { std::ofstream(path, std::ios::binary) << content; }
  const std::string path;
};

template <class Call> std::string faultOf(Call call) {
  try {
    call();
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "";
}

TEST(Harness, OneBitIsADifferenceThatIsToldWithItsOperands) {
  Probe probe = probeNamed("add.rn.f32");
  Outputs recorded = run(*openProbed(), probe), found = recorded;
  EXPECT_EQ(compare(probe, found, recorded).different, 0u);
  found[0].bytes[4 * 7] ^= 1;
  found[0].bytes[4 * 9] ^= 1;
  Comparison comparison = compare(probe, found, recorded);
  EXPECT_EQ(comparison.values, 128u);
  EXPECT_EQ(comparison.different, 2u);
  char operands[64];
  std::snprintf(operands, sizeof operands, "element 7 of 0x%llx 0x%llx:",
                static_cast<unsigned long long>(probe.inputs[0].at(7)),
                static_cast<unsigned long long>(probe.inputs[1].at(7)));
  EXPECT_NE(comparison.first.find(operands), std::string::npos) << comparison.first;
}

TEST(Harness, OutputsOfAnotherSizeAreADifference) {
  Probe probe = probeNamed("add.rn.f32");
  Outputs recorded = run(*openProbed(), probe), found = recorded;
  found[0].bytes.resize(4);
  EXPECT_GT(compare(probe, found, recorded).different, 0u);
  EXPECT_GT(compare(probe, {}, recorded).different, 0u);
}

TEST(Harness, WhatARunDoesNotRepeatIsNotCompared) {
  Probe probe = probeNamed("try_wait.time");
  Outputs recorded = run(*openProbed(), probe), found = recorded;
  found[0].bytes[4 * 3] ^= 1; // a time
  EXPECT_EQ(compare(probe, found, recorded).different, 0u);
  found[0].bytes[4 * 4] ^= 1; // whether it waited in vain
  EXPECT_EQ(compare(probe, found, recorded).different, 1u);
}

TEST(Harness, DistancesAreCountedInUnits) {
  EXPECT_EQ(unitsBetween(0x3f800000, 0x3f7ffffe, "f32"), 2);
  EXPECT_EQ(unitsBetween(0x00000001, 0x80000002, "f32"), 3); // through zero
  EXPECT_EQ(unitsBetween(0x7c00, 0x7bff, "f16"), 1);         // infinity, the greatest number
  EXPECT_EQ(unitsBetween(0x3f80, 0x3f81, "bf16"), 1);
}

TEST(Harness, ApproximateFunctionsHaveBounds) {
  EXPECT_EQ(closenessOf("add.rn.f32"), nullptr);
  const Closeness *exp = closenessOf("ex2.approx.ftz.f32@near:-8:7");
  ASSERT_NE(exp, nullptr);
  EXPECT_TRUE(areClose(*exp, 0x3f800002, 0x3f800000, 32));
  EXPECT_FALSE(areClose(*exp, 0x3f800003, 0x3f800000, 32));
  EXPECT_FALSE(areClose(*exp, 0x7fc00000, 0x7fffffff, 32)); // NaN are equal or they differ
  const Closeness *pairs = closenessOf("tanh.approx.f16x2");
  ASSERT_NE(pairs, nullptr);
  EXPECT_TRUE(areClose(*pairs, 0x3c003800, 0x3bff3801, 32));
  EXPECT_FALSE(areClose(*pairs, 0x3c003800, 0x3bfe3800, 32));
  const Closeness *sine = closenessOf("sin.approx.f32");
  ASSERT_NE(sine, nullptr);
  EXPECT_TRUE(areClose(*sine, 0x3f000000, 0x3f000005, 32)); // 5/4 of 2^-22 apart
  EXPECT_FALSE(areClose(*sine, 0x3f000000, 0x3f000006, 32));
}

TEST(Harness, RecordingsAreReadAsWritten) {
  Scratch file;
  Recording recording{"a GPU", {{"one", {{4, {1, 2, 3, 4}}, {1, {5}}}}, {"two", {{2, {}}}}}};
  recording.write(file.path);
  Recording read = Recording::read(file.path);
  EXPECT_EQ(read.device, "a GPU");
  ASSERT_EQ(read.probes.size(), 2u);
  ASSERT_EQ(read.probes["one"].size(), 2u);
  EXPECT_EQ(read.probes["one"][0].elementBytes, 4u);
  EXPECT_EQ(read.probes["one"][0].bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(read.probes["one"][1].bytes, std::vector<uint8_t>{5});
  EXPECT_TRUE(read.probes["two"][0].bytes.empty());
}

TEST(Harness, DamagedRecordingsAreRefused) {
  Scratch file;
  EXPECT_NE(faultOf([&] { Recording::read(file.path); }).find("cannot be opened"),
            std::string::npos);
  file.write("device none\n\n");
  EXPECT_NE(faultOf([&] { Recording::read(file.path); }).find("no frame"), std::string::npos);
  Recording{"a GPU", {{"one", {{4, {1, 2, 3, 4}}}}}}.write(file.path);
  std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) - 3);
  EXPECT_NE(faultOf([&] { Recording::read(file.path); }).find("does not decompress"),
            std::string::npos);
}

TEST(Harness, DifferencesHaveReasonsAndAreTakenOut) {
  Scratch file;
  file.write("# What this is.\n\n# One reason,\n# in two lines.\na\nb\n\n# Another.\nc\n");
  Differences differences = Differences::read(file.path);
  ASSERT_NE(differences.reasonOf("b"), nullptr);
  EXPECT_EQ(*differences.reasonOf("b"), "# One reason,\n# in two lines.\n");
  EXPECT_EQ(differences.reasonOf("d"), nullptr);
  differences.remove({"b", "c"});
  differences.write(file.path);
  std::ifstream written(file.path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(written), {}),
            "# What this is.\n\n# One reason,\n# in two lines.\na\n");
  file.write("# A reason.\na\na\n");
  EXPECT_NE(faultOf([&] { Differences::read(file.path); }).find("lists a twice"),
            std::string::npos);
  file.write("a\n");
  EXPECT_NE(faultOf([&] { Differences::read(file.path); }).find("no reason for a"),
            std::string::npos);
}

// One module of all probes, with entries k0, k1, ...
std::string allKernels() {
  std::string module =
      ".version 8.7\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];\n";
  const std::string entry = ".visible .entry k";
  size_t number = 0;
  for (const Probe &probe : allProbes())
    module +=
        entry + std::to_string(number++) + probe.ptx.substr(probe.ptx.find(entry) + entry.size());
  return module;
}

TEST(Harness, TheAssemblerTakesEveryProbe) {
  std::string ptxas = test::findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas";
  Scratch module, log("log");
  module.write(allKernels());
  std::string command =
      "'" + ptxas + "' -O0 -arch=sm_90a -o /dev/null " + module.path + " > " + log.path + " 2>&1";
  if (std::system(command.c_str()) == 0)
    return;
  ADD_FAILURE() << command;
  std::ifstream lines(log.path);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("ptxas info"))
      ADD_FAILURE() << line;
}

// Numbers must be those of the recording on every machine and with every compiler.
TEST(Harness, DrawsAreFixed) {
  EXPECT_EQ(raw(0, 2), (Values{0x5cc60547776902ba, 0x2a4c004b6ae97d7f}));
  EXPECT_EQ(draw("f32", 5, 3), (Values{0xbf028132, 0xfc219df3, 0xfe800000}));
  EXPECT_EQ(draw("u16", 5, 3), (Values{0x8132, 0x9df3, 0xa55f}));
}

} // namespace
} // namespace tile::hardware
