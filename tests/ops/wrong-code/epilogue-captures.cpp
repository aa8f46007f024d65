// expect: matmul takes an epilogue lambda without captures
#include <tile/ops/Matmul.h>
using namespace tile;

void call(const Stream &stream, const Tensor &x, float factor) {
  ops::matmul(stream, x, x, x, [factor](Value sums) { return sums * factor; });
}
