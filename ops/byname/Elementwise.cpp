// Activations and arithmetic by name.
#include "ops/AddKernel.h"
#include "ops/PairMap.h"
#include "ops/byname/BeforeCopy.h"
#include "ops/byname/Entry.h"

#include <tile/ops/Activations.h>
#include <tile/ops/Arithmetic.h>

namespace tile::ops {
namespace {

using Unary = void (*)(const Stream &, const Operand &, const Operand &, Loc);
using Binary = void (*)(const Stream &, const Operand &, const Operand &, const Operand &, Loc);

/// A function of floats, which integers become in f32.
Specs floatsOf(Tensors in, const OpSettings &settings) {
  return {
      {settings.dtype("dtype", isFloat(in[0].dtype()) ? in[0].dtype() : f32), extentsOf(in[0])}};
}

bool activation(const char *name, const char *summary, Unary function) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 1,
       .settings = {floatDtype()},
       .example = [](const OpSettings &settings) { return matrices(settings, 1); },
       .outputs = floatsOf,
       .run =
           [name, function](const Stream &stream, Tensors in, Tensors out, const OpSettings &) {
             if (isFloat(in[0].dtype()))
               return function(stream, in[0], out[0], Loc());
             Named x = {"x", in[0]}, y = {"y", out[0]};
             Arguments arguments = beforeCopy(name, stream, x, {y});
             arguments.dtypeIn(y, {f16, bf16, f32, f64});
             arguments.broadcastsTo(x, y);
             DType dtype = out[0].dtype() == f64 ? f64 : f32;
             function(stream, copy(stream, in[0], dtype), out[0], Loc());
           }});
}

struct ReluOfIntegers {
  Value operator()(Value x) const { return max(x, zeros(x.dtype(), {})); }
};

const bool reluOp = registerOp(
    {.name = "relu",
     .summary = "y = the larger of x and 0",
     .inputs = 1,
     .settings = {floatDtype()},
     .example = [](const OpSettings &settings) { return matrices(settings, 1); },
     .outputs =
         [](Tensors in, const OpSettings &settings) {
           DType x = in[0].dtype(), y = settings.dtype("dtype", x);
           if (!isFloat(x) && x != y)
             rulesOf("relu").fail(ErrorCode::InvalidArgument,
                                  "x is " + Operand(in[0]).str() + ", of which the result is " +
                                      nameOf(x) + ", too: leave dtype out");
           return likeFirst(in, settings);
         },
     .run =
         [](const Stream &stream, Tensors in, Tensors out, const OpSettings &) {
           Operand x = in[0], y = out[0];
           if (isFloat(x.dtype()))
             return relu(stream, x, y);
           Arguments arguments("relu", {stream, Loc()});
           arguments.dtypeIn({"x", x}, kNumbers);
           arguments.sameDtype({"x", x}, {"y", y});
           detail::mapNamed({"relu", {"y", "x"}}, CallSite(stream, Loc()), ReluOfIntegers(),
                            std::array{y}, x);
         }});

bool unary(const char *name, const char *summary, Unary function, OpSetting dtype = floatDtype()) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 1,
       .settings = {std::move(dtype)},
       .example = [](const OpSettings &settings) { return matrices(settings, 1); },
       .outputs = likeFirst,
       .run = [function](const Stream &stream, Tensors in, Tensors out,
                         const OpSettings &) { function(stream, in[0], out[0], Loc()); }});
}

/// `function` is called as a Binary, `outputs` with the inputs and settings.
template <class F, class Outputs>
bool binary(const char *name, const char *summary, F function, OpSetting dtype, Outputs outputs) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 2,
       .settings = {std::move(dtype)},
       .example = [](const OpSettings &settings) { return matrices(settings, 2); },
       .outputs = outputs,
       .run = [function](const Stream &stream, Tensors in, Tensors out,
                         const OpSettings &) { function(stream, in[0], in[1], out[0], Loc()); }});
}

