// expect: delete
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](Out<i32, 1> y) {
  auto a = var(1);
  auto b = a;
  y.tile({32})(0) = b;
});
