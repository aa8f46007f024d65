// Which devices the execution tests run on.
#include "tests/execution/Harness.h"

namespace tile::test {

std::vector<std::string> deviceNames(Targets targets) {
  std::vector<std::string> names;
  for (const Device &device : Device::all()) {
    names.push_back(device.name());
    if (device.isVirtual() && targets == Targets::All)
      names.push_back("virtual:sm_90a");
  }
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
