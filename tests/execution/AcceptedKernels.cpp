#include "tests/execution/AcceptedKernels.h"

#include <filesystem>
#include <fstream>

namespace tile::test {

namespace fs = std::filesystem;

// Of kernels that no build has any more; some hundred changes of the whole compiler fit.
static constexpr uintmax_t kMostBytes = 8 << 20;

AcceptedKernels::AcceptedKernels(const std::string &version)
    : file_(TILE_ACCEPTED_KERNELS "/" + std::to_string(std::hash<std::string>()(version))) {
  std::error_code none;
  fs::create_directories(TILE_ACCEPTED_KERNELS, none);
  if (fs::file_size(file_, none) > kMostBytes && !none)
    fs::remove(file_, none);
  std::ifstream file(file_, std::ios::binary);
  for (Key key; file.read(reinterpret_cast<char *>(&key), sizeof key);)
    known_.insert(key);
}

AcceptedKernels::Key AcceptedKernels::keyOf(const std::string &code, const std::string &question) {
  return std::hash<std::string>()(question + "\n" + code);
}

// So few keys are written at once, so that what other programs add lies before or behind them.
void AcceptedKernels::add(const std::vector<Key> &keys) {
  std::ofstream file(file_, std::ios::binary | std::ios::app);
  file.write(reinterpret_cast<const char *>(keys.data()),
             static_cast<std::streamsize>(keys.size() * sizeof(Key)));
  known_.insert(keys.begin(), keys.end());
}

} // namespace tile::test
