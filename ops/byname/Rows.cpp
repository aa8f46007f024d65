// What is computed of rows, by name: softmax, norms and their gradients, cross-entropy.
#include "ops/byname/DimensionSettings.h"
#include "ops/byname/Entry.h"
#include "ops/byname/RankZero.h"

#include <tile/ops/CrossEntropy.h>
#include <tile/ops/Norm.h>
#include <tile/ops/Softmax.h>

namespace tile::ops {
namespace {

template <class F> bool softmaxOf(const char *name, const char *summary, F function) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 1,
       .settings = {dimSetting(), floatDtype()},
       .example = [](const OpSettings &settings) { return matrices(settings, 1); },
       .outputs = likeFirst,
       .run =
           [=](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
             Tensor floats;
             function(stream, floatRows(name, stream, in[0], out[0], settings, floats),
                      withOneDimension(out[0]), dimOf(settings));
           }});
}

const bool softmaxes =
    softmaxOf("softmax", "softmax along `dim`, the last unless it is given",
              [](const Stream &stream, const auto &...given) { softmax(stream, given...); }) &&
    softmaxOf("log_softmax", "the logarithm of softmax, along `dim`",
              [](const Stream &stream, const auto &...given) { logSoftmax(stream, given...); });

template <class F> bool softmaxGradient(const char *name, const char *summary, F function) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 2,
       .settings = {dimSetting()},
       .example = [](const OpSettings &settings) { return matrices(settings, 2); },
       .outputs =
           [](Tensors in, const OpSettings &) {
             return Specs{{in[1].dtype(), extentsOf(in[1])}};
           },
       .run =
           [function](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
             function(stream, withOneDimension(in[0]), withOneDimension(in[1]),
                      withOneDimension(out[0]), dimOf(settings), Loc());
           }});
}
using SoftmaxGradient = void (*)(const Stream &, const Operand &, const Operand &, const Operand &,
                                 int, Loc);
const bool softmaxGradients =
    softmaxGradient("softmax_backward", "dx of dy and y, for softmax",
                    static_cast<SoftmaxGradient>(softmaxBackward)) &&
    softmaxGradient("log_softmax_backward", "dx of dy and y, for log_softmax",
                    static_cast<SoftmaxGradient>(logSoftmaxBackward));

// --- Norms ---------------------------------------------------------------------------------------

std::vector<OpSetting> normSettings() {
  return {OpSetting::number("epsilon", 1e-5), OpSetting::flag("statistics", false)};
}
double epsilonOf(const OpSettings &settings) { return settings.number("epsilon"); }

/// One of the norms by name, of the rows of a matrix, with a weight and, if centred, a bias.
OpEntry normEntry(const char *name, const char *summary, bool isCentred) {
  return {.name = name,
          .summary = summary,
          .inputs = 1,
          .optionalInputs = isCentred ? 2 : 1,
          .settings = normSettings(),
          .example =
              [isCentred](const OpSettings &settings) {
                Specs specs = matrices(settings, 1);
                TensorSpec row{specs[0].dtype, {specs[0].extents[1]}};
                specs.insert(specs.end(), isCentred ? 2 : 1, row);
                return specs;
              },
          .outputs =
              [isCentred](std::span<const Tensor> in, const OpSettings &settings) {
                std::vector specs = {TensorSpec::of(in[0])};
                if (settings.flag("statistics"))
                  specs.resize(isCentred ? 3 : 2, {f32, rowsOf(in[0])});
                return specs;
              },
          .run =
              [isCentred](const Stream &stream, std::span<const Tensor> in,
                          std::span<const Tensor> out, const OpSettings &settings) {
                double epsilon = epsilonOf(settings);
                if (isCentred)
                  layernorm(stream, in[0], given(in, 1), given(in, 2), epsilon, out[0],
                            given(out, 1), given(out, 2));
                else
                  rmsnorm(stream, in[0], given(in, 1), epsilon, out[0], given(out, 1));
              }};
}
const bool norms =
    registerOp(normEntry("layernorm", "layer normalisation of rows: x, weight, bias", true)) &&
    registerOp(normEntry("rmsnorm", "root-mean-square normalisation of rows: x, weight", false));

/// x and residual, then weight and bias as far as `vectors` say.
Specs normExample(const OpSettings &settings, size_t matrixCount, size_t vectors) {
  Specs specs = matrices(settings, matrixCount);
  specs.resize(matrixCount + vectors, {specs[0].dtype, {specs[0].extents[1]}});
  return specs;
}

/// The outputs, and with `statistics` what the gradient needs of each row, in f32.
Specs normOutputs(Tensors in, const OpSettings &settings, size_t outputs, size_t statistics) {
  Specs specs(outputs, {in[0].dtype(), extentsOf(in[0])});
  if (settings.flag("statistics"))
    specs.resize(outputs + statistics, {f32, rowsOf(in[0])});
  return specs;
}

const bool addNorms =
    registerOp(
        {.name = "add_layernorm",
         .summary = "sum = x + residual, and layernorm of the sum",
         .inputs = 2,
         .optionalInputs = 2,
         .settings = normSettings(),
         .example = [](const OpSettings &settings) { return normExample(settings, 2, 2); },
         .outputs = [](Tensors in,
                       const OpSettings &settings) { return normOutputs(in, settings, 2, 2); },
         .run =
             [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
               addLayernorm(stream, in[0], in[1], given(in, 2), given(in, 3), epsilonOf(settings),
                            out[0], out[1], given(out, 2), given(out, 3));
             }}) &&
    registerOp(
        {.name = "add_rmsnorm",
         .summary = "sum = x + residual, and rmsnorm of the sum",
         .inputs = 2,
         .optionalInputs = 1,
         .settings = normSettings(),
         .example = [](const OpSettings &settings) { return normExample(settings, 2, 1); },
         .outputs = [](Tensors in,
                       const OpSettings &settings) { return normOutputs(in, settings, 2, 1); },
         .run =
             [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
               addRmsnorm(stream, in[0], in[1], given(in, 2), epsilonOf(settings), out[0], out[1],
                          given(out, 2));
             }});

