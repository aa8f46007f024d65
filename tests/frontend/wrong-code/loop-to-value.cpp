// expect: a loop up to a staged n is for (auto i : range(n))
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](Scalar<i32> n) {
  for (int j = 0; j < n; ++j)
    ;
});
