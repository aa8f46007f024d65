#include "base/Environment.h"

#include "base/ForkLocks.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

namespace tile::base {

std::string environmentText(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

bool environmentFlag(const char *name) {
  std::string value = environmentText(name);
  if (value == "1" || value == "true" || value == "on")
    return true;
  if (!value.empty() && value != "0" && value != "false" && value != "off")
    warnOfEnvironment(name, value, "is neither 1 nor 0; it is taken for 0");
  return false;
}

int64_t environmentInteger(const char *name, int64_t otherwise, int64_t lowest, int64_t highest) {
  std::string value = environmentText(name);
  if (value.empty())
    return otherwise;
  int64_t number = 0;
  const char *end = value.data() + value.size();
  auto [stop, fault] = std::from_chars(value.data(), end, number);
  if (fault == std::errc() && stop == end && number >= lowest && number <= highest)
    return number;
  warnOfEnvironment(name, value,
                    "is not a number from " + std::to_string(lowest) + " to " +
                        std::to_string(highest) + "; the default is used");
  return otherwise;
}

std::vector<std::string>
environmentList(const char *name,
                const std::function<std::string(std::string_view word)> &faultOf) {
  std::string value = environmentText(name);
  std::vector<std::string> words;
  for (size_t start = 0; start < value.size();) {
    size_t end = std::min(value.find(',', start), value.size());
    std::string word = value.substr(start, end - start);
    start = end + 1;
    if (word.empty())
      continue;
    std::string fault = faultOf(word);
    if (fault.empty())
      words.push_back(word);
    else
      warnOfEnvironment(name, value, "'" + word + "' " + fault);
  }
  return words;
}

void warnOfEnvironment(const char *name, std::string_view value, std::string_view fault) {
  static auto &mutex = *new ForkMutex;
  static auto &told = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  if (told.insert(name).second)
    std::fprintf(stderr, "tile: warning: %s='%.*s' %.*s\n", name, static_cast<int>(value.size()),
                 value.data(), static_cast<int>(fault.size()), fault.data());
}

} // namespace tile::base
