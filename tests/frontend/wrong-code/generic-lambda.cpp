// expect: a kernel's lambda names the type of each parameter: `auto` parameters are refused
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](auto y) { y.tile({32})(0) = 1; });
