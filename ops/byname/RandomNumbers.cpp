// Random numbers and dropout by name: the state of the generator is two settings, `seed` and `offset`.
#include "ops/byname/Entry.h"

#include <tile/ops/Random.h>

namespace tile::ops {
namespace {

Generator generatorOf(const OpSettings &settings) {
  return {static_cast<uint64_t>(settings.integer("seed", 0)),
          static_cast<uint64_t>(settings.integer("offset", 0))};
}

/// A tensor is filled in place: its shape and dtype say what is drawn.
template <class F> bool filling(const char *name, const char *summary, DType dtype, F function) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 1,
       .changed = {0},
       .example =
           [dtype](const OpSettings &settings) {
             return Specs{{settings.dtype("dtype", dtype), {settings.integer("N", 1 << 20)}}};
           },
       .outputs = [](Tensors, const OpSettings &) { return Specs(); },
       .run =
           [function](const Stream &stream, Tensors in, Tensors, const OpSettings &settings) {
             Generator generator = generatorOf(settings);
             function(stream, generator, in[0], settings);
           }});
}

const bool fillings =
    filling("rand", "x becomes uniform numbers in [0, 1)", f32,
            [](const Stream &stream, Generator &generator, const Operand &x, const OpSettings &) {
              rand(stream, generator, x);
            }) &&
    filling("randn", "x becomes normal numbers of this `mean` and `deviation`", f32,
            [](const Stream &stream, Generator &generator, const Operand &x,
               const OpSettings &settings) {
              randn(stream, generator, x, settings.number("mean", 0),
                    settings.number("deviation", 1));
            }) &&
    filling("randint", "x becomes integers `low` to `high` - 1", i32,
            [](const Stream &stream, Generator &generator, const Operand &x,
               const OpSettings &settings) {
              randint(stream, generator, settings.integer("low", 0), settings.integer("high", 2),
                      x);
            }) &&
    filling("bernoulli", "x becomes 1 with this `probability`, else 0", f32,
            [](const Stream &stream, Generator &generator, const Operand &x,
               const OpSettings &settings) {
              bernoulli(stream, generator, settings.number("probability", 0.5), x);
            });

template <class F> bool dropping(const char *name, const char *summary, int inputs, F function) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = inputs,
       .example =
           [inputs](const OpSettings &settings) {
             return matrices(settings, static_cast<size_t>(inputs));
           },
       .outputs = likeFirst,
       .run =
           [function](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
             Generator generator = generatorOf(settings);
             function(stream, generator, in, settings.number("p", 0.5), out[0]);
           }});
}

const bool droppings =
    dropping("dropout", "y = x / (1 - p) or, with probability `p`, 0", 1,
             [](const Stream &stream, Generator &generator, Tensors in, double p,
                const Operand &y) { dropout(stream, generator, in[0], p, y); }) &&
    dropping("dropout_add", "y = dropout(x) + residual", 2,
             [](const Stream &stream, Generator &generator, Tensors in, double p,
                const Operand &y) { dropoutAdd(stream, generator, in[0], in[1], p, y); }) &&
    dropping("dropout_backward", "dx of dy, with the seed and offset that dropout had", 1,
             [](const Stream &stream, Generator &generator, Tensors in, double p,
                const Operand &dx) { dropoutBackward(stream, generator, in[0], p, dx); });

} // namespace
} // namespace tile::ops
