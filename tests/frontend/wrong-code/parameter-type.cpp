// expect: a kernel's parameters are In<dtype, rank>, Out<dtype, rank>, InOut<dtype, rank>, Scalar<dtype>, Const or ConstOf<T>, taken by value
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](Out<i32, 1> y, int n) { y.tile({32})(0) = n; });
