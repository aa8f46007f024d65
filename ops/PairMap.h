// A function of two tensors of one dtype, element by element: what arithmetic, powers and operations on bits check and launch.
#pragma once

#include "ops/Arguments.h"

#include <tile/ops/Map.h>

namespace tile::ops {

inline constexpr std::initializer_list<DType> kNumbers = {f16, bf16, f32, f64, i8,  i16,
                                                          i32, i64,  u8,  u16, u32, u64};

/// A mask as the 0 and 1 that it has in memory, which the largest, smallest and product of such numbers leave a mask; another
/// operand is itself.
inline Operand maskAsBytes(const Operand &operand) {
  return operand.dtype() == i1 ? operand.as(u8) : operand;
}

/// c = F(a, b), with broadcasting; masks, where they are among the dtypes, reach F as numbers.
template <class F>
void mapPair(const char *op, CallSite site, const Operand &a, const Operand &b, const Operand &c,
             std::initializer_list<DType> dtypes = kNumbers) {
  Arguments arguments(op, site);
  arguments.dtypeIn({"a", a}, dtypes);
  arguments.sameDtype({"a", a}, {"b", b});
  arguments.sameDtype({"a", a}, {"c", c});
  detail::mapNamed({op, {"c", "a", "b"}}, site, F(), std::array{maskAsBytes(c)}, maskAsBytes(a),
                   maskAsBytes(b));
}

} // namespace tile::ops
