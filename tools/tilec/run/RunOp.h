// `tilec run op:NAME`: an op by name on files of arrays.
#pragma once

#include "tools/tilec/run/Session.h"

#include <tile/Registry.h>

#include <string>
#include <vector>

namespace tile::tilec {

/// `files` are those of the inputs, then one for each output and for each input that the op changes, in their order. Returns
/// the exit code.
int runOp(const SessionOptions &options, const OpEntry &op, const std::vector<std::string> &files,
          const OpSettings &settings);

} // namespace tile::tilec
