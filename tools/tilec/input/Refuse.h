// How the command refuses what its user has asked for: exit code 2 and one line.
#pragma once

#include <tile/Error.h>

#include <string>

namespace tile::tilec {

[[noreturn]] inline void refuse(const std::string &message) {
  throw Error(Fault::User, ErrorCode::InvalidArgument, message);
}

} // namespace tile::tilec
