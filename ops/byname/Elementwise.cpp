// Activations and arithmetic by name.
#include "ops/byname/Entry.h"

#include <tile/ops/Activations.h>
#include <tile/ops/Arithmetic.h>

namespace tile::ops {
namespace {

using Unary = void (*)(const Stream &, const Operand &, const Operand &, Loc);
using Binary = void (*)(const Stream &, const Operand &, const Operand &, const Operand &, Loc);

bool unary(const char *name, const char *summary, Unary function) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 1,
       .example = [](const OpSettings &settings) { return matrices(settings, 1); },
       .outputs = likeFirst,
       .run = [function](const Stream &stream, Tensors in, Tensors out,
                         const OpSettings &) { function(stream, in[0], out[0], Loc()); }});
}

bool binary(const char *name, const char *summary, Binary function) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 2,
       .example = [](const OpSettings &settings) { return matrices(settings, 2); },
       .outputs = broadcast,
       .run = [function](const Stream &stream, Tensors in, Tensors out,
                         const OpSettings &) { function(stream, in[0], in[1], out[0], Loc()); }});
}

const bool activations =
    unary("relu", "y = the larger of x and 0", relu) &&
    unary("gelu", "y = x (1 + erf(x / sqrt 2)) / 2", gelu) &&
    unary("gelu_tanh", "gelu by a hyperbolic tangent, approximately", geluTanh) &&
    unary("silu", "y = x sigmoid(x)", silu) && unary("sigmoid", "y = 1 / (1 + exp(-x))", sigmoid) &&
    unary("tanh", "y = the hyperbolic tangent of x", tanh) &&
    binary("relu_backward", "dx of x and dy, for relu", reluBackward) &&
    binary("gelu_backward", "dx of x and dy, for gelu", geluBackward) &&
    binary("gelu_tanh_backward", "dx of x and dy, for gelu_tanh", geluTanhBackward) &&
    binary("silu_backward", "dx of x and dy, for silu", siluBackward) &&
    binary("sigmoid_backward", "dx of x and dy, for sigmoid", sigmoidBackward) &&
    binary("tanh_backward", "dx of x and dy, for tanh", tanhBackward) &&
    binary("swiglu", "y = silu(a) b", swiglu);

const bool arithmetic = binary("subtract", "c = a - b, elementwise", subtract) &&
                        binary("multiply", "c = a b, elementwise", multiply) &&
                        binary("divide", "c = a / b, elementwise", divide) &&
                        binary("maximum", "the larger of a and b, elementwise", maximum) &&
                        binary("minimum", "the smaller of a and b, elementwise", minimum);

const bool swigluGradient = registerOp(
    {.name = "swiglu_backward",
     .summary = "da and db of a, b and dy, for swiglu",
     .inputs = 3,
     .example = [](const OpSettings &settings) { return matrices(settings, 3); },
     .outputs =
         [](Tensors in, const OpSettings &) {
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
     .example =
         [](const OpSettings &settings) {
           Specs specs = matrices(settings, 2);
           specs[1].extents[1] /= 2;
           return specs;
         },
     .outputs = likeFirst,
     .run = [](const Stream &stream, Tensors in, Tensors out,
               const OpSettings &) { swigluHalvesBackward(stream, in[0], in[1], out[0]); }});

const bool affineOp =
    registerOp({.name = "affine",
                .summary = "y = factor x + offset",
                .inputs = 1,
                .example = [](const OpSettings &settings) { return matrices(settings, 1); },
                .outputs = likeFirst,
                .run =
                    [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
                      affine(stream, in[0], settings.number("factor", 1),
                             settings.number("offset", 0), out[0]);
                    }});

const bool copyOp = unary("copy", "y = x, in another dtype if one is given",
                          [](const Stream &stream, const Operand &x, const Operand &y, Loc loc) {
                            copy(stream, x, y, loc);
                          });

const bool fillOp = registerOp(
    {.name = "fill",
     .summary = "every element of x becomes `value`",
     .inputs = 1,
     .changed = {0},
     .example = [](const OpSettings &settings) { return matrices(settings, 1); },
     .outputs = [](Tensors, const OpSettings &) { return Specs(); },
     .run = [](const Stream &stream, Tensors in, Tensors,
               const OpSettings &settings) { fill(stream, settings.number("value", 0), in[0]); }});

} // namespace
} // namespace tile::ops
