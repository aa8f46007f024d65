// expect: kernel() takes a lambda, not a function: call the function in a lambda with its parameters, as in kernel(name, [](In<f32, 1> x) { body(x); })
// expect-lines: 20
#include <tile/tile.h>
using namespace tile;

void body(In<f32, 1> x, Out<f32, 1> y) { y.tile({32})(0) = x.tile({32})(0); }

auto wrong = kernel("wrong", body);
