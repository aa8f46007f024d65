#include "ops/byname/Entry.h"

#include "ops/NewTensor.h"

namespace tile::ops {

Specs broadcast(const char *op, const char *first, const char *second, Tensors in,
                const OpSettings &settings) {
  Operand a = in[0], b = in[1];
  Extents extents = broadcastExtents(rulesOf(op), {first, a}, {second, b});
  auto list = extents.span();
  return {{settings.dtype("dtype", in[0].dtype()), {list.begin(), list.end()}}};
}

Specs broadcastInOneDtype(const char *op, Tensors in, const OpSettings &settings) {
  Specs specs = broadcast(op, "a", "b", in, settings);
  if (specs[0].dtype != in[0].dtype())
    rulesOf(op).fail(ErrorCode::InvalidArgument, std::string("dtype=") + nameOf(specs[0].dtype) +
                                                     ", but a is " + Operand(in[0]).str() +
                                                     ": all tensors have one dtype");
  return specs;
}

} // namespace tile::ops
