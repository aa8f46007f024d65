// expect-ok: <strings.h> declares an `index(const char *, int)`, which takes (0, {32}) as well.
#include <tile/tile.h>
#include <strings.h>
using namespace tile;

auto lists = kernel("lists", [](Out<i32, 1> y, Out<i32, 2> z, Const B) {
  y.tile({32})(0) = index(0, {32});
  y.tile({32u})(0) = index(0, {32u});
  y.tile({B})(0) = index(0, {B});
  y.tile({B})(0) = index(0, Shape{B});
  z.tile({B, 32})(0, 0) = index(0, {B, 32});
});
