// expect: an Out view can only be written: declare the argument InOut to read it
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](Out<f16, 1> y) { Value x = y.tile({32}).gather(0, arange(32)); });
