// Kernels that the tests of the C API and of the Python module load as a library.
#include <tile/tile.h>

using namespace tile;

auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> by, Const B) {
               Value i = grid1d(y, {B});
               y.tile({B})(i) = x.tile({B})(i) * by;
             }).named("x", "y", "by", "B");

// Its parameters have no names but those in this source.
auto twice = kernel("twice", [](In<any, 2> from, Out<any, 2> to, Const BM, Const BN) {
  auto [m, n] = grid2d(to, {BM, BN});
  to.tile({BM, BN})(m, n) = from.tile({BM, BN})(m, n) + from.tile({BM, BN})(m, n);
});

// Writes scalars of several types, as they arrive, into one row.
auto scalars = kernel("scalars", [](Out<f64, 1> y, Scalar<i8> a, Scalar<u8> b, Scalar<u64> c,
                                    Scalar<f16> d, Scalar<f64> e, Scalar<i1> f) {
                 y.tile({1})(0) = cast(f64, a);
                 y.tile({1})(1) = cast(f64, b);
                 y.tile({1})(2) = cast(f64, c);
                 y.tile({1})(3) = cast(f64, d);
                 y.tile({1})(4) = e;
                 y.tile({1})(5) = cast(f64, f);
               }).named("y", "a", "b", "c", "d", "e", "f");

// Writes the index of each program: the grid is the caller's.
auto programs = kernel("programs", [](Out<i32, 1> y) {
                  y.tile({1})(program_id(0)) = program_id(0);
                }).named("y");

// Stores behind the end of what it is given.
auto beyond = kernel("beyond", [](Out<f32, 1> y) { store(y.ptr() + 1000000, 1.0f); }).named("y");

auto tuned = kernel("tuned",
                    [](In<f32, 1> x, Out<f32, 1> y, Const B) {
                      Value i = grid1d(y, {B});
                      y.tile({B})(i) = x.tile({B})(i) + 1.0f;
                    })
                 .named("x", "y", "B")
                 .tunable("B", {128, 256})
                 .tunable("warps", {1, 2});
