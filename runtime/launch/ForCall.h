// Where the errors of a call are.
#pragma once

#include "runtime/device/Caller.h"

#include <tile/Error.h>

#include <string>
#include <utility>
#include <vector>

namespace tile::launch {

/// Does what a call asks for. What is wrong with its arguments is at its line; what is wrong with the kernel is at a line
/// of the kernel, and says where the call is.
template <class Act> void forCall(Loc call, Act act) {
  try {
    act();
  } catch (const Error &error) {
    if (!call.line ||
        device::CallerScope::current()) // whose line is the program's, and ours the op's
      throw;
    std::vector<std::string> notes = error.notes();
    if (error.file().empty())
      throw Error(error.fault(), error.code(), error.message(), call, std::move(notes));
    notes.push_back("called at " + std::string(call.file) + ":" + std::to_string(call.line));
    throw Error(error.fault(), error.code(), error.message(), {error.file().c_str(), error.line()},
                std::move(notes));
  }
}

} // namespace tile::launch
