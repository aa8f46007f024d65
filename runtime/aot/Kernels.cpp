#include "runtime/aot/Kernels.h"

#include "frontend/call/Arguments.h"
#include "runtime/host/Capture.h"
#include "runtime/host/Room.h"
#include "runtime/launch/ForCall.h"
#include "runtime/launch/Overlap.h"
#include "runtime/launch/RecentCalls.h"
#include "runtime/trace/Span.h"

#include <algorithm>
#include <atomic>

namespace tile::aot {
namespace {

using detail::HostArg;

uint64_t newId() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

/// The function as a kernel whose parameters all take arguments.
detail::KernelRecord recordOf(const Function &function) {
  detail::KernelRecord record;
  record.name = function.kernel;
  record.where = {function.file.c_str(), function.line};
  record.params = function.params;
  record.paramNames = function.paramNames;
  return record;
}

bool asksForNumbers(const Needs &needs) {
  return std::ranges::any_of(needs.values,
                             [](const NeededValue &value) { return value.use.dim < 0; });
}

} // namespace

LoadedFunction::LoadedFunction(Function function)
    : function_(std::move(function)), record_(recordOf(function_)), id_(newId()) {}

std::deque<LoadedVariant> &LoadedFunction::variantsFor(detail::DeviceState &device) {
  std::lock_guard lock(mutex_);
  auto found = byDevice_.find(device.id);
  if (found == byDevice_.end()) {
    std::deque<LoadedVariant> variants;
    for (const Variant *variant : aot::variantsFor(function_, device.device->props()))
      variants.emplace_back().variant = variant;
    found = byDevice_.emplace(device.id, std::move(variants)).first;
  }
  return found->second;
}

const launch::LoadedKernel &LoadedFunction::loaded(LoadedVariant &variant,
                                                   detail::DeviceState &device) {
  std::lock_guard lock(mutex_);
  if (!variant.kernel) {
    variant.kernel = detail::withRoom(device, [&] {
      return launch::load(*device.device, variant.variant->compiled, variant.variant->cubin,
                          {function_.name, record_.where});
    });
    variant.kernel->aliases = variant.variant->aliases;
    variant.kernel->isForNumbers = std::ranges::any_of(
        function_.variants, [](const Variant &any) { return asksForNumbers(any.needs); });
    variant.isLoaded = true;
  }
  return *variant.kernel;
}

LoadedVariant &LoadedFunction::variantFor(detail::StreamState &stream,
                                          std::span<const HostArg> args) {
  std::deque<LoadedVariant> &variants = variantsFor(*stream.owner);
  std::string why;
  for (LoadedVariant &variant : variants)
    if (why = unmetNeed(variant.variant->needs, record_, args); why.empty()) {
      if (stream.isExternal && !variant.isLoaded)
        detail::refuseIfOthersCapture(stream, "function '" + function_.name + "' would be loaded",
                                      "call it once before, or prepare() it");
      return variant;
    }
  throw Error(Fault::User, ErrorCode::Unsupported,
              "'" + function_.name + "' is not compiled for such arguments: " + why);
}

launch::RecentCall LoadedFunction::kernelFor(detail::StreamState &stream,
                                             std::span<const HostArg> args) {
  auto aliases = [&]() -> launch::Pairs { // those of the source, so of each variant
    return variantsFor(*stream.owner).front().variant->aliases;
  };
  std::vector<HostArg> marked;
  args = launch::markSameViews(record_, args, marked);
  detail::checkArguments(record_, args);
  frontend::checkTensors(record_, args, {stream.owner->id, stream.owner->name});
  std::vector<launch::Footprint> footprints = launch::footprintsOf(record_, args);
  launch::refuseOverlap(record_, args, footprints, aliases);
  return {loaded(variantFor(stream, args), *stream.owner), std::move(footprints)};
}

void LoadedFunction::launch(detail::StreamState &stream, std::span<const HostArg> args,
                            const detail::LaunchOptions &options) {
  launch::forCall(options.call, [&] {
    trace::Span span("launch", function_.name);
    const uint64_t device = stream.owner->id;
    const launch::CallForm form{launch::Origin::Archive, id_, {device, 0, 0}, {}, args};
    launch::RecentCalls &recent = launch::RecentCalls::ofThread();
    launch::RecentCall *known = recent.find(form, device);
    if (!known)
      known = &recent.add(form, kernelFor(stream, args));
    launch::start({function_.name, record_.where}, *known, stream, args, options, span);
  });
}

void LoadedFunction::load(detail::DeviceState &device) {
  detail::refuseOfParent(device);
  for (LoadedVariant &variant : variantsFor(device))
    loaded(variant, device);
}

Kernels::Kernels(Archive archive) : name_(std::move(archive.name)) {
  for (Function &function : archive.functions)
    functions_.push_back(std::make_unique<LoadedFunction>(std::move(function)));
}

LoadedFunction &Kernels::function(const std::string &name, Loc where) const {
  std::string known;
  for (const auto &function : functions_) {
    if (function->function().name == name)
      return *function;
    known += (known.empty() ? "" : ", ") + function->function().name;
  }
  throw Error(Fault::User, ErrorCode::InvalidArgument,
              "the archive '" + name_ + "' has no function '" + name + "'; it has " +
                  (known.empty() ? "none" : known),
              where);
}

} // namespace tile::aot
