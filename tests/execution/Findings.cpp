#include "tests/execution/Findings.h"

#include <tile/tile.h>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace tile::test {

namespace {

constexpr int kFound = 3; // the exit status of a child whose launch failed

class HasParts : public ::testing::MatcherInterface<const std::string &> {
public:
  explicit HasParts(std::vector<std::string> parts) : parts_(std::move(parts)) {}

  bool MatchAndExplain(const std::string &text,
                       ::testing::MatchResultListener *listener) const override {
    for (const std::string &part : parts_)
      if (text.find(part) == std::string::npos) {
        *listener << "without '" << part << "'";
        return false;
      }
    return true;
  }
  void DescribeTo(std::ostream *out) const override {
    *out << "has";
    for (const std::string &part : parts_)
      *out << " '" << part << "'";
  }

private:
  std::vector<std::string> parts_;
};

// Runs in a child process: prints the error of the launch. Nothing is torn down, since the context may be lost.
void sayWhatFails(const std::function<void()> &launch) {
  try {
    launch();
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(kFound);
  }
}

} // namespace

void expectFindingInChild(const std::function<void()> &launch,
                          const std::vector<std::string> &parts) {
  // Not by fork alone: a driver does not survive that.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(sayWhatFails(launch), ::testing::ExitedWithCode(kFound),
              ::testing::Matcher<const std::string &>(new HasParts(parts)));
}

void expectFinding(const std::string &device, const std::function<void()> &launch,
                   const std::vector<std::string> &parts) {
  if (device.starts_with("cuda"))
    return expectFindingInChild(launch, parts);
  try {
    launch();
  } catch (const Error &error) {
    for (const std::string &part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "missing '" << part << "' in: " << error.what();
    return;
  }
  ADD_FAILURE() << "the launch succeeded";
}

bool isChildOfATest() { return !GTEST_FLAG_GET(internal_run_death_test).empty(); }

} // namespace tile::test
