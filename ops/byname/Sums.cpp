// Reductions and products of any number of tensors, by name.
#include "ops/Arguments.h"
#include "ops/EinsumFormula.h"
#include "ops/byname/Entry.h"
#include "ops/byname/ProductSettings.h"

#include <tile/ops/Einsum.h>
#include <tile/ops/Matmul.h>
#include <tile/ops/Reduce.h>

#include <algorithm>

namespace tile::ops {
namespace {

// --- Reductions ----------------------------------------------------------------------------------

/// `axes=0,2`; all unless given.
Axes axesOf(const OpSettings &settings) {
  if (settings.text("axes", "").empty())
    return {};
  std::vector<int> axes;
  for (int64_t axis : settings.integers("axes", {}))
    axes.push_back(static_cast<int>(axis));
  return Axes(std::span<const int>(axes));
}

/// x without the reduced dimensions, or with 1 in their place. The op itself refuses axes that are none.
Specs reduced(Tensors in, const OpSettings &settings) {
  Axes axes = axesOf(settings);
  bool keepsDims = settings.flag("keep_dims", false);
  TensorSpec spec{settings.dtype("dtype", in[0].dtype()), {}};
  for (int dim = 0; dim < in[0].rank(); ++dim) {
    std::span<const int> list(axes.list, static_cast<size_t>(axes.count));
    bool isReduced =
        axes.isAll || std::ranges::count(list, dim) || std::ranges::count(list, dim - in[0].rank());
    if (!isReduced || keepsDims)
      spec.extents.push_back(isReduced ? 1 : in[0].extent(dim));
  }
  return {spec};
}

using Reduction = void (*)(const Stream &, const Operand &, const Axes &, const Operand &, Loc);
bool reduction(const char *name, const char *summary, Reduction function) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 1,
       .example = [](const OpSettings &settings) { return matrices(settings, 1); },
       .outputs = reduced,
       .run =
           [function](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
             function(stream, in[0], axesOf(settings), out[0], Loc());
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
                .example = [](const OpSettings &settings) { return matrices(settings, 1); },
                .outputs =
                    [](Tensors in, const OpSettings &settings) {
                      return Specs{{settings.dtype("dtype", in[0].dtype()),
                                    settings.integers("shape", {1})}};
                    },
                .run = [](const Stream &stream, Tensors in, Tensors out,
                          const OpSettings &) { sumTo(stream, in[0], out[0]); }});

// --- Products ------------------------------------------------------------------------------------

MatmulOptions optionsOf(const OpSettings &settings) {
  return {.precision = precisionOf(settings), .fastAccumulation = settings.flag("fast", false)};
}

const bool linearLayer = registerOp(
    {.name = "linear",
     .summary = "y = x weight^T + bias",
     .inputs = 2,
     .optionalInputs = 1,
     .example =
         [](const OpSettings &settings) {
           DType dtype = settings.dtype("dtype", f16);
           int64_t rows = settings.integer("M", 4096), outputs = settings.integer("N", 4096),
                   inputs = settings.integer("K", 4096);
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
           linear(stream, in[0], in[1], given(in, 2), out[0], optionsOf(settings));
         }});

std::string formulaOf(const OpSettings &settings) { return settings.text("formula", "ij,jk->ik"); }

const bool einsums =
    registerOp({.name = "einsum",
                .summary = "the sum of products that `formula` says, as ij,jk->ik",
                .inputs = 1,
                .optionalInputs = kMostEinsumOperands - 1,
                .example =
                    [](const OpSettings &settings) {
                      int64_t extent = settings.integer("N", 1024);
                      return Specs(2, {settings.dtype("dtype", f16), {extent, extent}});
                    },
                .outputs =
                    [](Tensors in, const OpSettings &settings) {
                      std::vector<Operand> operands(in.begin(), in.end());
                      std::string text = formulaOf(settings);
                      Stream none; // only the words of errors are asked for
                      Arguments arguments("einsum", {none, Loc()});
                      EinsumFormula formula(text, operands, arguments);
                      TensorSpec spec{settings.dtype("dtype", in[0].dtype()), {}};
                      for (Label label : formula.output().span())
                        spec.extents.push_back(formula.extent(label));
                      return Specs{spec};
                    },
                .run =
                    [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
                      std::vector<Operand> operands(in.begin(), in.end());
                      einsum(stream, formulaOf(settings), operands, out[0], optionsOf(settings));
                    }});

} // namespace
} // namespace tile::ops
