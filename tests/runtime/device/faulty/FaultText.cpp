// How faults are spelled.
#include "tests/runtime/device/faulty/FaultyDevice.h"

#include <algorithm>
#include <charconv>

namespace tile::device {
namespace {

constexpr std::string_view kSeams[] = {"alloc", "copy", "load",       "launch",
                                       "event", "wait", "synchronize"};
constexpr std::string_view kKinds[] = {"oom", "refuse", "illegal", "lost", "hang", "delay"};
// Of the compiler: codegen/PassRunner.cpp.
constexpr std::string_view kOthers[] = {"pass"};

template <size_t count>
std::optional<size_t> placeOf(std::string_view word, const std::string_view (&words)[count]) {
  const auto *found = std::ranges::find(words, word);
  if (found == std::end(words))
    return std::nullopt;
  return static_cast<size_t>(found - words);
}

[[noreturn]] void refuse(std::string_view item) {
  throw Error(Fault::User, ErrorCode::InvalidArgument,
              "'" + std::string(item) +
                  "' is no fault: write seam:fault@n, as in launch:illegal@3 (FaultyDevice.h)");
}

std::optional<DeviceFault> parseFault(std::string_view item) {
  size_t colon = item.find(':'), at = item.find('@');
  if (placeOf(item.substr(0, colon), kOthers))
    return std::nullopt;
  if (colon == item.npos || (at != item.npos && at < colon))
    refuse(item);
  auto seam = placeOf(item.substr(0, colon), kSeams);
  auto kind = placeOf(item.substr(colon + 1, at == item.npos ? at : at - colon - 1), kKinds);
  if (!seam || !kind)
    refuse(item);
  DeviceFault fault{static_cast<DeviceFault::Seam>(*seam), static_cast<DeviceFault::Kind>(*kind)};
  if (at != item.npos) {
    const char *end = item.data() + item.size();
    auto [stop, wrong] = std::from_chars(item.data() + at + 1, end, fault.nth);
    if (wrong != std::errc() || stop != end || fault.nth == 0)
      refuse(item);
  }
  return fault;
}

} // namespace

std::vector<DeviceFault> parseFaults(std::string_view text) {
  std::vector<DeviceFault> faults;
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    if (std::optional<DeviceFault> fault = parseFault(item))
      faults.push_back(*fault);
  }
  return faults;
}

} // namespace tile::device
