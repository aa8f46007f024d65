// A small transformer that learns to write in the manner of a text, character by character.
//
//   text train [--data FILE] [--steps 300] [--out text.safetensors] [--resume] [--curve loss.svg]
//   text train --large                       the size for a GPU: 12 layers of width 768, 1024 characters at once
//   text generate [--model text.safetensors] [--prompt "We the"] [--count 200] [--temperature 0.8]
//
// A run that is interrupted goes on with --resume as if it had not been: the file has the optimizer and the random numbers too.
#include "examples/training/LossCurve.h"
#include "examples/training/Progress.h"

#include <tile/autograd/Losses.h>
#include <tile/nn/Decoder.h>
#include <tile/nn/Files.h>
#include <tile/nn/Transformer.h>

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

using namespace tile;
using autograd::Variable;

namespace {

/// Characters are ASCII: one token each, whatever the text.
constexpr int64_t kVocabulary = 128;

struct Options {
  std::string data = TILE_EXAMPLES_DATA "/us-constitution.txt", device = "auto";
  std::string file = "text.safetensors", curve, prompt = "We the People";
  int64_t steps = 300, batch = 8, length = 64, width = 64, layers = 2, heads = 4;
  int64_t saveEvery = 100, count = 200, until = 0, warmup = -1;
  double rate = 0, dropout = 0.1, temperature = 0, below = 0;
  bool large = false, wide = false, resume = false, uncached = false;

  /// What the file of a model says of it, by these names.
  static constexpr std::pair<const char *, int64_t Options::*> kShape[] = {
      {"length", &Options::length},
      {"width", &Options::width},
      {"layers", &Options::layers},
      {"heads", &Options::heads}};
  std::map<std::string, std::string> shape() const {
    std::map<std::string, std::string> notes = {{"dtype", wide ? "f32" : "bf16"}};
    for (auto [name, member] : kShape)
      notes[name] = std::to_string(this->*member);
    return notes;
  }
  void setShape(const std::map<std::string, std::string> &notes) {
    auto noteOf = [&](const char *name) {
      auto found = notes.find(name);
      if (found == notes.end())
        throw std::runtime_error(file + " does not say the model's " + name +
                                 ": it was not written by `text train`");
      return found->second;
    };
    for (auto [name, member] : kShape) {
      std::string text = noteOf(name);
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), this->*member);
      if (error != std::errc() || end != text.data() + text.size() || this->*member < 1)
        throw std::runtime_error(file + ": the model's " + name + " is '" + text + "'");
    }
    wide = noteOf("dtype") == "f32";
  }
};

nn::TransformerOptions modelOf(const Options &options) {
  return {.vocabulary = kVocabulary,
          .positions = options.length,
          .width = options.width,
          .layers = options.layers,
          .heads = options.heads,
          .checkpoints = true,
          .dropout = options.dropout,
          .dtype = options.wide ? f32 : bf16};
}

std::vector<int32_t> tokensOf(std::string_view text) {
  std::vector<int32_t> tokens;
  for (char c : text)
    tokens.push_back(c >= 0 ? c : '?');
  return tokens;
}

std::vector<int32_t> readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty())
    throw std::runtime_error(path + " is empty or cannot be read");
  return tokensOf(text);
}

/// Pieces of the text, and for each character the one that follows it. Which pieces, the step alone says.
struct Batch {
  Tensor tokens, next;

  Batch(const Stream &stream, std::span<const int32_t> text, const Options &options, int64_t step) {
    if (static_cast<int64_t>(text.size()) <= options.length)
      throw std::runtime_error("the text is shorter than one piece of it");
    std::mt19937_64 random(static_cast<uint64_t>(step));
    std::vector<int32_t> pieces, followers;
    for (int64_t row = 0; row < options.batch; ++row) {
      auto piece = text.subspan(random() % (text.size() - static_cast<size_t>(options.length)),
                                static_cast<size_t>(options.length) + 1);
      pieces.insert(pieces.end(), piece.begin(), piece.end() - 1);
      followers.insert(followers.end(), piece.begin() + 1, piece.end());
    }
    tokens = uploaded(stream, pieces, options);
    next = uploaded(stream, followers, options);
  }
  static Tensor uploaded(const Stream &stream, std::span<const int32_t> values,
                         const Options &options) {
    auto tensor = stream.tensor<int32_t>({options.batch, options.length});
    tensor.upload(values);
    return tensor;
  }
};

/// The rate of a step. The wider a layer is, the more weights move together in an output of it, so the largest rate is one over
/// the width; and what a deep model does with its first gradients does not last, so it takes a tenth of the steps to get there.
double rateOf(const Options &options, int64_t step) {
  double largest = options.rate > 0 ? options.rate : 0.192 / static_cast<double>(options.width);
  int64_t warmup = options.warmup >= 0 ? options.warmup : options.steps / 10;
  return nn::cosineRate(step, warmup, options.steps, largest, largest / 10);
}

