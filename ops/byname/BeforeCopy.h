// What ops by name check that take integers by a copy as floats. A call that is refused launches nothing, so all that is to be said of the
// outputs is said before the copy; the op itself sees the copy, and outputs that are right.
#pragma once

#include "ops/Arguments.h"

namespace tile::ops {

/// Begins the checks of such a call: its tensors are where the stream can reach them, and no output repeats elements.
inline Arguments beforeCopy(const char *op, const Stream &stream, Named x,
                            std::initializer_list<Named> outputs) {
  Arguments arguments(op, {stream, Loc()});
  arguments.accessible({x});
  for (Named output : outputs) {
    arguments.given(output);
    arguments.accessible({output});
    arguments.elementsDistinct(output);
  }
  return arguments;
}

} // namespace tile::ops
