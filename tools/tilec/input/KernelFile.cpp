#include "tools/tilec/input/KernelFile.h"

#include "capi/compiler/ParameterNames.h"
#include "runtime/tune/Space.h"
#include "tools/tilec/input/Description.h"
#include "tools/tilec/input/HostCompiler.h"
#include "tools/tilec/input/Refuse.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

namespace tile::tilec {
namespace {

using detail::KernelRecord;
using detail::ParamSpec;
using Records = KernelRecords;

constexpr int64_t kExampleExtent = 1024;

bool isSource(const std::string &file) {
  std::string extension = std::filesystem::path(file).extension().string();
  return extension == ".cpp" || extension == ".cc" || extension == ".cxx";
}

std::shared_ptr<const KernelRecord> choose(const Records &records, const std::string &file,
                                           const std::string &name) {
  Records fitting;
  std::string known;
  for (auto &record : records) {
    known += (known.empty() ? "" : ", ") + record->name;
    if (name.empty() || record->name == name)
      fitting.push_back(record);
  }
  if (fitting.size() == 1)
    return fitting[0];
  if (name.empty())
    refuse("'" + file + "' has several kernels; choose one by --kernel: " + known);
  refuse((fitting.empty() ? "'" + file + "' has no kernel '"
                          : "'" + file + "' has several kernels '") +
         name + "'; it has " + known);
}

std::vector<int64_t> numberList(const std::string &text) {
  std::vector<int64_t> numbers;
  for (size_t start = 0; start < text.size();) {
    size_t end = std::min(text.find(',', start), text.size());
    int64_t number = 0;
    auto [stop, fault] = std::from_chars(text.data() + start, text.data() + end, number);
    if (fault != std::errc() || stop != text.data() + end)
      refuse("consts=" + text + ": a list of integers is expected, such as 128,128,64");
    numbers.push_back(number);
    start = end + 1;
  }
  return numbers;
}

/// The value of a constant that is tuned, where nothing better is known.
std::optional<int64_t> valueOfTuned(const KernelRecord &record, int constant) {
  if (record.tuning)
    for (const auto &setting : record.tuning->settings)
      if (setting.constant == constant)
        return setting.otherwise;
  return std::nullopt;
}

std::vector<int64_t> bindConstants(BoundKernel &kernel, const OpSettings &settings,
                                   Constants constants) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kernel.names.size(); ++i)
    if (kernel.record->params[i].kind == ParamSpec::Const)
      names.push_back(kernel.names[i]);
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : " ") + name + "=N";
  if (std::string all = settings.text("consts", ""); !all.empty()) {
    std::vector<int64_t> numbers = numberList(all);
    if (numbers.size() != names.size())
      refuse("consts=" + all + ": kernel '" + kernel.record->name + "' has " +
             std::to_string(names.size()) + " constants" + (names.empty() ? "" : ": " + list));
    return numbers;
  }
  std::vector<int64_t> numbers;
  for (const std::string &name : names) {
    std::optional<int64_t> tuned = valueOfTuned(*kernel.record, static_cast<int>(numbers.size()));
    if (!tuned && settings.text(name, "").empty()) {
      if (constants == Constants::AreGiven)
        refuse("kernel '" + kernel.record->name + "' needs its constants: " + list);
      kernel.open.push_back(name);
    }
    numbers.push_back(settings.integer(name, tuned.value_or(0)));
  }
  return numbers;
}

detail::HostArg exampleOf(const ParamSpec &spec, const std::string &name,
                          const OpSettings &settings) {
  DType dtype = spec.dtype == any ? f32 : spec.dtype;
  if (spec.kind == ParamSpec::Scalar) {
    std::string number = settings.text(name, "");
    return number.empty() ? exampleScalar(dtype) : scalarOf(dtype, number);
  }
  TensorSpec example{dtype, std::vector<int64_t>(static_cast<size_t>(spec.rank), kExampleExtent)};
  if (std::string word = settings.text(name, ""); !word.empty()) {
    if (auto full = tensorSpec(word))
      example = *full;
    else if (auto extents = extentsOf(word))
      example.extents = *extents;
    else
      refuse(name + "=" + word + ": a tensor is expected, such as " + nameOf(dtype) + "[1000x777]");
  }
  return exampleView(example.dtype, example.extents);
}

/// Reports and messages then call arguments as the command line does. The record is one that loading has made, whose kernel was
/// launched by nobody yet.
void nameParameters(const KernelRecord &record, const std::vector<std::string> &names) {
  const_cast<KernelRecord &>(record).paramNames = names;
}

/// The kernels that loading a file makes.
Records load(const std::string &file) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(file, fault))
    throw Error(Fault::User, ErrorCode::IoError,
                "cannot read '" + file + "': " + (fault ? fault.message() : "not a file"));
  Records before = detail::liveRecords();
  isSource(file) ? loadSource(file) : loadLibrary(file);
  Records made;
  for (auto &record : detail::liveRecords())
    if (std::find(before.begin(), before.end(), record) == before.end())
      made.push_back(record);
  if (made.empty())
    refuse("'" + file +
           "' has no kernel in a static variable, as in: auto k = kernel(\"k\", ...);");
  return made;
}

} // namespace

bool isKernelFile(const std::string &file) {
  return isSource(file) || std::filesystem::path(file).extension() == ".so";
}

// A library that is loaded once more makes nothing, and a source would be compiled again: for each target, say.
KernelRecords loadKernels(const std::string &file) {
  static std::map<std::string, KernelRecords> loaded;
  auto known = loaded.find(file);
  if (known == loaded.end())
    known = loaded.emplace(file, load(file)).first;
  return known->second;
}

BoundKernel loadKernel(const std::string &file, const std::string &name, const OpSettings &settings,
                       Constants constants) {
  return bindKernel(loadKernels(file), file, name, settings, constants);
}

BoundKernel bindKernel(const KernelRecords &records, const std::string &file,
                       const std::string &name, const OpSettings &settings, Constants constants) {
  BoundKernel kernel;
  kernel.record = choose(records, file, name);
  kernel.names = capi::parameterNamesOf(*kernel.record);
  nameParameters(*kernel.record, kernel.names);
  kernel.warps = static_cast<int>(std::clamp<int64_t>(settings.integer("warps", 4), 0, 1 << 20));
  kernel.constants = bindConstants(kernel, settings, constants);
  return kernel;
}

KernelRequest exampleRequest(const BoundKernel &kernel, const OpSettings &settings) {
  std::vector<detail::HostArg> arguments;
  for (size_t i = 0; i < kernel.names.size(); ++i)
    if (kernel.record->params[i].kind != ParamSpec::Const)
      arguments.push_back(exampleOf(kernel.record->params[i], kernel.names[i], settings));
  return {*kernel.record, kernel.constants, {.warps = kernel.warps}, std::move(arguments)};
}

} // namespace tile::tilec
