// Environment variables. A malformed value is a warning, told once a variable, and the default is used: a program does
// not fail for what someone exported.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tile::base {

/// The value, empty if the variable is not set.
std::string environmentText(const char *name);

/// True if the variable is 1, true or on; 0, false, off or nothing is false.
bool environmentFlag(const char *name);

/// A number from `lowest` to `highest`, in decimal digits.
int64_t environmentInteger(const char *name, int64_t otherwise, int64_t lowest, int64_t highest);

/// The words of a comma list, without those for which `faultOf` returns what is wrong with them.
std::vector<std::string>
environmentList(const char *name, const std::function<std::string(std::string_view word)> &faultOf);

/// Says that a variable's value is not used: "tile: warning: NAME='value' <fault>".
void warnOfEnvironment(const char *name, std::string_view value, std::string_view fault);

} // namespace tile::base
