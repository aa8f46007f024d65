// Reductions and products of any number of tensors, by name.
#include "ops/EinsumFormula.h"
#include "ops/byname/DimensionSettings.h"
#include "ops/byname/Entry.h"
#include "ops/byname/ProductSettings.h"

#include <tile/ops/Einsum.h>
#include <tile/ops/Matmul.h>

#include <algorithm>

namespace tile::ops {
namespace {

// --- Reductions ----------------------------------------------------------------------------------

/// What reductions take.
OpSetting sumDtype() {
  return OpSetting::dtype("dtype", {f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64});
}

/// Floats of one dtype become those of another; integers stay what they are.
DType dtypeOfSums(const char *op, const Tensor &x, const OpSettings &settings) {
  DType dtype = settings.dtype("dtype", x.dtype());
  if (dtype != x.dtype() && (!isFloat(dtype) || !isFloat(x.dtype())))
    rulesOf(op).fail(ErrorCode::InvalidArgument, std::string("dtype=") + nameOf(dtype) +
                                                     ", but x is " + Operand(x).str() +
                                                     ": both are floats, or of one dtype");
  return dtype;
}

/// x without the reduced dimensions, or with 1 in their place. The op itself refuses axes that are none.
Specs reduced(const char *op, Tensors in, const OpSettings &settings) {
  const Tensor &x = in[0];
  std::vector<int64_t> axes;
  if (settings.has("axes"))
    axes = settings.integers("axes");
  bool isAll = !settings.has("axes"), keepsDims = settings.flag("keep_dims");
  TensorSpec spec{dtypeOfSums(op, x, settings), {}};
  for (int dim = 0; dim < x.rank(); ++dim) {
    bool isReduced =
        isAll || std::ranges::count(axes, dim) || std::ranges::count(axes, dim - x.rank());
    if (!isReduced || keepsDims)
      spec.extents.push_back(isReduced ? 1 : x.extent(dim));
  }
  return {spec};
}

/// What `shape` says, if it could have been broadcast to x.
Specs summedTo(Tensors in, const OpSettings &settings) {
  Arguments rules = rulesOf("sum_to");
  std::vector<int64_t> shape = settings.integers("shape");
  if (shape.size() > kMaxRank)
    rules.fail(ErrorCode::InvalidShape, "shape has " + std::to_string(shape.size()) +
                                            " extents; a tensor has 0 to " +
                                            std::to_string(kMaxRank));
  Operand x = in[0];
  const int64_t strides[kMaxRank] = {};
  Operand result = x.strided(shape, std::span(strides).first(shape.size()));
  if (!result.broadcastsTo(x))
    rules.fail(ErrorCode::InvalidShape,
               "shape is " + result.shapeStr() + ", but x is " + x.str() +
                   ": counted from the last, each extent must be 1 or equal");
  return {{dtypeOfSums("sum_to", in[0], settings), shape}};
}

using Reduction = void (*)(const Stream &, const Operand &, const Axes &, const Operand &, Loc);
bool reduction(const char *name, const char *summary, Reduction function) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 1,
       .settings = {axesSetting(), OpSetting::flag("keep_dims", false), sumDtype()},
       .example = [](const OpSettings &settings) { return matrices(settings, 1); },
       .outputs = [name](Tensors in,
                         const OpSettings &settings) { return reduced(name, in, settings); },
       .run =
           [function](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
             function(stream, in[0], axesOf(settings, in[0]), out[0], Loc());
           }});
}

const bool reductions =
    reduction("sum", "the sum over `axes`", sum) &&
    reduction("mean", "the mean over `axes`", mean) &&
    reduction("reduce_max", "the largest over `axes`", reduceMax) &&
    reduction("reduce_min", "the smallest over `axes`", reduceMin) &&
    reduction("sum_of_squares", "the sum of squares over `axes`", sumOfSquares) &&
    registerOp({.name = "sum_to",
                .summary = "the sum over what `shape` was broadcast along",
                .inputs = 1,
                .settings = {OpSetting::integers("shape").from(0).needed(
                                 "the extents of the result, as shape=4x1024", "1"),
                             sumDtype()},
                .example = [](const OpSettings &settings) { return matrices(settings, 1); },
                .outputs = summedTo,
                .run = [](const Stream &stream, Tensors in, Tensors out,
                          const OpSettings &) { sumTo(stream, in[0], out[0]); }});

// --- Products ------------------------------------------------------------------------------------

std::vector<OpSetting> withDtype(std::vector<OpSetting> settings) {
  settings.push_back(floatDtype());
  return settings;
}

const bool linearLayer = registerOp(
    {.name = "linear",
     .summary = "y = x weight^T + bias",
     .inputs = 2,
     .optionalInputs = 1,
     .settings = withDtype(productSettings()),
     .example =
         [](const OpSettings &settings) {
           DType dtype = settings.dtype("dtype", f16);
           int64_t rows = settings.extent("M", 4096), outputs = settings.extent("N", 4096),
                   inputs = settings.extent("K", 4096);
           return Specs{{dtype, {rows, inputs}}, {dtype, {outputs, inputs}}, {dtype, {outputs}}};
         },
     .outputs =
         [](Tensors in, const OpSettings &settings) {
           std::vector<int64_t> extents = rowsOf(in[0]);
           extents.push_back(in[1].rank() > 0 ? in[1].extent(0) : 1);
           return Specs{
               {settings.dtype("dtype", isFloat8(in[0].dtype()) ? f32 : in[0].dtype()), extents}};
         },
     .run =
         [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
           linear(stream, in[0], in[1], given(in, 2), out[0], productOptionsOf(settings));
         }});

std::vector<OpSetting> einsumSettings() {
  std::vector<OpSetting> settings = withDtype(productSettings());
  settings.insert(settings.begin(),
                  OpSetting::text("formula").needed(
                      "the letters of the tensors' dimensions, as ij,jk->ik", "ij,jk->ik"));
  return settings;
}

const bool einsums = registerOp(
    {.name = "einsum",
     .summary = "the sum of products that `formula` says, as ij,jk->ik",
     .inputs = 1,
     .optionalInputs = kMostEinsumOperands - 1,
     .settings = einsumSettings(),
     .example =
         [](const OpSettings &settings) {
           int64_t extent = settings.extent("N", 1024);
           return Specs(2, {settings.dtype("dtype", f16), {extent, extent}});
         },
     .outputs =
         [](Tensors in, const OpSettings &settings) {
           std::vector<Operand> operands(in.begin(), in.end());
           std::string text = settings.text("formula");
           Arguments rules = rulesOf("einsum");
           EinsumFormula formula(text, operands, rules);
           TensorSpec spec{settings.dtype("dtype", in[0].dtype()), {}};
           for (Label label : formula.output().span())
             spec.extents.push_back(formula.extent(label));
           return Specs{spec};
         },
     .run =
         [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
           std::vector<Operand> operands(in.begin(), in.end());
           einsum(stream, settings.text("formula"), operands, out[0], productOptionsOf(settings));
         }});

} // namespace
} // namespace tile::ops
