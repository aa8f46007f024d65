// Puts a transformer together from layers.
#include <tile/nn/Transformer.h>

#include "ops/nn/Layers.h"

#include <tile/autograd/Attention.h>
#include <tile/autograd/Checkpoint.h>
#include <tile/autograd/Embedding.h>
#include <tile/autograd/Ops.h>

#include <cmath>

namespace tile::nn {
namespace {

LinearOptions linearOptions(const TransformerOptions &options, bool endsBranch = false) {
  double branches = endsBranch ? std::sqrt(2.0 * static_cast<double>(options.layers)) : 1;
  return {.bias = options.bias, .dtype = options.dtype, .deviation = options.deviation / branches};
}

TransformerBlock::Norm normOf(const Stream &stream, const TransformerOptions &options, Loc loc) {
  NormOptions how{.bias = options.bias, .dtype = options.dtype};
  if (options.rms)
    return RmsNorm(stream, options.width, how, loc);
  return LayerNorm(stream, options.width, how, loc);
}

void addMember(Members &add, const char *name, const TransformerBlock::Norm &norm) {
  std::visit([&](const Module &layer) { add(name, layer); }, norm);
}

Variable dropped(const Variable &x, double p, ops::Generator *dropouts, Loc loc) {
  return dropouts && p > 0 ? autograd::dropout(x, p, *dropouts, loc) : x;
}

/// The options, before anything is made of them.
const TransformerOptions &checked(const TransformerOptions &options, Loc loc) {
  detail::requireSize("Transformer", "heads", options.heads, loc);
  if (options.rotary && options.width / options.heads % 2)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "Transformer: heads of " + std::to_string(options.width / options.heads) +
                    " elements; turns need an even number",
                loc);
  detail::requireSize("Transformer", "layers", options.layers, loc);
  detail::requireSize("Transformer", "positions", options.positions, loc);
  return options;
}

int64_t keyHeadsOf(int64_t width, const SelfAttentionOptions &options, Loc loc) {
  int64_t keyHeads = options.keyHeads ? options.keyHeads : options.heads;
  if (options.heads < 1 || keyHeads < 1 || width % options.heads || options.heads % keyHeads)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "SelfAttention: width " + std::to_string(width) + ", " +
                    std::to_string(options.heads) + " heads, " + std::to_string(keyHeads) +
                    " of keys: each must divide the one before",
                loc);
  return keyHeads;
}

/// The extent of queries, keys and values together.
int64_t projectionsOf(int64_t width, const SelfAttentionOptions &options, Loc loc) {
  int64_t keyHeads = keyHeadsOf(width, options, loc);
  return width / options.heads * (options.heads + 2 * keyHeads);
}

} // namespace

RotaryTables RotaryTables::slice(int64_t start, int64_t length) const {
  return cosines ? RotaryTables{cosines.slice(0, start, length), sines.slice(0, start, length)}
                 : RotaryTables();
}

SelfAttention::SelfAttention(const Stream &stream, ops::Generator &generator, int64_t width,
                             const SelfAttentionOptions &options, Loc loc)
    : in(stream, generator, width, projectionsOf(width, options, loc), options.in, loc),
      out(stream, generator, width, width, options.out, loc), heads(options.heads),
      keyHeads(keyHeadsOf(width, options, loc)), causal(options.causal) {}

Variable SelfAttention::operator()(const Variable &x, const RotaryTables &turns, Loc loc) const {
  auto [q, k, v] = project(x, turns, loc);
  return join(autograd::attention(q, k, v, {.causal = causal}, loc), loc);
}

std::array<Variable, 3> SelfAttention::project(const Variable &x, const RotaryTables &turns,
                                               Loc loc) const {
  // batch x length x heads x head width, then heads before length: views.
  std::vector<int64_t> extents{x.extent(0), x.extent(1), heads + 2 * keyHeads, headWidth()};
  Variable rows = autograd::reshape(in(x, loc), std::move(extents), loc);
  auto parts = autograd::split(rows, 2, {heads, keyHeads, keyHeads}, loc);
  auto turned = [&](const Variable &part) {
    Variable heads = autograd::permute(part, {0, 2, 1, 3}, loc);
    return turns.cosines ? autograd::rotate(heads, turns.cosines, turns.sines, {}, loc) : heads;
  };
  return {turned(parts[0]), turned(parts[1]), autograd::permute(parts[2], {0, 2, 1, 3}, loc)};
}

Variable SelfAttention::join(const Variable &y, Loc loc) const {
  Variable rows = autograd::permute(y, {0, 2, 1, 3}, loc);
  int64_t width = heads * headWidth();
  return out(autograd::reshape(rows, {rows.extent(0), rows.extent(1), width}, loc), loc);
}

