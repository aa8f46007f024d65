// expect: consts(...) takes an integer for a Const parameter
#include <tile/tile.h>
using namespace tile;

auto copy =
    kernel("copy", [](In<f16, 1> x, Out<f16, 1> y, Const B) { y.tile({B})(0) = x.tile({B})(0); });

auto bound = copy.consts(1.5);
