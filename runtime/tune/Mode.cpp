#include "runtime/tune/Mode.h"

#include "base/Environment.h"

namespace tile::tune {

Mode modeOfProcess() {
  static const Mode mode = [] {
    std::string word = base::environmentText("TILE_TUNE");
    constexpr const char *kNames[] = {"off", "cached", "quick", "full", "pinned", "record"};
    for (size_t i = 0; i < std::size(kNames); ++i)
      if (word == kNames[i])
        return static_cast<Mode>(i);
    if (!word.empty())
      base::warnOfEnvironment("TILE_TUNE", word,
                              "is none of off, cached, quick, full, pinned and record");
    return Mode::Cached;
  }();
  return mode;
}

} // namespace tile::tune