/// Any floats, under these names.
bool floats(const char *name, const char *summary, Binary function, const char *first,
            const char *second) {
  return binary(name, summary, function, floatDtype(),
                [name, first, second](Tensors in, const OpSettings &settings) {
                  return broadcast(name, first, second, in, settings);
                });
}

bool gradient(const char *name, const char *summary, Binary function) {
  return floats(name, summary, function, "x", "dy");
}

/// Numbers of one dtype.
template <class F> bool numbers(const char *name, const char *summary, F function) {
  return binary(name, summary, function, OpSetting::dtype("dtype"),
                [name](Tensors in, const OpSettings &settings) {
                  return broadcastInOneDtype(name, in, settings);
                });
}

/// The same, or masks: the largest, the smallest and the product of 0 and 1 are masks again.
bool numbersAndMasks(const char *name, const char *summary, Binary function) {
  return numbers(name, summary,
                 [function](const Stream &stream, const Operand &a, const Operand &b,
                            const Operand &c, Loc loc) {
                   if (areMasks(a, b, c))
                     function(stream, maskAsBytes(a), maskAsBytes(b), maskAsBytes(c), loc);
                   else
                     function(stream, a, b, c, loc);
                 });
}

const bool activations =
    activation("gelu", "y = x (1 + erf(x / sqrt 2)) / 2", gelu) &&
    activation("gelu_tanh", "gelu by a hyperbolic tangent, approximately", geluTanh) &&
    activation("silu", "y = x sigmoid(x)", silu) &&
    activation("sigmoid", "y = 1 / (1 + exp(-x))", sigmoid) &&
    activation("tanh", "y = the hyperbolic tangent of x", tanh) &&
    gradient("relu_backward", "dx of x and dy, for relu", reluBackward) &&
    gradient("gelu_backward", "dx of x and dy, for gelu", geluBackward) &&
    gradient("gelu_tanh_backward", "dx of x and dy, for gelu_tanh", geluTanhBackward) &&
    gradient("silu_backward", "dx of x and dy, for silu", siluBackward) &&
    gradient("sigmoid_backward", "dx of x and dy, for sigmoid", sigmoidBackward) &&
    gradient("tanh_backward", "dx of x and dy, for tanh", tanhBackward) &&
    floats("swiglu", "y = silu(a) b", swiglu, "a", "b");

const bool arithmetic = numbers<Binary>("subtract", "c = a - b, elementwise", subtract) &&
                        numbersAndMasks("multiply", "c = a b, elementwise", multiply) &&
                        numbersAndMasks("maximum", "the larger of a and b, elementwise", maximum) &&
                        numbersAndMasks("minimum", "the smaller of a and b, elementwise", minimum);

struct TruncatedQuotient {
  Value operator()(Value a, Value b) const { return trunc(div_rn(a, b)); }
};

const bool addition = registerOp({
    .name = "add",
    .summary = "c = a + b, elementwise",
    .inputs = 2,
    .settings = {OpSetting::dtype("dtype")},
    .kernel =
        [](const OpSettings &settings) {
          return addKernel(settings.dtype("dtype", f32), settings.extent("N", 1 << 20),
                           settings.integer("B", 1024));
        },
    .outputs = [](Tensors in,
                  const OpSettings &settings) { return broadcastInOneDtype("add", in, settings); },
    .run =
        [](const Stream &stream, std::span<const Tensor> in, std::span<const Tensor> out,
           const OpSettings &) {
          if (areMasks(in[0], in[1], out[0])) // 1 + 1 is 1
            maximum(stream, maskAsBytes(in[0]), maskAsBytes(in[1]), maskAsBytes(out[0]));
          else
            add(stream, in[0], in[1], out[0]);
        },
});

