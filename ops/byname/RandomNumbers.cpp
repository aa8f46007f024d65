// Random numbers and dropout by name: the state of the generator is two settings, `seed` and `offset`.
#include "ops/byname/Entry.h"
#include "ops/byname/GeneratorSettings.h"

namespace tile::ops {
namespace {

/// A tensor is filled in place: its shape and dtype say what is drawn.
template <class F>
bool filling(const char *name, const char *summary, DType dtype, std::vector<OpSetting> settings,
             F function) {
  for (OpSetting &one : generatorSettings())
    settings.push_back(std::move(one));
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 1,
       .changed = {0},
       .settings = std::move(settings),
       .example =
           [dtype](const OpSettings &settings) {
             return Specs{{settings.dtype("dtype", dtype), {settings.extent("N", 1 << 20)}}};
           },
       .outputs = [](Tensors, const OpSettings &) { return Specs(); },
       .run =
           [function](const Stream &stream, Tensors in, Tensors, const OpSettings &settings) {
             Generator generator = generatorOf(settings);
             function(stream, generator, in[0], settings);
           }});
}

const bool fillings =
    filling("rand", "y becomes uniform numbers in [0, 1)", f32, {},
            [](const Stream &stream, Generator &generator, const Operand &y, const OpSettings &) {
              rand(stream, generator, y);
            }) &&
    filling("randn", "y becomes normal numbers of this `mean` and `deviation`", f32,
            {OpSetting::number("mean", 0), OpSetting::number("deviation", 1)},
            [](const Stream &stream, Generator &generator, const Operand &y,
               const OpSettings &settings) {
              randn(stream, generator, y, settings.number("mean"), settings.number("deviation"));
            }) &&
    filling("randint", "y becomes integers `low` to `high` - 1", i32,
            {OpSetting::integer("low", 0), OpSetting::integer("high", 2)},
            [](const Stream &stream, Generator &generator, const Operand &y,
               const OpSettings &settings) {
              randint(stream, generator, settings.integer("low"), settings.integer("high"), y);
            }) &&
    filling("bernoulli", "y becomes 1 with this `probability`, else 0", f32,
            {OpSetting::number("probability", 0.5)},
            [](const Stream &stream, Generator &generator, const Operand &y,
               const OpSettings &settings) {
              bernoulli(stream, generator, settings.number("probability"), y);
            });

/// `outputs` is called with the inputs and settings.
template <class Outputs, class F>
bool dropping(const char *name, const char *summary, int inputs, Outputs outputs, F function) {
  std::vector<OpSetting> settings = generatorSettings();
  settings.insert(settings.begin(), {OpSetting::number("p", 0.5), floatDtype()});
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = inputs,
       .settings = std::move(settings),
       .example =
           [inputs](const OpSettings &settings) {
             return matrices(settings, static_cast<size_t>(inputs));
           },
       .outputs = outputs,
       .run =
           [function](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
             Generator generator = generatorOf(settings);
             function(stream, generator, in, settings.number("p"), out[0]);
           }});
}

Specs sumOfBoth(Tensors in, const OpSettings &settings) {
  return broadcast("dropout_add", "x", "residual", in, settings);
}

const bool droppings =
    dropping("dropout", "y = x / (1 - p) or, with probability `p`, 0", 1, likeFirst,
             [](const Stream &stream, Generator &generator, Tensors in, double p,
                const Operand &y) { dropout(stream, generator, in[0], p, y); }) &&
    dropping("dropout_add", "y = dropout(x) + residual", 2, sumOfBoth,
             [](const Stream &stream, Generator &generator, Tensors in, double p,
                const Operand &y) { dropoutAdd(stream, generator, in[0], in[1], p, y); }) &&
    dropping("dropout_backward", "dx of dy, with the seed and offset that dropout had", 1,
             likeFirst,
             [](const Stream &stream, Generator &generator, Tensors in, double p,
                const Operand &dx) { dropoutBackward(stream, generator, in[0], p, dx); });

} // namespace
} // namespace tile::ops
