// The state of a generator of random numbers as settings.
#pragma once

#include <tile/Registry.h>
#include <tile/ops/Random.h>

namespace tile::ops {

/// `seed`, which must be given, and `offset`.
std::vector<OpSetting> generatorSettings();
Generator generatorOf(const OpSettings &settings);

} // namespace tile::ops
