#include "runtime/jit/Call.h"

#include "runtime/jit/Specialize.h"
#include "runtime/launch/Overlap.h"

namespace tile::jit {

using detail::HostArg;

Call::Call(const detail::KernelRecord &record, std::span<const HostArg> args,
           std::span<const int64_t> consts, const detail::CompileSettings &settings,
           bool isDependent)
    : record_(record), args_(launch::markSameViews(record, args, marked_)), consts_(consts),
      settings_(withEnvironment(settings)), isDependent_(isDependent) {
  appendSignature(signature_, record_.id | static_cast<uint64_t>(originOf(isDependent_)), args_,
                  consts_, settings_);
}

void Call::check(const frontend::CallDevice &device) const {
  detail::checkArguments(record_, args_);
  frontend::checkTensors(record_, args_, device);
}

const CallFacts &Call::facts(std::span<const frontend::TileUse> uses) {
  if (!facts_) {
    CallFacts &facts = facts_.emplace();
    facts.args = factsOf(uses);
    for (const frontend::ArgFacts &arg : facts.args)
      appendFacts(facts.key, arg);
  }
  return *facts_;
}

llvm::SmallVector<frontend::ArgFacts, 0>
Call::factsOf(std::span<const frontend::TileUse> uses) const {
  llvm::SmallVector<frontend::ArgFacts, 0> facts;
  facts.reserve(args_.size());
  auto next = uses.begin(); // in the order of arguments
  for (int index = 0; const HostArg &arg : args_) {
    auto own = next;
    while (next != uses.end() && next->arg == index)
      ++next;
    facts.push_back(jit::factsOf(arg, index++, {own, next}, settings_.assume));
  }
  return facts;
}

frontend::Binding Call::binding(const TargetInfo &target, const CallFacts *facts) const {
  frontend::Binding binding;
  binding.consts.assign(consts_.begin(), consts_.end());
  binding.settings = settings_;
  binding.target = target;
  auto args = facts ? facts->args : factsOf({});
  binding.args.assign(args.begin(), args.end());
  for (size_t i = 0; i < args_.size(); ++i)
    if (args_[i].kind == HostArg::Tensor)
      binding.args[i].extents.assign(args_[i].extents, args_[i].extents + args_[i].rank);
    else if (args_[i].hasValue)
      binding.args[i].bits = args_[i].bits;
  return binding;
}

} // namespace tile::jit
