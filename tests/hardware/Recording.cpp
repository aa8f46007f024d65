#include "tests/hardware/Recording.h"

#include <zstd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace tile::hardware {
namespace {

constexpr int kLevel = 19;
constexpr const char *kDevice = "device ";

[[noreturn]] void fail(const std::string &path, const std::string &fault) {
  throw std::runtime_error("recording " + path + ": " + fault);
}

std::string decompress(const std::string &path, const std::string &frame) {
  constexpr unsigned long long kMost = 1ull << 30;
  unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size > kMost) // also what says that it is no frame
    fail(path, "is no frame of zstd that tells its size");
  std::string content(size, '\0');
  size_t found = ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size());
  if (ZSTD_isError(found) || found != size)
    fail(path, "does not decompress");
  return content;
}

} // namespace

Recording Recording::read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail(path, "cannot be opened");
  std::string content = decompress(path, {std::istreambuf_iterator<char>(file), {}});
  Recording result;
  size_t headEnd = content.find("\n\n");
  if (headEnd == std::string::npos || !content.starts_with(kDevice))
    fail(path, "has no list of arrays");
  std::istringstream head(content.substr(0, headEnd));
  std::string line;
  std::getline(head, line);
  result.device = line.substr(std::string(kDevice).size());
  size_t at = headEnd + 2;
  while (std::getline(head, line)) {
    std::istringstream words(line);
    std::string name;
    unsigned elementBytes = 0;
    size_t bytes = 0;
    if (!(words >> name >> elementBytes >> bytes) || elementBytes == 0 ||
        bytes > content.size() - at)
      fail(path, "does not hold what this line says: " + line);
    auto begin = content.begin() + static_cast<std::ptrdiff_t>(at);
    result.probes[name].push_back(
        {elementBytes, {begin, begin + static_cast<std::ptrdiff_t>(bytes)}});
    at += bytes;
  }
  if (at != content.size())
    fail(path, "holds more than its list says");
  return result;
}

void Recording::write(const std::string &path) const {
  std::string content = kDevice + device + "\n", bytes;
  for (const auto &[name, arrays] : probes)
    for (const Buffer &array : arrays) {
      content += name + " " + std::to_string(array.elementBytes) + " " +
                 std::to_string(array.bytes.size()) + "\n";
      bytes.append(array.bytes.begin(), array.bytes.end());
    }
  content += "\n" + bytes;
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  size_t size = ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), kLevel);
  if (ZSTD_isError(size))
    fail(path, ZSTD_getErrorName(size));
  std::ofstream file(path, std::ios::binary);
  file.write(frame.data(), static_cast<std::streamsize>(size));
  if (!file.flush())
    fail(path, "cannot be written");
}

} // namespace tile::hardware
