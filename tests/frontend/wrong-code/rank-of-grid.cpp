// expect: grid2d covers a view of rank 2
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](Out<f32, 1> y) { grid2d(y, {32, 32}); });