/// Exit code 1 if the loss of the last steps is not below what was asked.
int train(const Options &options) {
  std::vector<int32_t> text = readText(options.data);
  Stream stream = Device::open(options.device).stream();
  nn::TrainingState state{.generator = {.seed = 1}};
  nn::Transformer model(stream, state.generator, modelOf(options));
  nn::AdamW optimizer(model, {{.beta2 = 0.99, .weightDecay = 0.1}});
  if (options.resume)
    state = nn::loadTraining(options.file, model, optimizer);
  state.notes = options.shape();
  std::printf("%zu characters, %lld parameters, on %s\n", text.size(),
              static_cast<long long>(model.parameterCount()), stream.device().name().c_str());

  Progress progress(options.steps, "characters", options.batch * options.length, state.step);
  LossCurve curve("cross-entropy of the next character");
  int64_t end = options.until ? std::min(options.until, options.steps) : options.steps;
  double recent = 0;
  while (state.step < end) {
    Batch batch(stream, text, options, state.step);
    optimizer.setRate(rateOf(options, state.step));
    Variable loss = autograd::crossEntropy(model(batch.tokens, &state.generator), batch.next);
    loss.backward();
    nn::clipGradients(model, 1);
    optimizer.step();
    double value = TensorOf<float>(loss.value()).download()[0];
    recent = recent == 0 ? value : 0.9 * recent + 0.1 * value;
    progress.show(++state.step, recent);
    curve.add(state.step, value);
    if (state.step % options.saveEvery == 0 || state.step == end)
      nn::saveTraining(options.file, model, optimizer, state);
  }
  if (!options.curve.empty())
    curve.write(options.curve);
  std::printf("loss %.4f, in %s\n", recent, options.file.c_str());
  return options.below == 0 || recent < options.below ? 0 : 1;
}

int generate(Options options) {
  Stream stream = Device::open(options.device).stream();
  options.setShape(nn::notesOf(stream, options.file));
  ops::Generator generator{.seed = 1};
  nn::Transformer model(stream, generator, modelOf(options));
  nn::loadParameters(options.file, model);
  std::vector<int32_t> prompt = tokensOf(options.prompt);
  nn::GenerateOptions how{
      .temperature = options.temperature, .cached = !options.uncached, .graph = true};
  int64_t left = options.length - static_cast<int64_t>(prompt.size());
  int64_t count = std::clamp<int64_t>(left, 0, options.count);
  std::vector<int32_t> written = nn::generate(model, prompt, count, generator, how);
  std::printf("%s%s\n", options.prompt.c_str(),
              std::string(written.begin(), written.end()).c_str());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("A small transformer that learns to write in the manner of a text.");
  app.require_subcommand(1);
  auto *training = app.add_subcommand("train", "learn from a text");
  auto *writing = app.add_subcommand("generate", "write from what was learnt");
  auto positive = CLI::Range(int64_t{1}, int64_t{1} << 40);
  for (CLI::App *each : {training, writing}) {
    each->add_option("--model,--out", options.file, "the safetensors file of the model");
    each->add_option("--device", options.device, "auto, cuda:0, virtual, virtual:sm_90a");
  }
  training->add_option("--length", options.length, "characters seen at once")->check(positive);
  training->add_option("--width", options.width, "of the layers")->check(positive);
  training->add_option("--layers", options.layers)->check(positive);
  training->add_option("--heads", options.heads)->check(positive);
  training->add_flag("--f32", options.wide, "parameters and activations in f32 instead of bf16");
  training->add_flag("--large", options.large, "12 layers of width 768, 1024 characters at once");
  training->add_option("--data", options.data, "the text");
  training->add_option("--steps", options.steps)->check(positive);
  training->add_option("--until", options.until, "stop after this step of them, as if interrupted");
  training->add_option("--batch", options.batch, "pieces of text in a step")->check(positive);
  training->add_option("--rate", options.rate, "the largest learning rate; 0.192 / width")
      ->check(CLI::PositiveNumber);
  training->add_option("--warmup", options.warmup, "steps until that rate; a tenth of all")
      ->check(CLI::NonNegativeNumber);
  training->add_option("--dropout", options.dropout);
  training->add_option("--save-every", options.saveEvery)->check(positive);
  training->add_option("--curve", options.curve, "draws the loss into this SVG file");
  training->add_option("--below", options.below, "exit code 1 unless the loss ends below this");
  training->add_flag("--resume", options.resume, "go on from the file");
  writing->add_option("--prompt", options.prompt)
      ->check(
          CLI::Validator([](std::string &text) { return text.empty() ? "empty" : ""; }, "TEXT"));
  writing->add_option("--count", options.count, "characters to write")->check(positive);
  writing->add_option("--temperature", options.temperature, "0: always the likeliest character");
  writing->add_flag("--uncached", options.uncached, "compute everything again for each character");
  CLI11_PARSE(app, argc, argv);
  if (options.large)
    options.length = 1024, options.width = 768, options.layers = 12, options.heads = 12,
    options.batch = 16;
  try {
    return training->parsed() ? train(options) : generate(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
