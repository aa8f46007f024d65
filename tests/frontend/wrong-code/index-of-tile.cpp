// expect: a tile has no elements to index: load one of a tensor, x.tile({1})(i), or pick one of a tile by sum(select(arange(n) == i, tile, 0))
// expect-lines: 15
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](In<f32, 1> x) {
  Value t = x.tile({32})(0);
  t[0];
});
