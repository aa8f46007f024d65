// expect: map takes a lambda without captures: pass numbers as arguments of map
#include <tile/ops/Map.h>
using namespace tile;

void call(const Stream &stream, const Tensor &x, float factor) {
  ops::map(
      stream, [factor](Value x) { return x * factor; }, x, x);
}
