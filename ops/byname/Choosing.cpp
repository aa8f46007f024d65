// Choosing among the elements of rows by name, along any dimension.
#include "ops/ChosenCount.h"
#include "ops/Rows.h"
#include "ops/byname/BeforeCopy.h"
#include "ops/byname/DimensionSettings.h"
#include "ops/byname/Entry.h"
#include "ops/byname/GeneratorSettings.h"
#include "ops/byname/RankZero.h"

#include <tile/ops/Arithmetic.h>
#include <tile/ops/Sampling.h>

namespace tile::ops {
namespace {

/// x with the dimension that is chosen along at the end.
Operand rowsAlong(const char *op, const Operand &x, const OpSettings &settings) {
  Operand rows = withOneDimension(x);
  return withLast(rows, rulesOf(op).dimension({"x", rows}, dimOf(settings)));
}

/// Integers of up to 16 bits are chosen among as f32, which has them all.
bool isNarrowInteger(DType dtype) {
  return dtype == i8 || dtype == i16 || dtype == u8 || dtype == u16;
}
/// What holds before x is copied: of each row there is one to choose.
Arguments beforeChoosing(const char *op, const Stream &stream, Named x,
                         std::initializer_list<Named> outputs, int64_t count) {
  Arguments arguments = beforeCopy(op, stream, x, outputs);
  arguments.hasRows(x), checkChosenCount(arguments, x, count);
  return arguments;
}
/// x, or a copy of it in f32 that is kept in `copied`.
Operand asFloats(const Stream &stream, const Operand &x, Tensor &copied) {
  if (!isNarrowInteger(x.dtype()))
    return x;
  copied = copy(stream, x, f32);
  return copied;
}

/// x's extents with another in the place of the dimension that is chosen along; none if that is 0.
std::vector<int64_t> extentsWith(const char *op, const Tensor &x, const OpSettings &settings,
                                 int64_t extent) {
  std::vector<int64_t> extents = extentsOf(x);
  auto dim = rulesOf(op).dimension({"x", withOneDimension(x)}, dimOf(settings));
  if (extents.empty())
    return extents;
  if (extent)
    extents[static_cast<size_t>(dim)] = extent;
  else
    extents.erase(extents.begin() + dim);
  return extents;
}

// --- argmax --------------------------------------------------------------------------------------

void runArgmax(const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
  Tensor copied;
  Operand x = rowsAlong("argmax", in[0], settings), indices = out[0];
  if (settings.flag("keep_dims") && indices.rank() > 0 && indices.rank() == x.rank()) {
    Operand last = withLast(indices, rulesOf("argmax").dimension({"x", x}, dimOf(settings)));
    indices = last.slice(last.rank() - 1, 0, 1);
    int64_t extents[kMaxRank], strides[kMaxRank];
    auto rows = static_cast<size_t>(last.rank() - 1);
    for (int dim = 0; dim < last.rank() - 1; ++dim)
      extents[dim] = last.extent(dim), strides[dim] = last.stride(dim);
    indices = last.strided({extents, rows}, {strides, rows});
  }
  if (isNarrowInteger(x.dtype())) {
    Named from = {"x", x}, at = {"indices", indices};
    Arguments arguments = beforeChoosing("argmax", stream, from, {at}, 1);
    arguments.dtypeIn(at, {i32, i64});
    arguments.onePerRow(at, from);
  }
  argmax(stream, asFloats(stream, x, copied), indices);
}

const bool largest = registerOp(
    {.name = "argmax",
     .summary = "the index of the largest element of each row",
     .inputs = 1,
     .settings = {dimSetting(), OpSetting::flag("keep_dims", false), indexDtype()},
     .example = [](const OpSettings &settings) { return matrices(settings, 1); },
     .outputs =
         [](Tensors in, const OpSettings &settings) {
           return Specs{{settings.dtype("indices", i32),
                         extentsWith("argmax", in[0], settings, settings.flag("keep_dims"))}};
         },
     .run = runArgmax});

// --- top_k ---------------------------------------------------------------------------------------

void runTopK(const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
  Tensor copied;
  Operand x = rowsAlong("top_k", in[0], settings);
  Operand values = rowsAlong("top_k", out[0], settings);
  Operand indices = rowsAlong("top_k", out[1], settings);
  if (isNarrowInteger(x.dtype())) {
    Named from = {"x", x}, to = {"values", values}, at = {"indices", indices};
    Arguments arguments =
        beforeChoosing("top_k", stream, from, {to, at}, values.extent(values.rank() - 1));
    arguments.dtypeIn(at, {i32, i64}), arguments.dtypeIn(to, {x.dtype(), f16, bf16, f32});
    arguments.sameRows(to, from), arguments.sameExtents(to, at);
    arguments.outputsApart({to, at}, {});
  }
  x = asFloats(stream, x, copied);
  if (!copied || values.dtype() != in[0].dtype())
    return topK(stream, x, values, indices);
  TopK floats = topK(stream, x, values.extent(values.rank() - 1));
  copy(stream, floats.values, values);
  copy(stream, floats.indices, indices);
}

const bool several = registerOp(
    {.name = "top_k",
     .summary = "the k largest elements of each row, and their indices",
     .inputs = 1,
     .settings = {OpSetting::integer("k", 1).from(1), dimSetting(), indexDtype()},
     .example = [](const OpSettings &settings) { return matrices(settings, 1); },
     .outputs =
         [](Tensors in, const OpSettings &settings) {
           int64_t k = settings.integer("k");
           checkChosenCount(rulesOf("top_k"), {"x", rowsAlong("top_k", in[0], settings)}, k);
           std::vector<int64_t> extents = extentsWith("top_k", in[0], settings, k);
           return Specs{{in[0].dtype(), extents}, {settings.dtype("indices", i32), extents}};
         },
     .run = runTopK});

// --- sample_top_k --------------------------------------------------------------------------------

std::vector<OpSetting> sampleSettings() {
  std::vector<OpSetting> settings = generatorSettings();
  settings.insert(settings.begin(), {OpSetting::integer("k", 40).from(1),
                                     OpSetting::number("temperature", 1), indexDtype()});
  return settings;
}

const bool drawn =
    registerOp({.name = "sample_top_k",
                .summary = "one of the k largest elements of each row, drawn",
                .inputs = 1,
                .settings = sampleSettings(),
                .example = [](const OpSettings &settings) { return matrices(settings, 1); },
                .outputs =
                    [](Tensors in, const OpSettings &settings) {
                      return Specs{{settings.dtype("indices", i32), rowsOf(in[0])}};
                    },
                .run =
                    [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
                      Generator generator = generatorOf(settings);
                      sampleTopK(stream, generator, in[0], settings.integer("k"),
                                 settings.number("temperature"), out[0]);
                    }});

} // namespace
} // namespace tile::ops
