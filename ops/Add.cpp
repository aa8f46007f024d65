// Elementwise addition: one program a tile, of 1024 elements in memory order where there is one.
#include <tile/ops/Add.h>

#include "ops/Arguments.h"

#include <tile/Registry.h>
#include <tile/tile.h>

namespace tile::ops {

namespace {

const auto addRows = kernel("add", [](In<any, 1> a, In<any, 1> b, Out<any, 1> c, Const B) {
                       assume(a.dim(0) == c.dim(0)), assume(b.dim(0) == c.dim(0));
                       Value i = grid1d(c, {B});
                       c.tile({B})(i) = a.tile({B})(i) + b.tile({B})(i);
                     }).named("a", "b", "c", "B");

const auto addMatrices =
    kernel("add_strided", [](In<any, 2> a, In<any, 2> b, Out<any, 2> c, Const BM, Const BN) {
      for (int dim : {0, 1})
        assume(a.dim(dim) == c.dim(dim)), assume(b.dim(dim) == c.dim(dim));
      auto [m, n] = grid2d(c, {BM, BN});
      c.tile({BM, BN})(m, n) = a.tile({BM, BN})(m, n) + b.tile({BM, BN})(m, n);
    }).named("a", "b", "c", "BM", "BN");

constexpr int kElements = 1024, kSide = 32;

const bool registered = registerOp({
    .name = "add",
    .summary = "c = a + b, elementwise",
    .inputs = 2,
    .kernel =
        [](const OpSettings &settings) {
          auto view = exampleView(settings.dtype("dtype", f32), {settings.integer("N", 1 << 20)});
          return KernelRequest(addRows.consts(settings.integer("B", kElements)),
                               {view, view, view});
        },
    .output =
        [](std::span<const Tensor> in, const OpSettings &) {
          return TensorSpec{in[0].dtype(), {in[0].extents().begin(), in[0].extents().end()}};
        },
    .run = [](Stream &stream, std::span<const Tensor> in, const Tensor &out,
              const OpSettings &) { add(stream, in[0], in[1], out); },
});

} // namespace

void add(Stream &stream, const Operand &a, const Operand &b, const Operand &c, Loc loc) {
  Arguments arguments("add", loc);
  arguments.dtypeIn({"a", a}, {f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64});
  arguments.sameDtype({"a", a}, {"b", b}), arguments.sameDtype({"a", a}, {"c", c});
  for (Named arg : {Named{"a", a}, Named{"b", b}, Named{"c", c}})
    arguments.stridedOrContiguous(arg);
  arguments.sameExtents({"a", a}, {"b", b}), arguments.sameExtents({"a", a}, {"c", c});
  arguments.oneDevice({{"a", a}, {"b", b}, {"c", c}});
  arguments.elementsDistinct({"c", c});
  arguments.disjointOrSame({"c", c}, {"a", a}), arguments.disjointOrSame({"c", c}, {"b", b});
  if (c.numel() == 0)
    return;

  if (c.rank() == 1)
    addRows.consts(kElements)(CallSite(stream, loc), a, b, c);
  else if (a.isContiguous() && b.isContiguous() && c.isContiguous())
    addRows.consts(kElements)(CallSite(stream, loc), a.reshaped({c.numel()}),
                              b.reshaped({c.numel()}), c.reshaped({c.numel()}));
  else if (c.rank() == 2)
    addMatrices.consts(kSide, kSide)(CallSite(stream, loc), a, b, c);
}

} // namespace tile::ops
