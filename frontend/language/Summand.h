// What blocks and programs add up.
#pragma once

#include "frontend/trace/Trace.h"

namespace tile::frontend {

/// A tile of a dtype that is added up; `op` is whose. Errors: what is no value, a scalar, another dtype, a combine function.
Value summand(Trace &trace, const std::string &op, const Arg &x, Loc loc);

} // namespace tile::frontend
