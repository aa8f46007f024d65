// expect: a tile of a view takes one index for each dimension of the view
// expect-lines: 20
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](In<f32, 1> x, Out<f32, 1> y) {
  Value i = grid1d(y, {32});
  y.tile({32})(i) = x.tile({32}).offset(i, 3);
});
