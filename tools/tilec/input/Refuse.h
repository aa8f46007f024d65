// Refuses what the user of the command has asked for: the command prints one line and exits with 2.
#pragma once

#include <tile/Error.h>

#include <string>

namespace tile::tilec {

[[noreturn]] inline void refuse(const std::string &message) {
  throw Error(Fault::User, ErrorCode::InvalidArgument, message);
}

} // namespace tile::tilec
