// Activations and arithmetic by name.
#include "ops/byname/Entry.h"

#include <tile/ops/Activations.h>
#include <tile/ops/Arithmetic.h>

namespace tile::ops {
namespace {

using Unary = void (*)(const Stream &, const Operand &, const Operand &, Loc);
using Binary = void (*)(const Stream &, const Operand &, const Operand &, const Operand &, Loc);

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

/// `outputs` is called with the inputs and settings.
template <class Outputs>
bool binary(const char *name, const char *summary, Binary function, OpSetting dtype,
            Outputs outputs) {
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
bool numbers(const char *name, const char *summary, Binary function) {
  return binary(name, summary, function, OpSetting::dtype("dtype"),
                [name](Tensors in, const OpSettings &settings) {
                  return broadcastInOneDtype(name, in, settings);
                });
}

const bool activations =
    unary("relu", "y = the larger of x and 0", relu) &&
    unary("gelu", "y = x (1 + erf(x / sqrt 2)) / 2", gelu) &&
    unary("gelu_tanh", "gelu by a hyperbolic tangent, approximately", geluTanh) &&
    unary("silu", "y = x sigmoid(x)", silu) && unary("sigmoid", "y = 1 / (1 + exp(-x))", sigmoid) &&
    unary("tanh", "y = the hyperbolic tangent of x", tanh) &&
    gradient("relu_backward", "dx of x and dy, for relu", reluBackward) &&
    gradient("gelu_backward", "dx of x and dy, for gelu", geluBackward) &&
    gradient("gelu_tanh_backward", "dx of x and dy, for gelu_tanh", geluTanhBackward) &&
    gradient("silu_backward", "dx of x and dy, for silu", siluBackward) &&
    gradient("sigmoid_backward", "dx of x and dy, for sigmoid", sigmoidBackward) &&
    gradient("tanh_backward", "dx of x and dy, for tanh", tanhBackward) &&
    floats("swiglu", "y = silu(a) b", swiglu, "a", "b");

const bool arithmetic = numbers("subtract", "c = a - b, elementwise", subtract) &&
                        numbers("multiply", "c = a b, elementwise", multiply) &&
                        numbers("divide", "c = a / b, elementwise", divide) &&
                        numbers("maximum", "the larger of a and b, elementwise", maximum) &&
                        numbers("minimum", "the smaller of a and b, elementwise", minimum);

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
