// expect: matmul takes, after c, options or an epilogue: a precision is written as {.precision = Precision::tf32}
#include <tile/ops/Matmul.h>
using namespace tile;

void call(const Stream &stream, const Tensor &x) { ops::matmul(stream, x, x, x, Precision::tf32); }