void SelfAttention::members(Members &add) const {
  add("in", in);
  add("out", out);
}

TransformerBlock::TransformerBlock(const Stream &stream, ops::Generator &generator,
                                   const TransformerOptions &options, Loc loc)
    : attentionNorm(normOf(stream, options, loc)), mlpNorm(normOf(stream, options, loc)),
      attention(stream, generator, options.width,
                {.heads = options.heads,
                 .keyHeads = options.keyHeads,
                 .in = linearOptions(options),
                 .out = linearOptions(options, true)},
                loc),
      mlp(stream, generator, options.width, options.hidden ? options.hidden : 4 * options.width,
          {.activation = options.activation,
           .up = linearOptions(options),
           .down = linearOptions(options, true)},
          loc),
      dropout(options.dropout) {}

Variable TransformerBlock::operator()(const Variable &x, const RotaryTables &turns,
                                      ops::Generator *dropouts, Loc loc) const {
  Variable normed = std::visit([&](const auto &norm) { return norm(x, loc); }, attentionNorm);
  Variable seen = dropped(attention(normed, turns, loc), dropout, dropouts, loc);
  auto [sum, input] =
      std::visit([&](const auto &norm) { return norm.ofSum(seen, x, loc); }, mlpNorm);
  return autograd::add(sum, dropped(mlp(input, loc), dropout, dropouts, loc), loc);
}

void TransformerBlock::members(Members &add) const {
  addMember(add, "attentionNorm", attentionNorm);
  add("attention", attention);
  addMember(add, "mlpNorm", mlpNorm);
  add("mlp", mlp);
}

Transformer::Transformer(const Stream &stream, ops::Generator &generator,
                         const TransformerOptions &options, Loc loc)
    : tokenTable(stream, generator, checked(options, loc).vocabulary, options.width,
                 {.dtype = options.dtype, .deviation = options.deviation}, loc),
      norm(normOf(stream, options, loc)), options(options) {
  if (!options.rotary)
    positionTable.emplace(stream, generator, options.positions, options.width,
                          EmbeddingOptions{options.dtype, options.deviation}, loc);
  for (int64_t layer = 0; layer < options.layers; ++layer)
    blocks.emplace_back(stream, generator, options, loc);
  if (!options.tied) {
    LinearOptions how = linearOptions(options);
    how.bias = false;
    head.emplace(stream, generator, options.width, options.vocabulary, how, loc);
  }
  if (!options.rotary)
    return;
  Stream queue = stream;
  for (Tensor *table : {&turns.cosines, &turns.sines})
    *table = stream.tensor(
        f32, std::initializer_list<int64_t>{options.positions, options.width / options.heads / 2});
  ops::rotaryTables(queue, 0, turns.cosines, turns.sines, 10000, loc);
}

Variable Transformer::operator()(const Tensor &tokens, ops::Generator *dropouts, Loc loc) const {
  if (tokens.rank() != 2 || tokens.extent(1) > options.positions)
    throw Error(Fault::User, ErrorCode::InvalidShape,
                "Transformer: tokens is " + ops::Operand(tokens).str() +
                    "; it must be batch x length, of at most " + std::to_string(options.positions) +
                    " positions",
                loc);
  int64_t length = tokens.extent(1);
  Variable x = tokenTable(tokens, loc);
  if (positionTable) {
    auto parts =
        autograd::split(positionTable->table, 0, {length, options.positions - length}, loc);
    x = autograd::add(x, parts[0], loc);
  }
  x = dropped(x, options.dropout, dropouts, loc);
  RotaryTables own = turns.slice(0, length);
  for (const TransformerBlock &block : blocks) {
    // A segment that is computed again later outlives this call, so it captures copies (which are handles), not references.
    auto segment = [block, own, dropouts, loc](std::span<const Variable> in) {
      return block(in[0], own, dropouts, loc);
    };
    x = options.checkpoints ? autograd::checkpoint(segment, {x}, loc)
                            : block(x, own, dropouts, loc);
  }
  return logits(x, loc);
}

Variable Transformer::logits(const Variable &x, Loc loc) const {
  Variable last = std::visit([&](const auto &layer) { return layer(x, loc); }, norm);
  return head ? (*head)(last, loc) : autograd::linear(last, tokenTable.table, {}, {}, loc);
}

void Transformer::members(Members &add) const {
  add("tokenTable", tokenTable);
  if (positionTable)
    add("positionTable", *positionTable);
  add("blocks", blocks);
  addMember(add, "norm", norm);
  if (head)
    add("head", *head);
}

} // namespace tile::nn
