// Tensors of rank 0 where an op by name works along a dimension: they have one row of one element, and dimension 0 and -1 are it.
#pragma once

#include "ops/byname/BeforeCopy.h"
#include "ops/byname/DimensionSettings.h"

#include <tile/Registry.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

inline Operand withOneDimension(const Operand &x) {
  return x && x.rank() == 0 ? x.reshaped({1}) : x;
}

/// x as rows of floats, for an op whose output y is like them: integers become those of `dtype`, if that is given, in a copy that
/// `floats` keeps.
inline Operand floatRows(const char *op, const Stream &stream, const Operand &x, const Operand &y,
                         const OpSettings &settings, Tensor &floats) {
  if (x && !isFloat(x.dtype()) && settings.has("dtype")) {
    Named from = {"x", withOneDimension(x)}, to = {"y", withOneDimension(y)};
    Arguments arguments = beforeCopy(op, stream, from, {to});
    arguments.dtypeIn(to, {f16, bf16, f32, f64});
    arguments.dimension(from, dimOf(settings));
    arguments.sameExtents(from, to);
    floats = copy(stream, x, settings.dtype("dtype", f32));
    return withOneDimension(floats);
  }
  return withOneDimension(x);
}

} // namespace tile::ops
