// expect: an InOut access was kept in `auto`: write `Value x = C.tile(...)(...)` to load the tile
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](InOut<f16, 1> y) {
  auto access = y.tile({32})(0);
  Value loaded = access;
  y.tile({32})(1) = loaded;
});
