// Calls of every op by name that tests make: small ones, from what the registry says of the op.
#pragma once

#include <tile/Registry.h>

#include <map>
#include <string>
#include <vector>

namespace tile::test {

/// Settings that keep an op small: extents in thousands become this one, and what has more elements 5000.
std::map<std::string, std::string> smallSettings(const OpEntry &op, const std::string &extent);

/// Inputs of an op for these settings; of those whose kernel is named directly matrices of this extent.
std::vector<TensorSpec> exampleInputs(const OpEntry &op, const OpSettings &settings,
                                      int64_t extent);

} // namespace tile::test