/// dy and x, `statistics` vectors of the rows, and a weight.
Specs gradientExample(const OpSettings &settings, size_t statistics) {
  Specs specs = matrices(settings, 2);
  specs.resize(2 + statistics, {f32, {specs[0].extents[0]}});
  specs.push_back({specs[0].dtype, {specs[0].extents[1]}});
  return specs;
}

/// dx, then so many gradients of vectors, in the weight's dtype, which is the input of that number.
Specs gradientOutputs(Tensors in, size_t weight, size_t vectors) {
  Specs specs = {{in[1].dtype(), extentsOf(in[1])}};
  DType dtype = weight < in.size() ? in[weight].dtype() : in[1].dtype();
  specs.resize(1 + vectors, {dtype, {in[1].rank() ? in[1].extents().back() : 1}});
  return specs;
}

const bool normGradients =
    registerOp({.name = "layernorm_backward",
                .summary = "dx, dweight and dbias of dy, x, mean, rstd and weight, for layernorm",
                .inputs = 4,
                .optionalInputs = 1,
                .example = [](const OpSettings &settings) { return gradientExample(settings, 2); },
                .outputs = [](Tensors in, const OpSettings &) { return gradientOutputs(in, 4, 2); },
                .run =
                    [](const Stream &stream, Tensors in, Tensors out, const OpSettings &) {
                      layernormBackward(stream, in[0], in[1], given(in, 4), in[2], in[3], out[0],
                                        out[1], out[2]);
                    }}) &&
    registerOp({.name = "rmsnorm_backward",
                .summary = "dx and dweight of dy, x, rstd and weight, for rmsnorm",
                .inputs = 3,
                .optionalInputs = 1,
                .example = [](const OpSettings &settings) { return gradientExample(settings, 1); },
                .outputs = [](Tensors in, const OpSettings &) { return gradientOutputs(in, 3, 1); },
                .run =
                    [](const Stream &stream, Tensors in, Tensors out, const OpSettings &) {
                      rmsnormBackward(stream, in[0], in[1], given(in, 3), in[2], out[0], out[1]);
                    }});

// --- Cross-entropy -------------------------------------------------------------------------------

std::vector<OpSetting> crossEntropySettings() {
  const CrossEntropyOptions options;
  return {OpSetting::word("reduction", {"mean", "none", "sum"}),
          OpSetting::integer("ignore_index", options.ignoreIndex),
          OpSetting::integer("classes", options.classes).from(0),
          OpSetting::number("label_smoothing", options.labelSmoothing)};
}

CrossEntropyOptions crossEntropyOptionsOf(const OpSettings &settings) {
  std::string reduction = settings.text("reduction");
  CrossEntropyOptions options;
  options.reduction = reduction == "none"  ? LossReduction::None
                      : reduction == "sum" ? LossReduction::Sum
                                           : LossReduction::Mean;
  options.ignoreIndex = settings.integer("ignore_index");
  options.classes = settings.integer("classes");
  options.labelSmoothing = settings.number("label_smoothing");
  return options;
}

std::vector<OpSetting> withStatistics(std::vector<OpSetting> settings) {
  settings.push_back(OpSetting::flag("statistics", false));
  return settings;
}

Specs lossExample(const OpSettings &settings) {
  Specs specs = matrices(settings, 1);
  specs.push_back({settings.dtype("targets", i64), {specs[0].extents[0]}});
  return specs;
}

const bool crossEntropies =
    registerOp({.name = "cross_entropy",
                .summary = "the loss of logits and targets",
                .inputs = 2,
                .settings = withStatistics(crossEntropySettings()),
                .example = lossExample,
                .outputs =
                    [](Tensors in, const OpSettings &settings) {
                      DType dtype = in[0].dtype() == f64 ? f64 : f32;
                      bool isReduced =
                          crossEntropyOptionsOf(settings).reduction != LossReduction::None;
                      Specs specs = {{dtype, isReduced ? std::vector<int64_t>() : rowsOf(in[0])}};
                      if (settings.flag("statistics"))
                        specs.push_back({dtype, rowsOf(in[0])});
                      return specs;
                    },
                .run =
                    [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
                      crossEntropy(stream, in[0], in[1], out[0], given(out, 1),
                                   crossEntropyOptionsOf(settings));
                    }}) &&
    registerOp({.name = "cross_entropy_backward",
                .summary = "dlogits of dloss, logits, targets and the statistics of cross_entropy",
                .inputs = 4,
                .settings = crossEntropySettings(),
                .example =
                    [](const OpSettings &settings) {
                      Specs loss = lossExample(settings);
                      DType dtype = loss[0].dtype == f64 ? f64 : f32;
                      return Specs{{dtype, {}}, loss[0], loss[1], {dtype, loss[1].extents}};
                    },
                .outputs =
                    [](Tensors in, const OpSettings &) {
                      return Specs{{in[1].dtype(), extentsOf(in[1])}};
                    },
                .run =
                    [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
                      crossEntropyBackward(stream, in[0], in[1], in[2], in[3], out[0],
                                           crossEntropyOptionsOf(settings));
                    }});

} // namespace
} // namespace tile::ops
