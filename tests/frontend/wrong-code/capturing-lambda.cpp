// expect: kernel() takes a lambda without captures: pass host numbers as Const parameters, or use kernel_capturing(key, name, lambda)
#include <tile/tile.h>
using namespace tile;

auto make(int n) {
  return kernel("wrong", [n](Out<i32, 1> y) { y.tile({32})(0) = n; });
}
