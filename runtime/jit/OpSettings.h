// What messages say of the settings of an op.
#pragma once

#include <tile/OpSettings.h>

namespace tile::jit {

/// "settings are rate=0.01, dtype": those with a default have it.
std::string settingsText(std::span<const OpSetting> stated);

} // namespace tile::jit
