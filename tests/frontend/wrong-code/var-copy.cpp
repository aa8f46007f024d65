// expect: a Var is not copied: `Value now = v;` reads it, `auto w = var(v);` makes a second one, and a lambda that returns one says `-> Value`
// expect-lines: 20
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](Out<i32, 1> y) {
  auto a = var(1);
  auto b = a;
  y.tile({32})(0) = b;
});
