// expect: matmul's epilogue takes a Value, the tile of sums, and returns a Value
#include <tile/ops/Matmul.h>
using namespace tile;

void call(const Stream &stream, const Tensor &x) {
  ops::matmul(stream, x, x, x, [](Value sums, Value bias) { return sums + bias; });
}
