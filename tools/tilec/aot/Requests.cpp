#include "tools/tilec/aot/Requests.h"

#include "capi/compiler/ParameterNames.h"
#include "tools/tilec/aot/Names.h"
#include "tools/tilec/input/KernelFile.h"
#include "tools/tilec/input/Refuse.h"
#include "tools/tilec/input/Settings.h"

#include <iterator>
#include <map>
#include <sstream>

namespace tile::tilec {
namespace {

using detail::ParamSpec;

void checkName(const std::string &name) {
  if (!isIdentifier(name))
    refuse("'" + name + "' cannot be the name of a function: letters, digits and _ make one");
  if (hasMeaningInCpp(name))
    refuse("'" + name +
           "' has a meaning in C++: name the function otherwise, as in --function "
           "'my_" +
           name + " = " + name + "'");
}

std::vector<std::string> wordsOf(const std::string &line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Makes requests of inputs; loads each file once.
class Inputs {
public:
  explicit Inputs(std::string target) : target_(std::move(target)) {}

  const KernelRecords &kernelsOf(const std::string &file) {
    auto found = files_.find(file);
    if (found == files_.end())
      found = files_.emplace(file, loadKernels(file)).first;
    return found->second;
  }

  AotRequest ofKernel(const std::string &file, const std::string &kernel,
                      const OpSettings &settings) {
    BoundKernel bound = bindKernel(kernelsOf(file), file, kernel, settings);
    KernelRequest request = exampleRequest(bound, settings);
    refuseUnused(settings);
    return named(bound.record->name, std::move(request));
  }

  AotRequest ofOp(const OpEntry &op, OpSettings settings) {
    settings.setTarget(target_);
    KernelRequest request = op.kernel(settings);
    refuseUnused(settings);
    return named(op.name, std::move(request));
  }

private:
  static AotRequest named(std::string name, KernelRequest request) {
    AotRequest result{std::move(name), std::move(request), {}, {}};
    const detail::KernelRecord &record = *result.request.record;
    std::vector<std::string> names = capi::parameterNamesOf(record);
    auto constant = result.request.constants.begin();
    for (size_t i = 0; i < record.params.size(); ++i)
      if (record.params[i].kind == ParamSpec::Const)
        result.constants.emplace_back(names[i], *constant++);
      else
        result.argumentNames.push_back(names[i]);
    return result;
  }

  std::string target_;
  std::map<std::string, KernelRecords> files_;
};

/// "[NAME =] KERNEL|op:NAME SETTING..."
AotRequest requestOf(Inputs &inputs, const std::string &line, const std::string &file) {
  std::vector<std::string> words = wordsOf(line);
  std::string name;
  if (words.size() > 2 && words[1] == "=") {
    name = words[0];
    words.erase(words.begin(), words.begin() + 2);
  }
  OpSettings settings = takeSettings(words);
  if (words.size() != 1)
    refuse("--function '" + line +
           "': one kernel or op:NAME is expected, as in 'big = scale B=4096'");
  const OpEntry *op = opOf(words[0]);
  if (!op && file.empty())
    refuse("--function '" + line +
           "': the file that has the kernel is missing: tilec aot FILE.cpp ...");
  AotRequest request =
      op ? inputs.ofOp(*op, std::move(settings)) : inputs.ofKernel(file, words[0], settings);
  if (!name.empty())
    request.name = name;
  return request;
}

/// The functions of an input without --function: one, or all kernels of a file.
std::vector<AotRequest> requestsOf(Inputs &inputs, const AotWords &asked,
                                   std::vector<std::string> words, OpSettings settings) {
  std::vector<AotRequest> requests;
  if (const OpEntry *op = opOf(words[0])) {
    if (!asked.kernel.empty())
      refuse("--kernel chooses among the kernels of a FILE.cpp or LIB.so");
    requests.push_back(inputs.ofOp(*op, std::move(settings)));
  } else if (!isKernelFile(words[0])) {
    refuse("'" + words[0] + "' is neither op:NAME nor a file called something.cpp or .so");
  } else if (!asked.kernel.empty() || inputs.kernelsOf(words[0]).size() == 1) {
    requests.push_back(inputs.ofKernel(words[0], asked.kernel, settings));
  } else {
    for (const auto &record : inputs.kernelsOf(words[0]))
      requests.push_back(inputs.ofKernel(words[0], record->name, settings));
  }
  if (!asked.name.empty() && requests.size() > 1)
    refuse("--as names one function, and '" + words[0] + "' has " +
           std::to_string(requests.size()) + " kernels; choose one by --kernel");
  if (!asked.name.empty())
    requests[0].name = asked.name;
  return requests;
}

void checkNames(const std::vector<AotRequest> &requests) {
  for (auto request = requests.begin(); request != requests.end(); ++request) {
    checkName(request->name);
    for (auto other = requests.begin(); other != request; ++other)
      if (other->name == request->name)
        refuse("two functions are called '" + request->name +
               "': name one, as in --function 'big = " + request->name + " ...'");
  }
}

} // namespace

std::vector<AotRequest> aotRequests(const AotWords &asked, const std::string &target) {
  Inputs inputs(target);
  std::vector<std::string> words = asked.words;
  OpSettings settings = takeSettings(words);
  if (words.size() > 1 || (words.empty() && asked.functions.empty()))
    refuse("one input is expected, op:NAME, FILE.cpp or LIB.so; got " +
           std::to_string(words.size()));
  std::vector<AotRequest> requests;
  if (asked.functions.empty()) {
    requests = requestsOf(inputs, asked, words, std::move(settings));
  } else {
    if (!asked.kernel.empty() || !asked.name.empty())
      refuse("--kernel and --as are for one function; --function says both itself");
    for (const std::string &line : asked.functions)
      requests.push_back(requestOf(inputs, line, words.empty() ? "" : words[0]));
    refuseUnused(settings);
  }
  checkNames(requests);
  return requests;
}

} // namespace tile::tilec
