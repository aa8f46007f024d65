// What models of sequences are made of, by name: embeddings, rotary positions, attention and its caches.
#include "ops/byname/Entry.h"
#include "ops/byname/ProductSettings.h"

#include <tile/ops/Attention.h>
#include <tile/ops/Embedding.h>
#include <tile/ops/KvCache.h>
#include <tile/ops/Rotary.h>

namespace tile::ops {
namespace {

// --- Embeddings ----------------------------------------------------------------------------------

const bool embeddings =
    registerOp(
        {.name = "embedding",
         .summary = "the rows of a table that indices pick",
         .inputs = 2,
         .settings = {floatDtype()},
         .example =
             [](const OpSettings &settings) {
               Specs specs = matrices(settings, 1);
               specs.push_back({settings.dtype("indices", i64), {settings.extent("L", 2048)}});
               return specs;
             },
         .outputs =
             [](Tensors in, const OpSettings &settings) {
               Operand indices = in[1];
               rulesOf("embedding").rankAtMost({"indices", indices}, kMaxRank - 1);
               std::vector<int64_t> extents = extentsOf(in[1]);
               extents.push_back(in[0].rank() > 0 ? in[0].extents().back() : 1);
               return Specs{{settings.dtype("dtype", in[0].dtype()), extents}};
             },
         .run = [](const Stream &stream, Tensors in, Tensors out,
                   const OpSettings &) { embedding(stream, in[0], in[1], out[0]); }}) &&
    registerOp(
        {.name = "embedding_backward",
         .summary = "dtable of indices and dy, a table of so many `rows`",
         .inputs = 2,
         .settings = {OpSetting::integer("rows", 1).from(0).needed("those of the table", "1")},
         .example =
             [](const OpSettings &settings) {
               int64_t count = settings.extent("L", 2048);
               return Specs{{settings.dtype("indices", i64), {count}},
                            {settings.dtype("dtype", f32), {count, settings.extent("N", 1024)}}};
             },
         .outputs =
             [](Tensors in, const OpSettings &settings) {
               int64_t width = in[1].rank() > 0 ? in[1].extents().back() : 1;
               return Specs{{in[1].dtype(), {settings.integer("rows"), width}}};
             },
         .run = [](const Stream &stream, Tensors in, Tensors out,
                   const OpSettings &) { embeddingBackward(stream, in[0], in[1], out[0]); }});

// --- Rotary positions ----------------------------------------------------------------------------

std::vector<OpSetting> rotationSettings() {
  const RotaryOptions options;
  return {OpSetting::flag("interleaved", options.interleaved),
          OpSetting::integer("dims", options.dims).from(0)};
}
OpSetting baseSetting() { return OpSetting::number("base", RotaryOptions().base); }

/// Tables that are given have a base already.
RotaryOptions rotaryOptionsOf(const OpSettings &settings) {
  RotaryOptions options;
  options.interleaved = settings.flag("interleaved");
  options.dims = settings.integer("dims");
  if (settings.has("base"))
    options.base = settings.number("base");
  return options;
}

/// B x H x L x D, and what else is needed of them.
struct Heads {
  DType dtype;
  int64_t batches, heads, length, width;

  explicit Heads(const OpSettings &settings)
      : dtype(settings.dtype("dtype", f16)), batches(settings.extent("B", 4)),
        heads(settings.extent("H", 16)), length(settings.extent("L", 2048)),
        width(settings.extent("D", 64)) {}
  TensorSpec tensor() const { return {dtype, {batches, heads, length, width}}; }
  TensorSpec table() const { return {f32, {length, width / 2}}; }
  TensorSpec positions() const { return {i32, {length}}; }
};

Specs likeX(Tensors in, const OpSettings &) { return {{in[0].dtype(), extentsOf(in[0])}}; }

template <class F> bool rotation(const char *name, const char *summary, F function) {
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 3,
       .settings = rotationSettings(),
       .example =
           [](const OpSettings &settings) {
             Heads heads(settings);
             return Specs{heads.tensor(), heads.table(), heads.table()};
           },
       .outputs = likeX,
       .run =
           [function](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
             function(stream, in[0], in[1], in[2], out[0], rotaryOptionsOf(settings), Loc());
           }});
}

using Rotary = void (*)(const Stream &, const Operand &, const Operand &, const Operand &,
                        const RotaryOptions &, Loc);
bool rotaryOf(const char *name, const char *summary, Rotary function) {
  std::vector<OpSetting> settings = rotationSettings();
  settings.push_back(baseSetting());
  return registerOp(
      {.name = name,
       .summary = summary,
       .inputs = 2,
       .settings = std::move(settings),
       .example =
           [](const OpSettings &settings) {
             Heads heads(settings);
             return Specs{heads.tensor(), heads.positions()};
           },
       .outputs = likeX,
       .run =
           [function](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
             function(stream, in[0], in[1], out[0], rotaryOptionsOf(settings), Loc());
           }});
}

/// Cosines and sines.
Specs tablesOf(Tensors in, const OpSettings &settings) {
  Operand positions = in[0];
  Arguments rules = rulesOf("rotary_tables");
  rules.rankAtMost({"positions", positions}, kMaxRank - 1);
  int64_t dims = settings.integer("dims");
  if (dims % 2 != 0)
    rules.fail(ErrorCode::InvalidArgument,
               "dims=" + std::to_string(dims) + ": an even number is expected");
  std::vector<int64_t> extents = extentsOf(in[0]);
  extents.push_back(dims / 2);
  return Specs(2, {settings.dtype("dtype", f32), extents});
}

