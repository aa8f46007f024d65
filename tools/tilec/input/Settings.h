// The words of a command line that are shared by commands: op:NAME and NAME=VALUE.
#pragma once

#include <tile/Registry.h>

#include <string>
#include <vector>

namespace tile::tilec {

/// The op that a word "op:NAME" names, or null for other words. Error: InvalidArgument listing the
/// ops there are.
const OpEntry *opOf(const std::string &word);

/// Splits words into NAME=VALUE settings, which leave the list, and the rest. Error:
/// InvalidArgument for a name given twice.
OpSettings takeSettings(std::vector<std::string> &words);

/// Throws InvalidArgument if a setting was given that nothing asked for, listing what is asked for.
void refuseUnused(const OpSettings &settings);

} // namespace tile::tilec
