// The public face of archives.
#include "base/ForkLocks.h"
#include "base/ReadFile.h"
#include "runtime/aot/Kernels.h"
#include "runtime/launch/ForCall.h"

#include <tile/Aot.h>

#include <map>

namespace tile {

const std::string &ArchivedFunction::name() const { return function_->function().name; }

const detail::KernelRecord &ArchivedFunction::record() const { return function_->record(); }

std::vector<ArchivedParameter> ArchivedFunction::parameters() const {
  const aot::Function &function = function_->function();
  std::vector<ArchivedParameter> parameters;
  for (size_t i = 0; i < function.params.size(); ++i)
    parameters.push_back({function.paramNames[i], function.params[i].kind, function.params[i].dtype,
                          function.params[i].rank});
  return parameters;
}

const std::vector<std::pair<std::string, int64_t>> &ArchivedFunction::constants() const {
  return function_->function().constants;
}

std::vector<std::string> ArchivedFunction::targets() const {
  return aot::targetsOf(function_->function());
}

void ArchivedFunction::launch(CallSite site, std::span<const HostArg> arguments) const {
  detail::LaunchOptions options;
  options.call = site.where;
  function_->launch(site.stream.state(), arguments, options);
}

void ArchivedFunction::prepare(const Device &device, Loc where) const {
  launch::forCall(where, [&] { function_->load(*device.state()); });
}

KernelArchive KernelArchive::of(std::span<const std::byte> bytes, const std::string &source,
                                Loc where) {
  std::shared_ptr<const aot::Kernels> kernels;
  launch::forCall(
      where, [&] { kernels = std::make_shared<const aot::Kernels>(aot::decode(bytes, source)); });
  return KernelArchive(std::move(kernels));
}

KernelArchive KernelArchive::open(const std::string &path, Loc where) {
  std::string content;
  launch::forCall(where, [&] { content = base::readFile(path); });
  return of(std::as_bytes(std::span(content)), path, where);
}

std::vector<std::string> KernelArchive::names() const {
  std::vector<std::string> names;
  for (const auto &function : kernels_->functions())
    names.push_back(function->function().name);
  return names;
}

ArchivedFunction KernelArchive::function(const std::string &name, Loc where) const {
  return {kernels_, kernels_->function(name, where)};
}

const ArchivedFunction &detail::embeddedFunction(const unsigned char *bytes, size_t size,
                                                 const char *name) {
  struct Opened {
    KernelArchive archive;
    std::map<std::string, ArchivedFunction, std::less<>> functions;
  };
  // Never destroyed: static variables of programs may be launched from destructors of others.
  static auto *mutex = new base::ForkMutex;
  static auto *opened = new std::map<const unsigned char *, Opened>;
  std::lock_guard lock(*mutex);
  auto found = opened->find(bytes);
  if (found == opened->end()) {
    KernelArchive archive = KernelArchive::of(std::as_bytes(std::span(bytes, size)),
                                              "an archive in the program", Loc());
    found = opened->emplace(bytes, Opened{archive, {}}).first;
  }
  auto function = found->second.functions.find(std::string_view(name));
  if (function == found->second.functions.end())
    function =
        found->second.functions.emplace(name, found->second.archive.function(name, Loc())).first;
  return function->second;
}

} // namespace tile
