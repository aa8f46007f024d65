// Names in files, and what is checked before anything of a file is taken over.
#include <tile/nn/Files.h>

#include <tile/ops/Arithmetic.h>

#include <algorithm>
#include <charconv>

namespace tile::nn {
namespace {

/// Names of what an optimizer keeps begin with this, so that they are no parameters.
constexpr std::string_view kOptimizer = "optimizer.";
/// Names of notes, among the texts of a file.
constexpr std::string_view kNote = "note.";

[[noreturn]] void refuse(ErrorCode code, const std::string &path, const std::string &why, Loc loc) {
  throw Error(Fault::User, code, path + ": " + why, loc);
}

std::string textOf(const Tensor &tensor) { return ops::Operand(tensor).str(); }

/// A tensor in memory and the one of the file that it is to become.
struct Assignment {
  Tensor target, source;
};

/// Finds the file's tensor for each target. Both must have the same names; nothing is changed yet.
std::vector<Assignment> assignmentsOf(const std::string &path, const SafeTensors &file,
                                      std::span<const NamedTensor> targets, bool mayRound,
                                      bool areParameters, Loc loc) {
  const char *owner = areParameters ? "module" : "optimizer";
  std::vector<Assignment> list;
  for (const auto &[name, target] : targets) {
    auto found = std::ranges::find(file.tensors, name, &NamedTensor::name);
    if (found == file.tensors.end())
      refuse(ErrorCode::InvalidArgument, path,
             "has no tensor '" + name + "' (" + textOf(target) + "), which the " + owner + " needs",
             loc);
    const Tensor &source = found->tensor;
    if (!std::ranges::equal(source.extents(), target.extents()))
      refuse(ErrorCode::InvalidShape, path,
             "'" + name + "' is " + textOf(source) + ", the " + owner + "'s is " + textOf(target),
             loc);
    if (!mayRound && source.dtype() != target.dtype())
      refuse(ErrorCode::InvalidArgument, path,
             "'" + name + "' is " + textOf(source) + ", the run's is " + textOf(target) +
                 ": going on needs the same dtype",
             loc);
    list.push_back({target, source});
  }
  for (const auto &[name, tensor] : file.tensors)
    if (name.starts_with(kOptimizer) != areParameters &&
        std::ranges::find(targets, name, &NamedTensor::name) == targets.end())
      refuse(ErrorCode::InvalidArgument, path,
             "has a tensor '" + name + "' (" + textOf(tensor) + "), which the " + owner +
                 " has not",
             loc);
  return list;
}

void assign(std::span<const Assignment> assignments, const Stream &stream, Loc loc) {
  Stream queue = stream;
  for (const auto &[target, source] : assignments) {
    ops::copy(queue, source, target, loc);
    target.markChanged();
  }
}

std::vector<NamedTensor> tensorsOf(const Module &module, const std::string &path, Loc loc) {
  std::vector<NamedTensor> list;
  for (const auto &[name, variable] : module.parameters(loc)) {
    if (name.starts_with(kOptimizer))
      refuse(ErrorCode::InvalidArgument, path,
             "the parameter '" + name + "' has a name kept for optimizers", loc);
    list.push_back({name, variable.value()});
  }
  return list;
}
Stream streamOf(const Module &module, const std::string &path, Loc loc) {
  std::vector<NamedVariable> parameters = module.parameters(loc);
  if (parameters.empty())
    refuse(ErrorCode::InvalidArgument, path, "the module has no parameters", loc);
  return parameters[0].variable.stream();
}

std::vector<NamedTensor> tensorsOf(const Optimizer &optimizer) {
  std::vector<NamedTensor> list = optimizer.state();
  for (NamedTensor &each : list)
    each.name = std::string(kOptimizer) + each.name;
  return list;
}

std::map<std::string, std::string> notesOf(const SafeTensors &file) {
  std::map<std::string, std::string> notes;
  for (const auto &[name, text] : file.metadata)
    if (name.starts_with(kNote))
      notes[name.substr(kNote.size())] = text;
  return notes;
}

template <class Number>
Number numberOf(const std::string &path, const SafeTensors &file, const char *key, Loc loc) {
  auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    refuse(ErrorCode::InvalidArgument, path,
           std::string("says nothing of '") + key + "': it is no file of saveTraining", loc);
  const std::string &text = found->second;
  Number number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    refuse(ErrorCode::Parse, path, std::string("'") + key + "' is '" + text + "', no number", loc);
  return number;
}

} // namespace

void saveParameters(const std::string &path, const Module &module, Loc loc) {
  saveSafeTensors(path, tensorsOf(module, path, loc), {}, loc);
}

void loadParameters(const std::string &path, const Module &module, Loc loc) {
  Stream stream = streamOf(module, path, loc);
  SafeTensors file = loadSafeTensors(stream, path, loc);
  assign(assignmentsOf(path, file, tensorsOf(module, path, loc), true, true, loc), stream, loc);
}

void saveTraining(const std::string &path, const Module &module, const Optimizer &optimizer,
                  const TrainingState &state, Loc loc) {
  std::vector<NamedTensor> tensors = tensorsOf(module, path, loc);
  std::ranges::move(tensorsOf(optimizer), std::back_inserter(tensors));
  std::map<std::string, std::string> texts = {
      {"step", std::to_string(state.step)},
      {"generator.seed", std::to_string(state.generator.seed)},
      {"generator.offset", std::to_string(state.generator.offset)},
      {"optimizer.steps", std::to_string(optimizer.steps())}};
  for (const auto &[name, text] : state.notes)
    texts[std::string(kNote) + name] = text;
  saveSafeTensors(path, tensors, texts, loc);
}

std::map<std::string, std::string> notesOf(const Stream &stream, const std::string &path, Loc loc) {
  return notesOf(loadSafeTensors(stream, path, loc));
}

TrainingState loadTraining(const std::string &path, const Module &module, Optimizer &optimizer,
                           Loc loc) {
  Stream stream = streamOf(module, path, loc);
  SafeTensors file = loadSafeTensors(stream, path, loc);
  TrainingState state{
      .step = numberOf<int64_t>(path, file, "step", loc),
      .generator = {.seed = numberOf<uint64_t>(path, file, "generator.seed", loc),
                    .offset = numberOf<uint64_t>(path, file, "generator.offset", loc)},
      .notes = notesOf(file)};
  auto steps = numberOf<int64_t>(path, file, "optimizer.steps", loc);
  auto parameters = assignmentsOf(path, file, tensorsOf(module, path, loc), false, true, loc);
  auto kept = assignmentsOf(path, file, tensorsOf(optimizer), false, false, loc);
  if (steps < 0)
    refuse(ErrorCode::Parse, path, "'optimizer.steps' is " + std::to_string(steps), loc);
  assign(parameters, stream, loc);
  assign(kept, stream, loc);
  optimizer.continueAfter(steps, loc);
  return state;
}

} // namespace tile::nn
