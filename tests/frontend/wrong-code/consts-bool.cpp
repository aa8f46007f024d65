// expect: consts(...) takes a T for a ConstOf<T> parameter: true or false, or a constant of its enum
#include <tile/tile.h>
using namespace tile;

auto copy = kernel("copy", [](In<f16, 1> x, Out<f16, 1> y, ConstOf<bool> isTwice) {
  y.tile({8})(0) = isTwice ? x.tile({8})(0) * 2 : x.tile({8})(0);
});

auto bound = copy.consts(1);
