// Operands of accesses through pointers: the pointers themselves, and what must fit their shape.
#pragma once

#include "frontend/language/Promotion.h"

namespace tile::frontend {

/// The type of a pointer operand; anything else is an error.
TileType pointerType(Trace &trace, const char *op, const Arg &pointer, Loc loc);

/// A mask or value of exactly this dtype (host numbers adapt) in the pointers' shape, which never
/// grows. `what` names it in messages.
Value fitted(Trace &trace, const char *op, const char *what, const Arg &operand, DType dtype,
             const Shape &shape, Loc loc);

} // namespace tile::frontend