const bool division = registerOp(
    {.name = "divide",
     .summary = "c = a / b, elementwise",
     .inputs = 2,
     .settings = {OpSetting::word("rounding", {"none", "trunc"}), OpSetting::dtype("dtype")},
     .example = [](const OpSettings &settings) { return matrices(settings, 2); },
     .outputs =
         [](Tensors in, const OpSettings &settings) {
           return broadcastInOneDtype("divide", in, settings);
         },
     .run =
         [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
           Operand a = in[0], b = in[1], c = out[0];
           if (settings.text("rounding") == "none" ||
               !isFloat(a.dtype())) // integers truncate anyway
             return divide(stream, a, b, c);
           mapPair<TruncatedQuotient>("divide", {stream, Loc()}, a, b, c);
         }});

const bool swigluGradient = registerOp(
    {.name = "swiglu_backward",
     .summary = "da and db of a, b and dy, for swiglu",
     .inputs = 3,
     .example = [](const OpSettings &settings) { return matrices(settings, 3); },
     .outputs =
         [](Tensors in, const OpSettings &) {
           Operand a = in[0], b = in[1], dy = in[2];
           Arguments rules = rulesOf("swiglu_backward");
           rules.broadcastsTo({"a", a}, {"dy", dy}), rules.broadcastsTo({"b", b}, {"dy", dy});
           return Specs{{in[0].dtype(), extentsOf(in[2])}, {in[1].dtype(), extentsOf(in[2])}};
         },
     .run =
         [](const Stream &stream, Tensors in, Tensors out, const OpSettings &) {
           swigluBackward(stream, in[0], in[1], in[2], out[0], out[1]);
         }});

const bool halves =
    registerOp({.name = "swiglu_halves",
                .summary = "swiglu of the first and second half of the last dimension",
                .inputs = 1,
                .settings = {floatDtype()},
                .example = [](const OpSettings &settings) { return matrices(settings, 1); },
                .outputs =
                    [](Tensors in, const OpSettings &settings) {
                      Specs specs = likeFirst(in, settings);
                      if (!specs[0].extents.empty())
                        specs[0].extents.back() /= 2;
                      return specs;
                    },
                .run = [](const Stream &stream, Tensors in, Tensors out,
                          const OpSettings &) { swigluHalves(stream, in[0], out[0]); }});

const bool halvesGradient = registerOp(
    {.name = "swiglu_halves_backward",
     .summary = "dab of ab and dy, for swiglu_halves",
     .inputs = 2,
     .settings = {floatDtype()},
     .example =
         [](const OpSettings &settings) {
           Specs specs = matrices(settings, 2);
           specs[1].extents[1] /= 2;
           return specs;
         },
     .outputs = likeFirst,
     .run = [](const Stream &stream, Tensors in, Tensors out,
               const OpSettings &) { swigluHalvesBackward(stream, in[0], in[1], out[0]); }});

const bool affineOp = registerOp(
    {.name = "affine",
     .summary = "y = factor x + offset",
     .inputs = 1,
     .settings = {OpSetting::number("factor", 1), OpSetting::number("offset", 0), floatDtype()},
     .example = [](const OpSettings &settings) { return matrices(settings, 1); },
     .outputs = likeFirst,
     .run =
         [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
           affine(stream, in[0], settings.number("factor"), settings.number("offset"), out[0]);
         }});

const bool copyOp = unary(
    "copy", "y = x, in another dtype if one is given",
    [](const Stream &stream, const Operand &x, const Operand &y, Loc loc) {
      copy(stream, x, y, loc);
    },
    OpSetting::dtype("dtype"));

const bool fillOp = registerOp(
    {.name = "fill",
     .summary = "every element of y becomes `value`",
     .inputs = 1,
     .changed = {0},
     .settings = {OpSetting::value("value", 0)},
     .example = [](const OpSettings &settings) { return matrices(settings, 1); },
     .outputs = [](Tensors, const OpSettings &) { return Specs(); },
     .run = [](const Stream &stream, Tensors in, Tensors,
               const OpSettings &settings) { fill(stream, settings.value("value"), in[0]); }});

} // namespace
} // namespace tile::ops
