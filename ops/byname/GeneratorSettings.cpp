#include "ops/byname/GeneratorSettings.h"

namespace tile::ops {

// Nobody keeps a generator between calls by name: with a seed of its own every call would draw the same numbers
// (docs/decisions/0055-seeds-are-given.md).
std::vector<OpSetting> generatorSettings() {
  return {
      OpSetting::natural("seed", 0).needed(
          "it and offset= are the state of the generator; other numbers come from another seed, "
          "or from offset= the number of elements drawn before",
          "0"),
      OpSetting::natural("offset", 0)};
}

Generator generatorOf(const OpSettings &settings) {
  return {settings.natural("seed"), settings.natural("offset")};
}

} // namespace tile::ops
