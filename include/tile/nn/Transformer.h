// Decoder-only transformers: language models in the manner of GPT, and of Llama with rotary
// positions, root-mean-square norms, gated MLPs and grouped heads.
//
// Errors (InvalidArgument, InvalidShape), at the caller's line: sizes that do not divide, more
// tokens than positions, tokens that are not i32 or i64 of the shape said, and those of the layers.
// A token outside the vocabulary makes its sequence NaN.
#pragma once

#include <tile/nn/Layers.h>
#include <tile/ops/Rotary.h>

#include <variant>

namespace tile::nn {

/// The turns of positions 0, 1, ...: cosines and sines, positions x dims / 2. No tensors: no turns.
struct RotaryTables {
  Tensor cosines, sines;

  /// Those of positions start .. start + length - 1.
  RotaryTables slice(int64_t start, int64_t length) const;
};

struct SelfAttentionOptions {
  int64_t heads = 1;
  int64_t keyHeads = 0; ///< of keys and values; divides heads. 0: as many
  bool causal = true;
  LinearOptions in = {}, out = {};
};
/// Attention of each position of x, batch x length x width, to the positions before it and itself
/// (all of them unless causal): out(attention(q, k, v)), where [q, k, v] = in(x).
struct SelfAttention : Module {
  Linear in, out;
  int64_t heads, keyHeads;
  bool causal;

  SelfAttention(const Stream &stream, ops::Generator &generator, int64_t width,
                const SelfAttentionOptions &options = {}, Loc loc = Loc::here());
  Variable operator()(const Variable &x, const RotaryTables &turns = {},
                      Loc loc = Loc::here()) const;
  void members(Members &add) const override;

  /// What it is made of, for those who keep keys and values: queries, keys and values of x, turned,
  /// batch x heads x length x head width (views where they are not turned);
  std::array<Variable, 3> project(const Variable &x, const RotaryTables &turns = {},
                                  Loc loc = Loc::here()) const;
  /// and out(y) of what attention made of them.
  Variable join(const Variable &y, Loc loc = Loc::here()) const;
  /// The number of elements that a head has in a row of in(x).
  int64_t headWidth() const { return in.weight.extent(0) / (heads + 2 * keyHeads); }
};

struct TransformerOptions {
  int64_t vocabulary = 0;
  int64_t positions = 0; ///< the longest sequence
  int64_t width = 0;
  int64_t layers = 1;
  int64_t heads = 1;
  int64_t keyHeads = 0; ///< of keys and values; divides heads. 0: as many
  int64_t hidden = 0;   ///< of the MLPs. 0: 4 * width
  Activation activation = Activation::GeluTanh;
  bool rms = false;         ///< RmsNorm instead of LayerNorm
  bool rotary = false;      ///< positions by turns instead of a learned table
  bool bias = true;         ///< of linear layers and norms
  bool tied = true;         ///< the table of tokens gives the logits too
  bool checkpoints = false; ///< blocks keep their inputs alone and are computed again by backward()
  double dropout = 0; ///< of embeddings and of what each half of a block adds; with a generator
  double deviation = 0.02; ///< of weights; of those that end a branch divided by sqrt(2 layers)
  DType dtype = f32;
};

/// x + attention(norm(x)), then the same with an MLP.
struct TransformerBlock : Module {
  using Norm = std::variant<LayerNorm, RmsNorm>;
  Norm attentionNorm, mlpNorm;
  SelfAttention attention;
  Mlp mlp;
  double dropout;

  TransformerBlock(const Stream &stream, ops::Generator &generator,
                   const TransformerOptions &options, Loc loc = Loc::here());
  Variable operator()(const Variable &x, const RotaryTables &turns = {},
                      ops::Generator *dropouts = nullptr, Loc loc = Loc::here()) const;
  void members(Members &add) const override;
};

/// tokens, batch x length -> logits, batch x length x vocabulary: of the token that follows each.
struct Transformer : Module {
  Embedding tokenTable;
  std::optional<Embedding> positionTable; ///< unless rotary
  std::vector<TransformerBlock> blocks;
  TransformerBlock::Norm norm;
  std::optional<Linear> head; ///< unless tied
  RotaryTables turns;         ///< of all positions, if rotary
  TransformerOptions options;

  Transformer(const Stream &stream, ops::Generator &generator, const TransformerOptions &options,
              Loc loc = Loc::here());
  /// With a generator, which must live until backward(), elements are dropped as the options say.
  Variable operator()(const Tensor &tokens, ops::Generator *dropouts = nullptr,
                      Loc loc = Loc::here()) const;
  /// The logits of what the blocks have computed: norm, then the head.
  Variable logits(const Variable &x, Loc loc = Loc::here()) const;
  void members(Members &add) const override;
};

} // namespace tile::nn
