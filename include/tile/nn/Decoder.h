// Writing with a transformer, token by token: keys and values of what was seen are kept.
#pragma once

#include <tile/Graph.h>
#include <tile/nn/Transformer.h>

#include <span>

namespace tile::nn {

struct DecoderOptions {
  /// Steps of one token are replays of one graph, which the first of them captures: three calls of
  /// the driver instead of a dozen a layer. Parameters must keep their memory from then on, as
  /// optimizers leave it; what is in it may change.
  bool graph = false;
};

/// Sequences in the making, all of one length. Nothing is recorded for gradients.
class Decoder {
public:
  /// Begins `batch` empty sequences of at most the model's positions. The model's parameters are
  /// looked at again in each step.
  explicit Decoder(const Transformer &model, int64_t batch = 1, const DecoderOptions &options = {},
                   Loc loc = Loc::here());

  /// Appends tokens to each sequence and returns the logits of the one after them, batch x
  /// vocabulary. tokens: i32 or i64, a vector of batch, or batch x count for several at once, as a
  /// prompt is read fastest. Error: InvalidShape for other extents, or for more tokens than there
  /// are positions left.
  Tensor next(const Tensor &tokens, Loc loc = Loc::here());
  /// How many tokens each sequence has.
  int64_t length() const { return length_; }

private:
  struct Cache {
    Tensor keys, values; ///< batch x key heads x positions x head width
  };
  /// What depends on where the new positions are.
  struct Place {
    autograd::Variable table; ///< the rows that are added to those of tokens, if there are any
    RotaryTables turns;
    int64_t length = 0; ///< of the sequences, with them
  };
  Place placeOf(int64_t count, Loc loc);
  Place placeOfOne(Loc loc);
  Tensor oneByGraph(const Tensor &tokens, Loc loc);
  Tensor logitsAfter(const Tensor &tokens, Loc loc);
  autograd::Variable attend(const SelfAttention &layer, const autograd::Variable &x,
                            const Cache &cache, const Place &place, Loc loc) const;

  Transformer model_;
  DecoderOptions options_;
  std::vector<Cache> caches_;
  Tensor lengths_, one_; ///< of the sequences, i32; and the number 1
  int64_t batch_, length_ = 0;
  bool isCounted_ = false; ///< lengths_ are length_
  Graph step_;             ///< of one token, once captured:
  Tensor token_, logits_;  ///< of token_, it writes logits_
};

struct GenerateOptions {
  double temperature = 1; ///< logits are divided by it; 0: always the likeliest token
  int64_t topK = 0;       ///< draws from so many of the likeliest tokens; 0: from 1024 or all
  bool cached = true;     ///< false: everything is computed again for each token, as a check
  bool graph = false;     ///< as of DecoderOptions
};
/// The `count` tokens that the model writes after a prompt, which must have at least one; together
/// they must fit its positions.
/// Errors: InvalidArgument otherwise.
std::vector<int32_t> generate(const Transformer &model, std::span<const int32_t> prompt,
                              int64_t count, ops::Generator &generator,
                              const GenerateOptions &options = {}, Loc loc = Loc::here());

} // namespace tile::nn
