// Which devices the execution tests run on.
#include "tests/execution/Harness.h"

#include <cstdlib>
#include <sstream>

namespace tile::test {

static std::vector<std::string> virtualNames(Targets targets) {
  const char *named = std::getenv("TILE_TEST_TARGETS");
  std::istringstream words(named ? named : targets == Targets::All ? "sm_80,sm_90a" : "sm_86");
  std::vector<std::string> names;
  for (std::string word; std::getline(words, word, ',');)
    names.push_back("virtual:" + word);
  return names;
}

std::vector<std::string> deviceNames(Targets targets) {
  std::vector<std::string> names = virtualNames(targets);
  for (const Device &device : Device::all())
    if (!device.isVirtual())
      names.push_back(device.name());
  if (std::find(names.begin(), names.end(), "cuda:0") == names.end())
    names.push_back("cuda:0");
  return names;
}

std::string testName(const std::string &device) {
  std::string name;
  for (char c : device)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

void OnDevice::SetUp() {
  try {
    device_ = Device::open(GetParam());
  } catch (const Error &error) {
    if (error.code() != ErrorCode::NoDevice)
      throw;
    GTEST_SKIP() << error.message();
  }
  stream = device_->stream();
}

} // namespace tile::test
