// One position of a transformer at a time, and the loop that writes with it.
#include <tile/nn/Decoder.h>

#include <tile/autograd/Embedding.h>
#include <tile/autograd/Ops.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/KvCache.h>
#include <tile/ops/Sampling.h>

#include <algorithm>

namespace tile::nn {
namespace {

[[noreturn]] void refuse(ErrorCode code, const std::string &message, Loc loc) {
  throw Error(Fault::User, code, message, loc);
}

/// What ops::sampleTopK draws from at most.
constexpr int64_t kMostDrawn = 1024;

} // namespace

Decoder::Decoder(const Transformer &model, int64_t batch, Loc loc) : model_(model), batch_(batch) {
  if (batch < 1)
    refuse(ErrorCode::InvalidArgument, "Decoder: batch is " + std::to_string(batch), loc);
  const Stream &stream = model.tokenTable.table.stream();
  for (const TransformerBlock &block : model.blocks) {
    const SelfAttention &layer = block.attention;
    auto one = [&] {
      return stream.tensor(model.options.dtype,
                           std::initializer_list<int64_t>{
                               batch, layer.keyHeads, model.options.positions, layer.headWidth()});
    };
    caches_.push_back({one(), one()});
  }
  lengths_ = stream.tensor<int32_t>({batch});
}

Variable Decoder::attend(const SelfAttention &layer, const Variable &x, const Cache &cache,
                         Loc loc) const {
  Variable heads = autograd::reshape(layer.in(x, loc), {batch_, -1, layer.headWidth()}, loc);
  auto parts = autograd::split(heads, 1, {layer.heads, layer.keyHeads, layer.keyHeads}, loc);
  if (const RotaryTables &turns = model_.turns; turns.cosines)
    for (int each : {0, 1})
      parts[size_t(each)] =
          autograd::rotate(parts[size_t(each)], turns.cosines.slice(0, length_, 1),
                           turns.sines.slice(0, length_, 1), {}, loc);
  Stream stream = x.stream();
  ops::KvCache kept{.k = cache.keys, .v = cache.values, .lengths = lengths_};
  auto asPosition = [&](const Variable &part) {
    return autograd::reshape(part, {batch_, layer.keyHeads, 1, layer.headWidth()}, loc);
  };
  Variable keys = asPosition(parts[1]), values = asPosition(parts[2]);
  ops::kvCacheAppend(stream, keys.value(), values.value(), kept, loc);
  Tensor y = ops::decodeAttention(stream, parts[0].value(), kept, {}, loc);
  return layer.out(autograd::reshape(Variable(stream, y), {batch_, -1}, loc), loc);
}

Tensor Decoder::next(const Tensor &tokens, Loc loc) {
  if (tokens.rank() != 1 || tokens.extent(0) != batch_)
    refuse(ErrorCode::InvalidShape,
           "Decoder: tokens is " + ops::Operand(tokens).str() + "; it must have " +
               std::to_string(batch_) + " elements, one for each sequence",
           loc);
  if (length_ == model_.options.positions)
    refuse(ErrorCode::InvalidShape,
           "Decoder: all " + std::to_string(length_) + " positions of the model are taken", loc);
  autograd::NoGrad quiet;
  Variable x = model_.tokenTable(tokens, loc);
  Stream stream = x.stream();
  ops::fill(stream, static_cast<double>(length_ + 1), lengths_, loc);
  if (model_.positionTable) {
    const Variable &table = model_.positionTable->table;
    x = autograd::add(x, Variable(table.stream(), table.value().slice(0, length_, 1)), loc);
  }
  for (size_t i = 0; i < caches_.size(); ++i) {
    const TransformerBlock &block = model_.blocks[i];
    Variable normed =
        std::visit([&](const auto &norm) { return norm(x, loc); }, block.attentionNorm);
    Variable seen = attend(block.attention, normed, caches_[i], loc);
    auto [sum, input] =
        std::visit([&](const auto &norm) { return norm.ofSum(seen, x, loc); }, block.mlpNorm);
    x = autograd::add(sum, block.mlp(input, loc), loc);
  }
  ++length_;
  return model_.logits(x, loc).value();
}

namespace {

/// The token that follows these logits, 1 x vocabulary.
int32_t chosen(const Stream &stream, const Tensor &logits, ops::Generator &generator,
               const GenerateOptions &options, Loc loc) {
  Stream queue = stream;
  int64_t vocabulary = logits.extent(1);
  int64_t kept = options.topK ? std::min(options.topK, vocabulary) : vocabulary;
  Tensor token = ops::sampleTopK(queue, logits, std::min(kept, kMostDrawn), options.temperature,
                                 generator, loc);
  return TensorOf<int32_t>(token).download()[0];
}

Tensor rowOf(const Stream &stream, std::span<const int32_t> tokens, bool isMatrix) {
  auto count = static_cast<int64_t>(tokens.size());
  auto row = stream.tensor<int32_t>({count});
  row.upload(tokens);
  return isMatrix ? row.reshape({1, count}) : row;
}

} // namespace

std::vector<int32_t> generate(const Transformer &model, std::span<const int32_t> prompt,
                              int64_t count, ops::Generator &generator,
                              const GenerateOptions &options, Loc loc) {
  if (prompt.empty())
    refuse(ErrorCode::InvalidArgument, "generate: the prompt is empty", loc);
  if (count < 0 || static_cast<int64_t>(prompt.size()) + count > model.options.positions)
    refuse(ErrorCode::InvalidArgument,
           "generate: a prompt of " + std::to_string(prompt.size()) + " tokens and " +
               std::to_string(count) + " more; the model has " +
               std::to_string(model.options.positions) + " positions",
           loc);
  if (options.topK < 0 || options.topK > kMostDrawn)
    refuse(ErrorCode::InvalidArgument,
           "generate: topK is " + std::to_string(options.topK) + "; 0 to " +
               std::to_string(kMostDrawn) + " is supported",
           loc);
  const Stream &stream = model.tokenTable.table.stream();
  std::vector<int32_t> all(prompt.begin(), prompt.end());
  Decoder decoder(model, 1, loc);
  auto logitsOfNext = [&] {
    if (options.cached) {
      Tensor logits;
      while (decoder.length() < static_cast<int64_t>(all.size())) {
        auto at = static_cast<size_t>(decoder.length());
        logits = decoder.next(rowOf(stream, std::span(all).subspan(at, 1), false), loc);
      }
      return logits;
    }
    autograd::NoGrad quiet;
    Tensor logits = model(rowOf(stream, all, true), nullptr, loc).value();
    return logits.slice(1, logits.extent(1) - 1, 1).reshape({1, -1});
  };
  while (static_cast<int64_t>(all.size() - prompt.size()) < count)
    all.push_back(chosen(stream, logitsOfNext(), generator, options, loc));
  return {all.begin() + static_cast<std::ptrdiff_t>(prompt.size()), all.end()};
}

} // namespace tile::nn
