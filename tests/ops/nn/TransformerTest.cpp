// Transformers: what they see, what they learn, and that writing token by token is the same as reading at once.
#include "tests/ops/nn/Models.h"

#include <tile/autograd/Losses.h>
#include <tile/nn/Decoder.h>
#include <tile/nn/Optimizers.h>

#include <cmath>

using namespace tile;
using namespace tile::test;
using namespace tile::nn;

namespace {

constexpr int64_t kVocabulary = 11, kLength = 9;

/// In the manner of GPT.
TransformerOptions small() {
  return {.vocabulary = kVocabulary,
          .positions = 12,
          .width = 32,
          .layers = 2,
          .heads = 2,
          .deviation = 0.2};
}
/// In the manner of Llama.
TransformerOptions grouped() {
  TransformerOptions options = small();
  options.heads = 4, options.keyHeads = 2, options.hidden = 24;
  options.activation = Activation::Swiglu;
  options.rms = options.rotary = true;
  options.bias = options.tied = false;
  return options;
}

class Transformers : public OnModels {
protected:
  static std::vector<int32_t> someTokens(int64_t count, int32_t seed = 1) {
    std::vector<int32_t> tokens;
    for (int32_t i = 0; i < count; ++i)
      tokens.push_back((i * i * 7 + seed * 3 + i) % kVocabulary);
    return tokens;
  }
  Tensor tokens(int64_t batch, std::vector<int32_t> values) {
    return input({batch, static_cast<int64_t>(values.size()) / batch}, values);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Transformers, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(Transformers, HaveTheParametersOfTheirOptions) {
  Transformer gpt(stream, generator, small()), llama(stream, generator, grouped());
  int64_t block = 4 * 32 * 32 + 4 * 32 + 8 * 32 * 32 + 5 * 32 + 4 * 32;
  EXPECT_EQ(gpt.parameterCount(), 11 * 32 + 12 * 32 + 2 * block + 2 * 32);
  int64_t gated = 32 * (32 + 2 * 16) + 32 * 32 + 3 * 24 * 32 + 2 * 32;
  EXPECT_EQ(llama.parameterCount(), 11 * 32 + 2 * gated + 32 + 11 * 32);
  EXPECT_EQ(gpt.parameters()[2].name, "blocks.0.attentionNorm.weight");
  EXPECT_EQ(llama.parameters().back().name, "head.weight");
}

TEST_P(Transformers, SeeNothingThatComesLater) {
  for (const TransformerOptions &options : {small(), grouped()}) {
    Transformer model(stream, generator, options);
    auto values = someTokens(kLength);
    auto before = valuesOf(model(tokens(1, values)).value());
    values[6] = (values[6] + 1) % kVocabulary;
    auto after = valuesOf(model(tokens(1, values)).value());
    for (size_t i = 0; i < 6 * kVocabulary; ++i)
      ASSERT_EQ(before[i], after[i]) << i;
    EXPECT_NE(before, after);
  }
}

TEST_P(Transformers, GradientsFollowDifferences) {
  for (const TransformerOptions &options : {small(), grouped()}) {
    Transformer model(stream, generator, options);
    Tensor in = tokens(2, someTokens(2 * kLength)), next = tokens(2, someTokens(2 * kLength, 2));
    auto loss = [&] { return autograd::crossEntropy(model(in), next); };
    loss().backward();
    for (const auto &[name, parameter] : model.parameters()) {
      // Along the gradient the loss rises by the gradient's square, times the step.
      auto gradient = valuesOf(parameter.grad()), values = valuesOf(parameter.value());
      double squares = 0;
      for (double g : gradient)
        squares += g * g;
      ASSERT_GT(squares, 0) << name;
      double step = 0.02 / std::sqrt(squares);
      auto at = [&](double t) {
        std::vector<float> moved;
        for (size_t i = 0; i < values.size(); ++i)
          moved.push_back(float(values[i] + t * gradient[i]));
        autograd::NoGrad quiet;
        TensorOf<float>(parameter.inPlace()).upload(moved);
        return valuesOf(loss().value())[0];
      };
      double slope = (at(step) - at(-step)) / (2 * step);
      at(0);
      EXPECT_NEAR(slope, squares, 0.02 * squares + 1e-5 / step) << name;
    }
  }
}

TEST_P(Transformers, CheckpointsChangeNothing) {
  for (TransformerOptions options : {small(), grouped()}) {
    options.dropout = 0.2;
    auto gradientOf = [&](bool checkpoints) {
      options.checkpoints = checkpoints;
      ops::Generator same{.seed = 3}, dropouts{.seed = 8};
      Transformer model(stream, same, options);
      autograd::crossEntropy(model(tokens(2, someTokens(2 * kLength)), &dropouts),
                             tokens(2, someTokens(2 * kLength, 2)))
          .backward();
      std::vector<std::vector<double>> gradients;
      for (const auto &[name, parameter] : model.parameters())
        gradients.push_back(valuesOf(parameter.grad()));
      return gradients;
    };
    auto kept = gradientOf(false);
    EXPECT_EQ(gradientOf(true), kept);
    EXPECT_EQ(gradientOf(false), kept) << "the same bits twice";
  }
}

TEST_P(Transformers, LearnASequence) {
  for (const TransformerOptions &options : {small(), grouped()}) {
    Transformer model(stream, generator, options);
    AdamW adam(model, {{.rate = 2e-2}});
    auto sequence = someTokens(kLength + 1);
    Tensor in = tokens(1, {sequence.begin(), sequence.end() - 1});
    Tensor next = tokens(1, {sequence.begin() + 1, sequence.end()});
    double loss = 0;
    for (int step = 0; step < 16; ++step) {
      Variable now = autograd::crossEntropy(model(in), next);
      now.backward();
      adam.step();
      loss = valuesOf(now.value())[0];
    }
    EXPECT_LT(loss, 0.3);
    auto written =
        generate(model, std::span(sequence).first(2), kLength - 1, generator, {.temperature = 0});
    EXPECT_EQ(written, std::vector<int32_t>(sequence.begin() + 2, sequence.end()));
  }
}

TEST_P(Transformers, WritingIsReadingStepByStep) {
  for (const TransformerOptions &options : {small(), grouped()}) {
    Transformer model(stream, generator, options);
    auto values = someTokens(2 * kLength);
    auto atOnce = valuesOf(model(tokens(2, values)).value());
    Decoder decoder(model, 2), byGraph(model, 2, {.graph = true});
    for (int64_t i = 0; i < kLength; ++i) {
      std::vector<int32_t> each{values[size_t(i)], values[size_t(kLength + i)]};
      auto logits = valuesOf(decoder.next(input({2}, each)));
      EXPECT_EQ(valuesOf(byGraph.next(input({2}, each))), logits) << "token " << i;
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t v = 0; v < kVocabulary; ++v)
          ASSERT_NEAR(logits[size_t(b * kVocabulary + v)],
                      atOnce[size_t((b * kLength + i) * kVocabulary + v)], 2e-4)
              << "token " << i;
    }
    EXPECT_EQ(decoder.length(), kLength);
  }
}

TEST_P(Transformers, DecodersTakeSeveralTokensAtOnce) {
  for (const TransformerOptions &options : {small(), grouped()}) {
    Transformer model(stream, generator, options);
    auto values = someTokens(2 * kLength);
    Tensor all = tokens(2, values);
    auto atOnce = valuesOf(model(all).value());
    Decoder decoder(model, 2), byGraph(model, 2, {.graph = true});
    for (auto [begin, end] :
         {std::array{0, 4}, {4, 5}, {5, 8}, {8, 9}}) { // a prompt, one, more, one
      auto logits = valuesOf(decoder.next(all.slice(1, begin, end - begin)));
      EXPECT_EQ(valuesOf(byGraph.next(all.slice(1, begin, end - begin))), logits);
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t v = 0; v < kVocabulary; ++v)
          ASSERT_NEAR(logits[size_t(b * kVocabulary + v)],
                      atOnce[size_t((b * kLength + end - 1) * kVocabulary + v)], 2e-4)
              << "token " << end - 1;
      EXPECT_EQ(decoder.length(), end);
    }
    expectRefused(ErrorCode::InvalidShape,
                  "tokens is i32 2x9, but 9 of the model's 12 positions are taken",
                  [&] { decoder.next(all); });
  }
}

TEST_P(Transformers, WriteTheSameWithAndWithoutACache) {
  for (const TransformerOptions &options : {small(), grouped()}) {
    Transformer model(stream, generator, options);
    auto prompt = someTokens(3);
    for (double temperature : {0.0, 0.7}) {
      GenerateOptions how{.temperature = temperature, .topK = 4};
      ops::Generator first{.seed = 2}, second{.seed = 2};
      auto cached = generate(model, prompt, 8, first, how);
      ops::Generator third{.seed = 2};
      how.graph = true;
      EXPECT_EQ(cached, generate(model, prompt, 8, third, how));
      how.cached = false;
      EXPECT_EQ(cached, generate(model, prompt, 8, second, how));
      EXPECT_EQ(cached.size(), 8u);
      EXPECT_EQ(first, second);
    }
  }
}

TEST_P(Transformers, OfNoTokens) {
  for (const TransformerOptions &options : {small(), grouped()}) {
    Transformer model(stream, generator, options);
    for (auto [batch, length] : {std::array<int64_t, 2>{0, 3}, {2, 0}}) {
      Variable logits = model(stream.tensor<int32_t>({batch, length}));
      EXPECT_EQ(ops::Operand(logits.value()).str(),
                "f32 " + std::to_string(batch) + "x" + std::to_string(length) + "x11");
    }
  }
}

TEST_P(Transformers, Refusals) {
  TransformerOptions options = small();
  Transformer model(stream, generator, options);
  expectRefused(ErrorCode::InvalidShape, "tokens is i32 1x13; it must be batch x length",
                [&] { model(tokens(1, someTokens(13))); });
  options.heads = 5;
  expectRefused(ErrorCode::InvalidArgument, "width 32, 5 heads, 5 of keys: each must divide",
                [&] { Transformer(stream, generator, options); });
  options.heads = 0;
  expectRefused(ErrorCode::InvalidArgument, "Transformer: heads is 0",
                [&] { Transformer(stream, generator, options); });
  options.heads = 2, options.vocabulary = 0;
  expectRefused(ErrorCode::InvalidArgument, "Embedding: rows is 0",
                [&] { Transformer(stream, generator, options); });
  auto prompt = someTokens(3);
  expectRefused(ErrorCode::InvalidArgument, "12 positions",
                [&] { generate(model, prompt, 10, generator); });
  expectRefused(ErrorCode::InvalidArgument, "the prompt is empty",
                [&] { generate(model, {}, 1, generator); });
  Decoder decoder(model, 2);
  expectRefused(ErrorCode::InvalidShape, "tokens is i32 3; it must have 2 elements",
                [&] { decoder.next(input({3}, prompt)); });
}

} // namespace
