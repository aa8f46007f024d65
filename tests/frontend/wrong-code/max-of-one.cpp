// expect: max(a, b) compares two operands element by element: the largest element of a tile is reduce_max(x)
// expect-lines: 15
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](In<f32, 1> x) {
  Value t = x.tile({32})(0);
  max(t);
});
