// Softmax of rows: a row that fits a tile is read once; a longer one is swept twice, by an online
// softmax that keeps one maximum and one sum a column of the tile.
#include <tile/ops/Softmax.h>

#include "ops/Arguments.h"
#include "ops/Rows.h"

#include <tile/Registry.h>

#include <limits>

namespace tile::ops {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const auto softmaxOnePass =
    kernel("softmax", [](In<any, 2> x, Out<any, 2> y, Const Rows, Const Columns) {
      Value r = grid1d(y, {Rows});
      Value row = cast(f32, x.tile({Rows, Columns}).pad(-kInfinity)(r, 0));
      y.tile({Rows, Columns})(r, 0) = cast(y.dtype(), softmax(row, 1));
    }).named("x", "y", "Rows", "Columns");

/// exp(x - m), where a maximum of -infinity, which means "nothing seen yet", counts as 0.
Value shiftedExp(Value x, Value m) { return exp(x - select(m == -kInfinity, 0.0f, m)); }

const auto softmaxTwoPasses =
    kernel("softmax_long", [](In<any, 2> x, Out<any, 2> y, Const Columns) {
      Value r = grid1d(y, {1});
      auto largest = var(full(f32, {1, Columns}, -kInfinity));
      auto total = var(zeros(f32, {1, Columns}));
      for (auto k : range(cdiv(x.dim(1), Columns))) {
        Value part = cast(f32, x.tile({1, Columns}).pad(-kInfinity)(r, k));
        Value now = max(largest, part);
        total = total * shiftedExp(largest, now) + shiftedExp(part, now);
        largest = now;
      }
      Value m = reduce_max(largest, 1, {.keep_dims = true});
      Value sums = sum(total * shiftedExp(largest, m), 1, {.keep_dims = true});
      for (auto k : range(cdiv(x.dim(1), Columns))) {
        Value part = cast(f32, x.tile({1, Columns})(r, k));
        y.tile({1, Columns})(r, k) = cast(y.dtype(), shiftedExp(part, m) / sums);
      }
    }).named("x", "y", "Columns");

void launchSoftmax(CallSite site, const Operand &x, const Operand &y) {
  if (y.extent(1) > kLongestTile) {
    softmaxTwoPasses.consts(kSweptColumns).warps(8)(site, x, y);
    return;
  }
  RowTile shape(y.extent(1));
  softmaxOnePass.consts(shape.rows, shape.columns).warps(shape.warps)(site, x, y);
}

const bool registered = registerOp({
    .name = "softmax",
    .summary = "softmax of the rows of a matrix",
    .inputs = 1,
    .kernel =
        [](const OpSettings &settings) {
          int64_t columns = settings.integer("N", 1024);
          auto view =
              exampleView(settings.dtype("dtype", f32), {settings.integer("M", 4096), columns});
          if (columns > kLongestTile)
            return KernelRequest(softmaxTwoPasses.consts(kSweptColumns).warps(8), {view, view});
          RowTile shape(columns);
          return KernelRequest(softmaxOnePass.consts(shape.rows, shape.columns).warps(shape.warps),
                               {view, view});
        },
    .output =
        [](std::span<const Tensor> in, const OpSettings &settings) {
          return TensorSpec{settings.dtype("dtype", in[0].dtype()),
                            {in[0].extents().begin(), in[0].extents().end()}};
        },
    .run = [](Stream &stream, std::span<const Tensor> in, const Tensor &out,
              const OpSettings &) { softmax(stream, in[0], out); },
});

} // namespace

void softmax(Stream &stream, const Operand &x, const Operand &y, Loc loc) {
  Arguments arguments("softmax", loc);
  arguments.dtypeIn({"x", x}, {f16, bf16, f32}), arguments.dtypeIn({"y", y}, {f16, bf16, f32});
  arguments.hasRows({"x", x});
  arguments.sameExtents({"x", x}, {"y", y});
  arguments.oneDevice({{"x", x}, {"y", y}});
  arguments.elementsDistinct({"y", y});
  arguments.disjoint({"y", y}, {"x", x});
  if (y.numel() == 0)
    return;
  CallSite site(stream, loc);
  OutputRows rows(site, y);
  launchSoftmax(site, InputRows(site, x), rows);
  rows.finish(site);
}

} // namespace tile::ops
