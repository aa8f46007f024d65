// A transformer at new positions of sequences whose keys and values are kept, and the loop that writes with it.
#include <tile/nn/Decoder.h>

#include <tile/autograd/Embedding.h>
#include <tile/autograd/Ops.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Attention.h>
#include <tile/ops/Embedding.h>
#include <tile/ops/KvCache.h>
#include <tile/ops/Sampling.h>

#include <algorithm>
#include <utility>

namespace tile::nn {
namespace {

[[noreturn]] void refuse(ErrorCode code, const std::string &message, Loc loc) {
  throw Error(Fault::User, code, message, loc);
}

/// The most logits that ops::sampleTopK draws from.
constexpr int64_t kMostDrawn = 1024;

} // namespace

Decoder::Decoder(const Transformer &model, int64_t batch, const DecoderOptions &options, Loc loc)
    : model_(model), options_(options), batch_(batch) {
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
  one_ = stream.tensor<int32_t>({1});
  ops::fill(stream, 1, one_, loc);
}

/// Of several positions, which the host knows.
Decoder::Place Decoder::placeOf(int64_t count, Loc loc) {
  const Stream &stream = model_.tokenTable.table.stream();
  Place place{.table = {}, .turns = model_.turns.slice(length_, count), .length = length_ + count};
  if (model_.positionTable)
    place.table = Variable(stream, model_.positionTable->table.value().slice(0, length_, count));
  ops::fill(stream, static_cast<double>(place.length), lengths_, loc);
  return place;
}

/// Of one position, which the device knows: a graph of this is good for every position.
Decoder::Place Decoder::placeOfOne(Loc loc) {
  const Stream &stream = model_.tokenTable.table.stream();
  Place place;
  if (model_.positionTable)
    place.table = (*model_.positionTable)(lengths_.reshape({batch_, 1}), loc);
  if (model_.turns.cosines) {
    Tensor first = lengths_.slice(0, 0, 1); // that of all
    place.turns = {ops::embedding(stream, model_.turns.cosines, first, loc),
                   ops::embedding(stream, model_.turns.sines, first, loc)};
  }
  ops::add(stream, lengths_, one_, lengths_, loc);
  return place;
}

/// Attention of the new positions, batch x count x width, to all positions so far.
Variable Decoder::attend(const SelfAttention &layer, const Variable &x, const Cache &cache,
                         const Place &place, Loc loc) const {
  int64_t count = x.extent(1);
  auto [q, k, v] = layer.project(x, place.turns, loc);
  Stream stream = x.stream();
  ops::KvCache kept{.k = cache.keys, .v = cache.values, .lengths = lengths_};
  ops::kvCacheAppend(stream, k.value(), v.value(), kept, loc);
  const Tensor &queries = q.value();
  if (count > 1) {
    Tensor y = ops::attention(stream, queries, cache.keys.slice(2, 0, place.length),
                              cache.values.slice(2, 0, place.length), {.causal = true}, loc);
    return layer.join(Variable(stream, y), loc);
  }
  std::vector<int64_t> extents{batch_, layer.heads, layer.headWidth()};
  Tensor y = ops::decodeAttention(
      stream,
      queries.withStrides(extents, {queries.stride(0), queries.stride(1), queries.stride(3)}), kept,
      {}, loc);
  return layer.join(Variable(stream, y.reshape({batch_, layer.heads, 1, -1})), loc);
}

Tensor Decoder::next(const Tensor &tokens, Loc loc) {
  int64_t count = tokens.rank() == 2 ? tokens.extent(1) : 1;
  if (tokens.rank() < 1 || tokens.rank() > 2 || tokens.extent(0) != batch_ || count < 1)
    refuse(ErrorCode::InvalidShape,
           "Decoder: tokens is " + ops::Operand(tokens).str() + "; it must have " +
               std::to_string(batch_) + " elements, one for each sequence, or as many rows",
           loc);
  int64_t left = model_.options.positions - length_;
  if (count > left)
    refuse(ErrorCode::InvalidShape,
           "Decoder: tokens is " + ops::Operand(tokens).str() + ", but " + std::to_string(length_) +
               " of the model's " + std::to_string(model_.options.positions) +
               " positions are taken",
           loc);
  autograd::NoGrad quiet;
  Tensor rows =
      tokens.rank() == 2 ? tokens : tokens.withStrides({batch_, 1}, {tokens.stride(0), 1});
  // The device counts with us, unless a step has failed half way.
  if (!std::exchange(isCounted_, false))
    ops::fill(model_.tokenTable.table.stream(), static_cast<double>(length_), lengths_, loc);
  bool isByGraph = count == 1 && options_.graph;
  Tensor logits = isByGraph ? oneByGraph(rows, loc) : logitsAfter(rows, loc);
  length_ += count;
  isCounted_ = true;
  return logits;
}

Tensor Decoder::oneByGraph(const Tensor &tokens, Loc loc) {
  Stream stream = model_.tokenTable.table.stream();
  if (!token_)
    token_ = stream.tensor(tokens.dtype(), tokens.extents());
  ops::copy(stream, tokens, token_, loc);
  if (!logits_)
    step_ = Graph::capture(
        stream, [&] { logits_ = logitsAfter(token_, loc); }, loc);
  step_.replay(stream, loc);
  return ops::copy(stream, logits_, any, loc); // the next step writes them again
}

Tensor Decoder::logitsAfter(const Tensor &tokens, Loc loc) {
  int64_t count = tokens.extent(1);
  Variable x = model_.tokenTable(tokens, loc);
  Place place = count == 1 ? placeOfOne(loc) : placeOf(count, loc);
  if (place.table)
    x = autograd::add(x, place.table, loc);
  Stream stream = x.stream();
  for (size_t i = 0; i < caches_.size(); ++i) {
    const TransformerBlock &block = model_.blocks[i];
    Variable normed =
        std::visit([&](const auto &norm) { return norm(x, loc); }, block.attentionNorm);
    Variable seen = attend(block.attention, normed, caches_[i], place, loc);
    auto [sum, input] =
        std::visit([&](const auto &norm) { return norm.ofSum(seen, x, loc); }, block.mlpNorm);
    x = autograd::add(sum, block.mlp(input, loc), loc);
  }
  Variable last(stream, x.value().slice(1, count - 1, 1));
  return model_.logits(last, loc).value().reshape({batch_, -1});
}

namespace {

/// The token that follows these logits, 1 x vocabulary.
int32_t chosen(const Stream &stream, const Tensor &logits, ops::Generator &generator,
               const GenerateOptions &options, Loc loc) {
  Stream queue = stream;
  int64_t vocabulary = logits.extent(1);
  int64_t kept = options.topK ? std::min(options.topK, vocabulary) : vocabulary;
  Tensor token = ops::sampleTopK(queue, generator, logits, std::min(kept, kMostDrawn),
                                 options.temperature, loc);
  return TensorOf<int32_t>(token).download()[0];
}

Tensor rowOf(const Stream &stream, std::span<const int32_t> tokens) {
  auto row = stream.tensor<int32_t>({1, static_cast<int64_t>(tokens.size())});
  row.upload(tokens);
  return row;
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
  Decoder decoder(model, 1, {.graph = options.graph}, loc);
  auto logitsOfNext = [&] {
    if (options.cached)
      return decoder.next(rowOf(stream, std::span(all).subspan(size_t(decoder.length()))), loc);
    autograd::NoGrad quiet;
    Tensor logits = model(rowOf(stream, all), nullptr, loc).value();
    return logits.slice(1, logits.extent(1) - 1, 1).reshape({1, -1});
  };
  while (static_cast<int64_t>(all.size() - prompt.size()) < count)
    all.push_back(chosen(stream, logitsOfNext(), generator, options, loc));
  return {all.begin() + static_cast<std::ptrdiff_t>(prompt.size()), all.end()};
}

} // namespace tile::nn
