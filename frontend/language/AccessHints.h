// Hints of accesses, checked and recorded.
#pragma once

#include "frontend/trace/Trace.h"

#include <tile/Hinted.h>

namespace tile::frontend {

/// Refuses hints that do not go together. `what` begins the message.
void checkHints(Trace &trace, const char *what, const AccessOptions &hints, bool isLoad, Loc loc);

/// Adds the attributes of hints that say something.
void addHints(Node &node, const AccessOptions &hints);

/// Records a load; a volatile one is an effect, so that it is neither moved nor merged.
Value recordLoad(Trace &trace, Node load, const Value &address, const AccessOptions &hints);

} // namespace tile::frontend
