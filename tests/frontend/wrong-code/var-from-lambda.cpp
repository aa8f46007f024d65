// expect: and a lambda that returns one says `-> Value`
// expect-lines: 20
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](In<i32, 1> x, Scalar<i32> n) {
  auto go = var(n > 0);
  while_([&] { return go; }, [&] { go = n > 1; });
});
