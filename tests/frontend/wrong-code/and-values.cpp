// expect: a staged value has no truth value while tracing: use select(c, a, b), if_(c, ...), or & | ~ on i1 values
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](Out<i32, 1> y, Scalar<i32> n) {
  if_(n > 0 && n < 9, [&] { y.tile({32})(0) = n; });
});
