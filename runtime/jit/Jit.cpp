#include "runtime/jit/Jit.h"

#include "base/ForkLocks.h"
#include "frontend/trace/Kernel.h"
#include "ir/target/Target.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/Isolated.h"
#include "runtime/jit/Specialize.h"
#include "runtime/toolchain/Assemble.h"
#include "runtime/trace/Span.h"

#include <algorithm>

namespace tile::jit {

Jit::Jit(std::shared_ptr<device::Device> device, KernelCache &cache)
    : device_(std::move(device)), cache_(cache),
      target_(ir::targetForGpu(device_->props().target).name), targetInfo_(knownTarget(target_)) {}

const LoadedKernel &Jit::get(Call &call) {
  base::LongWork work;
  if (const LoadedKernel *kernel = find(call))
    return *kernel;
  return compileOnce(family(call), call);
}

bool Jit::isLoaded(Call &call) const {
  base::LongWork work;
  return find(call) != nullptr;
}

std::span<const std::pair<int, int>> Jit::aliases(const Call &call) {
  base::LongWork work;
  return family(call).aliases;
}

Jit::Family *Jit::findFamily(const Call &call) const {
  const Signature *signature = signatures_.find(call.signature());
  const Branch *branch = signature ? &signature->root : nullptr;
  while (branch && branch->asks)
    branch = branch->byValue.find({valueOf(call.args(), *branch->asks)});
  return branch ? branch->family.get() : nullptr;
}

const LoadedKernel *Jit::find(Call &call) const {
  std::shared_lock lock(mutex_);
  const Family *family = findFamily(call);
  if (!family)
    return nullptr;
  const Entry *entry = family->entries.find(call.facts(family->uses).key);
  return entry ? entry->kernel.get() : nullptr;
}

Jit::Family &Jit::family(const Call &call) {
  Signature *signature;
  {
    std::unique_lock lock(mutex_);
    if (Family *known = findFamily(call))
      return *known;
    signature = &signatures_.get(call.signature());
  }
  std::lock_guard tracing(signature->tracing);
  {
    std::shared_lock lock(mutex_);
    if (Family *known = findFamily(call)) // by the thread before
      return *known;
  }
  return enter(*signature, call, traceCall(call, targetInfo_));
}

Jit::Family &Jit::enter(Signature &signature, const Call &call,
                        std::shared_ptr<frontend::TracedKernel> traced) {
  const frontend::ArgumentUses &uses = traced->uses;
  std::unique_lock lock(mutex_);
  Branch *branch = &signature.root;
  for (frontend::ValueUse use : uses.values) {
    if (!branch->asks)
      branch->asks = use;
    branch = &branch->byValue.get({valueOf(call.args(), *branch->asks)});
  }
  if (branch->family) // a lambda that does not ask for the same values each time
    return *branch->family;
  branch->family = std::make_unique<Family>();
  branch->family->uses = uses.tiles;
  branch->family->aliases = uses.aliases;
  branch->family->asksForNumbers =
      std::ranges::any_of(uses.values, [](frontend::ValueUse use) { return use.dim < 0; });
  branch->family->traced = std::move(traced);
  return *branch->family;
}

const LoadedKernel &Jit::compileOnce(Family &family, Call &call) {
  const CallFacts &facts = call.facts(family.uses);
  std::promise<const LoadedKernel *> promise;
  std::shared_ptr<frontend::TracedKernel> traced;
  Entry *entry;
  {
    std::unique_lock lock(mutex_);
    entry = &family.entries.get(facts.key);
    if (entry->kernel)
      return *entry->kernel;
    if (entry->compile) {
      Waiting waiting = *entry->compile;
      lock.unlock();
      trace::Span span("wait for another thread to compile", call.record().name);
      return *waiting.get();
    }
    entry->compile = std::make_unique<Waiting>(promise.get_future().share());
    traced = std::move(family.traced);
  }
  try {
    auto kernel = build(call, facts, std::move(traced));
    kernel->aliases = family.aliases;
    kernel->isForNumbers = family.asksForNumbers;
    const LoadedKernel *loaded = kernel.get();
    std::unique_lock lock(mutex_);
    entry->kernel = std::move(kernel);
    entry->compile.reset();
    promise.set_value(loaded);
    return *loaded;
  } catch (...) {
    std::unique_lock lock(mutex_);
    entry->compile.reset();
    promise.set_exception(std::current_exception());
    throw;
  }
}

std::unique_ptr<LoadedKernel> Jit::build(const Call &call, const CallFacts &facts,
                                         std::shared_ptr<frontend::TracedKernel> traced) {
  traced = traceFor(call, facts, std::move(traced), targetInfo_);
  const device::DeviceProps &props = device_->props();
  KernelOrigin origin = {call.record().name, {}, 0, ""};
  origin.options.target = target_;
  if (props.runsMachineCode)
    origin.arch = props.arch, origin.assembler = assemblerIdentity();
  std::string key = cache_.keyOf(*traced->module, origin);
  // A fault of what was kept must not outlive a compile; any other will be thrown again.
  if (std::optional<AssembledKernel> kept = lookUp(key, origin.name))
    try {
      return load(std::move(*kept), {call.record().name, call.record().where});
    } catch (const Error &) {
    }
  ++compiles_;
  AssembledKernel made = assembled(compileTraced(call, *traced, origin.options));
  keep(key, made);
  return load(std::move(made), {call.record().name, call.record().where});
}

std::optional<AssembledKernel> Jit::lookUp(const std::string &key, const std::string &name) {
  if (key.empty())
    return std::nullopt;
  trace::Span span("look up", name);
  std::optional<AssembledKernel> kept = cache_.find(key);
  if (span)
    span.note("result", kept ? "hit" : "miss");
  return kept;
}

void Jit::keep(const std::string &key, const AssembledKernel &made) {
  if (key.empty())
    return;
  trace::Span span("keep", made.compiled.name);
  cache_.keep(key, made);
}

AssembledKernel Jit::assembled(codegen::CompiledKernel compiled) const {
  const device::DeviceProps &props = device_->props();
  if (!props.runsMachineCode)
    return {std::move(compiled), {}};
  trace::Span span("assemble", compiled.name);
  std::vector<std::byte> cubin =
      isIsolated() ? assembleIsolated(compiled.ptx, target_, props.arch, compiled.name)
                   : assembleForDevice(compiled.ptx, target_, props.arch);
  return {std::move(compiled), std::move(cubin)};
}

std::unique_ptr<LoadedKernel> Jit::load(codegen::CompiledKernel compiled, const std::string &name,
                                        Loc where) const {
  return load(assembled(std::move(compiled)), {name, where});
}

std::unique_ptr<LoadedKernel> Jit::load(AssembledKernel made, const launch::Named &named) const {
  return launch::load(*device_, std::move(made.compiled), made.cubin, named);
}

} // namespace tile::jit
