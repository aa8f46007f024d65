// expect: an In view can only be read: declare the argument Out or InOut to store to it
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](In<f16, 1> x) { x.tile({32}).scatter(0, arange(32)) = 0; });
