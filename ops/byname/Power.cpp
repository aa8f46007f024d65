// Powers by name.
#include "ops/PairMap.h"
#include "ops/byname/Entry.h"

namespace tile::ops {
namespace {

/// a to the power b of integers, which wraps: by squaring, a bit of b after the other.
Value integerPower(Value a, Value b) {
  Value one = cast(a.dtype(), 1), zero = cast(a.dtype(), 0);
  Value result = one, square = a, rest = b;
  int bits = static_cast<int>(sizeOf(a.dtype())) * 8 - !isUnsigned(a.dtype());
  for (int bit = 0; bit < bits; ++bit) {
    result = select((rest & one) != zero, result * square, result);
    square = square * square;
    rest = rest >> one;
  }
  if (isUnsigned(a.dtype()))
    return result;
  Value ofMinusOne = select((b & one) != zero, zero - one, one);
  Value inverse = select(a == one, one, select(a == zero - one, ofMinusOne, zero));
  return select(b < zero, inverse, result);
}

struct Power {
  Value operator()(Value a, Value b) const {
    return isFloat(a.dtype()) ? pow(a, b) : integerPower(a, b);
  }
};

const bool powerOp =
    registerOp({.name = "power",
                .summary = "c = a to the power b, elementwise",
                .inputs = 2,
                .example = [](const OpSettings &settings) { return matrices(settings, 2); },
                .outputs =
                    [](Tensors in, const OpSettings &settings) {
                      return broadcastInOneDtype("power", in, settings);
                    },
                .run =
                    [](const Stream &stream, Tensors in, Tensors out, const OpSettings &) {
                      mapPair<Power>("power", {stream, Loc()}, in[0], in[1], out[0]);
                    }});

} // namespace
} // namespace tile::ops