const bool rotaries =
    rotation("rotate", "y = x turned by tables of cosines and sines", rotate) &&
    rotation("rotate_backward", "dx of dy and the tables, for rotate", rotateBackward) &&
    rotaryOf("rotary", "y = x turned by its positions", rotary) &&
    rotaryOf("rotary_backward", "dx of dy and positions, for rotary", rotaryBackward) &&
    registerOp({.name = "rotary_tables",
                .summary = "cosines and sines of positions, for `dims` elements",
                .inputs = 1,
                .settings = {OpSetting::integer("dims", 64).from(0), baseSetting(), floatDtype()},
                .example =
                    [](const OpSettings &settings) {
                      return Specs{{i32, {settings.extent("L", 2048)}}};
                    },
                .outputs = tablesOf,
                .run =
                    [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
                      rotaryTables(stream, in[0], out[0], out[1], settings.number("base"));
                    }});

// --- Attention -----------------------------------------------------------------------------------

/// A cache of Lmax positions without a table, and the lengths of its sequences.
Specs cacheExample(const Heads &heads) {
  return {heads.tensor(), heads.tensor(), {i32, {heads.batches}}};
}

KvCache cacheOf(Tensors in, size_t first) {
  return {in[first], in[first + 1], in[first + 2], given(in, first + 3)};
}

DecodeOptions decodeOptionsOf(const OpSettings &settings) {
  return {.scale = scaleOf(settings), .precision = precisionOf(settings)};
}

const bool caches =
    registerOp(
        {.name = "kv_cache_append",
         .summary = "writes k and v behind those in a cache: k, v, its k, v, lengths, table",
         .inputs = 5,
         .optionalInputs = 1,
         .changed = {2, 3},
         .example =
             [](const OpSettings &settings) {
               Heads heads(settings);
               TensorSpec one = heads.tensor();
               one.extents[2] = 1;
               Specs specs = {one, one};
               for (TensorSpec &spec : cacheExample(heads))
                 specs.push_back(spec);
               return specs;
             },
         .outputs = [](Tensors, const OpSettings &) { return Specs(); },
         .run = [](const Stream &stream, Tensors in, Tensors,
                   const OpSettings &) { kvCacheAppend(stream, in[0], in[1], cacheOf(in, 2)); }}) &&
    registerOp(
        {.name = "decode_attention",
         .summary = "attention of one query a sequence to a cache: q, its k, v, lengths, table",
         .inputs = 4,
         .optionalInputs = 1,
         .settings = {scaleSetting(), precisionSetting()},
         .example =
             [](const OpSettings &settings) {
               Heads heads(settings);
               Specs specs = cacheExample(heads);
               specs.insert(specs.begin(),
                            {heads.dtype, {heads.batches, heads.heads, heads.width}});
               return specs;
             },
         .outputs = likeX,
         .run =
             [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
               decodeAttention(stream, in[0], cacheOf(in, 1), out[0], decodeOptionsOf(settings));
             }});

std::vector<OpSetting> settingsWithStatistics() {
  std::vector<OpSetting> settings = attentionSettings();
  settings.push_back(OpSetting::flag("statistics", false));
  return settings;
}

const bool attentionForward = registerOp({
    .name = "attention",
    .summary = "softmax(q k^T / sqrt(D)) v, for each batch and head",
    .inputs = 3,
    .settings = settingsWithStatistics(),
    .example =
        [](const OpSettings &settings) {
          DType dtype = settings.dtype("dtype", f16);
          int64_t batches = settings.extent("B", 4), heads = settings.extent("H", 16),
                  queries = settings.extent("Lq", 2048), head = settings.extent("D", 64);
          TensorSpec q{dtype, {batches, heads, queries, head}},
              k{dtype,
                {batches, settings.extent("Hkv", heads), settings.extent("Lk", queries), head}};
          return std::vector{q, k, k};
        },
    .outputs =
        [](std::span<const Tensor> in, const OpSettings &settings) {
          std::vector specs = {TensorSpec::of(in[0])};
          if (settings.flag("statistics"))
            specs.push_back({f32, rowsOf(in[0])});
          return specs;
        },
    .run =
        [](const Stream &stream, std::span<const Tensor> in, std::span<const Tensor> out,
           const OpSettings &settings) {
          AttentionOptions options = attentionOptionsOf(settings);
          if (out.size() > 1)
            attention(stream, in[0], in[1], in[2], out[0], out[1], options);
          else
            attention(stream, in[0], in[1], in[2], out[0], options);
        },
});

const bool attentionGradients = registerOp(
    {.name = "attention_backward",
     .summary = "dq, dk and dv of q, k, v, out, statistics and dout, for attention",
     .inputs = 6,
     .settings = attentionSettings(),
     .example =
         [](const OpSettings &settings) {
           Heads heads(settings);
           Specs specs(6, heads.tensor());
           specs[4] = {f32, {heads.batches, heads.heads, heads.length}};
           return specs;
         },
     .outputs =
         [](Tensors in, const OpSettings &) {
           return Specs{TensorSpec::of(in[0]), TensorSpec::of(in[1]), TensorSpec::of(in[2])};
         },
     .run =
         [](const Stream &stream, Tensors in, Tensors out, const OpSettings &settings) {
           attentionBackward(stream, in[0], in[1], in[2], in[3], in[4], in[5], out[0], out[1],
                             out[2], attentionOptionsOf(settings));
         }});

} // namespace
} // namespace tile::ops
