// expect: an Out view can only be written, and this would read it: declare the argument InOut
// expect-lines: 20
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel(
    "wrong", [](In<f32, 1> x, Out<f32, 1> y) { atomic_add(y.tile({32})(0), x.tile({32})(0)); });
