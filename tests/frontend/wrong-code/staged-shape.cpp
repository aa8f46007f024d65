// expect: a tile's shape is made of host constants (int or Const), not of staged values: make it a Const parameter of the kernel
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](Out<f32, 1> y, Scalar<i32> n) { y.tile({n})(0) = 1; });
