// expect: a view has no operator []: one element is x.tile({1})(i)
// expect-lines: 15
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](In<f32, 1> x) { x[0]; });
