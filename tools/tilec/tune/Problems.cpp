#include "tools/tilec/tune/Problems.h"

#include "base/ReadFile.h"
#include "runtime/tune/Shape.h"
#include "tools/tilec/input/Description.h"
#include "tools/tilec/input/KernelFile.h"
#include "tools/tilec/input/Refuse.h"
#include "tools/tilec/input/Settings.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <random>
#include <sstream>

namespace tile::tilec {
namespace {

using detail::KernelRecord;
using Json = nlohmann::json;

TuneProblem problemOf(const KernelRequest &request, std::vector<std::string> open) {
  TuneProblem problem{request.record, request.constants, request.arguments, "", std::move(open)};
  problem.line = tune::shapeLine(*problem.record, problem.examples, problem.constants);
  return problem;
}

/// A value for what is tuned would have no effect: all are tried.
void refuseTuned(const KernelRecord &record, const std::vector<std::string> &given) {
  for (const auto &setting : tune::spaceOf(record).settings)
    if (std::ranges::find(given, setting.name) != given.end())
      refuse("'" + setting.name + "' of kernel '" + record.name +
             "' is tuned, so all its values are tried: leave it out");
}

TuneProblem problemOfInput(std::vector<std::string> words, const std::string &kernel,
                           const std::string &target, Constants constants) {
  std::vector<std::string> given, open;
  for (const std::string &word : words)
    if (size_t equals = word.find('='); equals != word.npos)
      given.push_back(word.substr(0, equals));
  OpSettings settings = takeSettings(words);
  if (words.size() != 1)
    refuse("one input is expected, op:NAME, FILE.cpp or LIB.so; got " +
           std::to_string(words.size()));
  settings.setTarget(target);
  std::optional<KernelRequest> request;
  if (isKernelFile(words[0])) {
    // The record is in a static variable of the library, which stays loaded.
    BoundKernel bound = loadKernel(words[0], kernel, settings, constants);
    request = exampleRequest(bound, settings);
    open = std::move(bound.open);
  } else if (const OpEntry *op = opOf(words[0])) {
    request = op->kernel(settings);
  } else {
    refuse("'" + words[0] + "' is neither op:NAME nor a file called something.cpp or .so");
  }
  refuseUnused(settings);
  refuseTuned(*request->record, given); // also a kernel of which nothing is tuned
  return problemOf(*request, std::move(open));
}

/// The kernels that lines of shapes may be of: the one that is named, else those of the file of which something is tuned.
std::vector<std::string> kernelsOfLines(std::vector<std::string> words, const std::string &kernel) {
  takeSettings(words);
  if (!kernel.empty() || words.size() != 1 || !isKernelFile(words[0]))
    return {kernel};
  std::vector<std::string> names;
  for (const auto &record : loadKernels(words[0]))
    if (record->tuning)
      names.push_back(record->name);
  return names.empty() ? std::vector{kernel} : names;
}

/// "f16[128x64]", "f16[128x64]:0", "f32"
std::optional<HostArg> exampleOf(std::string_view word) {
  if (std::optional<DType> dtype = dtypeNamed(word))
    return exampleScalar(*dtype);
  size_t end = word.rfind(']'), split = end == word.npos ? word.npos : word.find(':', end);
  std::optional<TensorSpec> spec = tensorSpec(word.substr(0, split));
  if (!spec || spec->extents.size() > kMaxRank)
    return std::nullopt;
  HostArg view = exampleView(spec->dtype, spec->extents);
  if (split == word.npos)
    return view;
  std::optional<std::vector<int64_t>> unit = extentsOf(word.substr(split + 1));
  if (!unit || unit->size() != 1 || unit->front() >= view.rank)
    return std::nullopt;
  auto first = static_cast<int>(unit->front());
  int64_t stride = std::max<int64_t>(view.extents[first], 1);
  view.strides[first] = 1;
  for (int dim = view.rank - 1; dim >= 0; --dim)
    if (dim != first)
      view.strides[dim] = std::exchange(stride, stride * std::max<int64_t>(view.extents[dim], 1));
  return view;
}

void setConstants(TuneProblem &problem, const Json &constants, const std::string &place) {
  std::vector<std::string> names;
  for (size_t i = 0; i < problem.record->params.size(); ++i)
    if (problem.record->params[i].kind == detail::ParamSpec::Const)
      names.push_back(i < problem.record->paramNames.size() ? problem.record->paramNames[i] : "");
  for (const auto &[name, value] : constants.items()) {
    auto found = std::ranges::find(names, name);
    if (found == names.end() || !value.is_number_integer())
      refuse(place + ": kernel '" + problem.record->name + "' has no constant '" + name +
             "', or its value is no integer: " + value.dump());
    problem.constants[static_cast<size_t>(found - names.begin())] = value.get<int64_t>();
    std::erase(problem.open, name);
  }
}

std::vector<std::string> linesOf(const std::string &file) {
  std::istringstream in(base::readFile(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

Json parsed(const std::string &line, const std::string &place) {
  Json value = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object() || !value.contains("args") || !value["args"].is_array())
    refuse(place +
           R"(: a line such as {"kernel":"matmul","args":["f16[64x64]", ...]} is expected)");
  return value;
}

bool isOf(const Json &line, const KernelRecord &record) {
  return !line.contains("kernel") || line["kernel"] == record.name;
}

// So many numbers are drawn, and then come again; a prime, so that rows differ.
constexpr size_t kDrawn = 65521;

void fill(const Tensor &tensor, std::mt19937 &random) {
  std::normal_distribution<float> normal;
  auto count = static_cast<size_t>(tensor.numel());
  std::vector<std::byte> bytes(count * sizeOf(tensor.dtype()));
  auto put = [&]<class T>(T, auto draw) {
    for (size_t i = 0; i < std::min(count, kDrawn); ++i) {
      T value = draw();
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
    for (size_t at = kDrawn * sizeof(T); at < bytes.size(); ++at)
      bytes[at] = bytes[at - kDrawn * sizeof(T)];
  };
  switch (tensor.dtype()) {
  case f64:
    put(double(), [&] { return static_cast<double>(normal(random)); });
    break;
  case f32:
    put(float(), [&] { return normal(random); });
    break;
  case f16:
    put(half(), [&] { return half(normal(random)); });
    break;
  case bf16:
    put(bfloat16(), [&] { return bfloat16(normal(random)); });
    break;
  case e4m3:
    put(float8_e4m3(), [&] { return float8_e4m3(normal(random)); });
    break;
  case e5m2:
    put(float8_e5m2(), [&] { return float8_e5m2(normal(random)); });
    break;
  case i1:
    put(uint8_t(), [&] { return static_cast<uint8_t>(random() & 1); });
    break;
  default: // counts and indices: 0 is one that any kernel can take
    break;
  }
  tensor.uploadBytes(bytes.data(), bytes.size());
}

} // namespace

TuneProblem problemOfLine(const TuneProblem &like, const std::string &line,
                          const std::string &place) {
  Json value = parsed(line, place);
  TuneProblem problem{like.record, like.constants, {}, line, like.open};
  for (const Json &word : value["args"]) {
    std::optional<HostArg> example =
        word.is_string() ? exampleOf(word.get<std::string>()) : std::nullopt;
    if (!example)
      refuse(place + ": " + word.dump() + " is no argument such as \"f16[128x64]\" or \"f32\"");
    problem.examples.push_back(*example);
  }
  if (value.contains("consts"))
    setConstants(problem, value["consts"], place);
  if (!problem.open.empty())
    refuse(place + ": kernel '" + problem.record->name + "' needs its constant '" +
           problem.open.front() + "'");
  try {
    detail::checkArguments(*problem.record, problem.examples);
  } catch (const Error &error) {
    refuse(place + ": " + error.message());
  }
  return problem;
}

TuneProblem kernelOfLines(std::vector<std::string> words, const std::string &kernel,
                          const std::string &target) {
  return problemOfInput(std::move(words), kernel, target, Constants::MayBeOpen);
}

std::vector<TuneProblem> problemsOf(std::vector<std::string> words, const std::string &kernel,
                                    const std::string &shapes, const std::string &target) {
  if (shapes.empty()) {
    TuneProblem problem = problemOfInput(std::move(words), kernel, target, Constants::AreGiven);
    detail::checkArguments(*problem.record, problem.examples);
    return {problem};
  }
  const std::vector<std::string> lines = linesOf(shapes);
  std::vector<TuneProblem> problems;
  std::string names;
  for (const std::string &name : kernelsOfLines(words, kernel)) {
    TuneProblem like = kernelOfLines(words, name, target);
    names += (names.empty() ? "'" : ", '") + like.record->name + "'";
    for (size_t i = 0; i < lines.size(); ++i) {
      std::string place = shapes + ":" + std::to_string(i + 1);
      if (lines[i].find_first_not_of(" \t\r") != std::string::npos &&
          isOf(parsed(lines[i], place), *like.record))
        problems.push_back(problemOfLine(like, lines[i], place));
    }
  }
  if (problems.empty())
    refuse("'" + shapes + "' has no line for kernel " + names);
  return problems;
}

ProblemMemory::ProblemMemory(const TuneProblem &problem, const Device &device)
    : problem_(problem), device_(device), args_(problem.examples) {
  std::mt19937 random(20); // the same data each time
  for (HostArg &arg : args_) {
    if (arg.kind == HostArg::Scalar) {
      if (!arg.hasValue)
        arg = scalarOf(arg.dtype, "1");
      continue;
    }
    std::vector<int64_t> extents(arg.extents, arg.extents + arg.rank);
    int64_t count = 1;
    for (int64_t extent : extents)
      count *= extent;
    Tensor tensor(device, arg.dtype, std::array{count});
    fill(tensor, random);
    tensors_.push_back(tensor);
    arg.pointer = tensor.data(), arg.device = device.handle();
  }
}

} // namespace tile::tilec
