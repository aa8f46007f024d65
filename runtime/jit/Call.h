// A call of a kernel on its way from the launcher to the loaded kernel. What is found out about it, its part of keys,
// the facts of its arguments, is found out once and handed on.
#pragma once

#include "frontend/call/Arguments.h"
#include "frontend/trace/Binding.h"
#include "runtime/jit/KeyMap.h"
#include "runtime/launch/CallForm.h"

#include <tile/Registry.h>

#include <llvm/ADT/SmallVector.h>

#include <optional>
#include <span>

namespace tile::jit {

/// What a specialisation takes for granted of the arguments, and the same as a key.
struct CallFacts {
  llvm::SmallVector<frontend::ArgFacts, 0> args;
  KeyWords key;
};

/// Of kernels that wait themselves for the launches before them, and of others.
inline launch::Origin originOf(bool isDependent) {
  return isDependent ? launch::Origin::DependentJit : launch::Origin::Jit;
}

class Call {
public:
  /// `record`, `args` and `consts` outlive the call. Arguments that are one view are marked as such, and what the
  /// environment asks for is among the settings. `isDependent`: the kernel waits itself for the launches before it.
  /// Nothing is checked yet.
  Call(const detail::KernelRecord &record, std::span<const detail::HostArg> args,
       std::span<const int64_t> consts, const detail::CompileSettings &settings,
       bool isDependent = false);
  explicit Call(const KernelRequest &request, bool isDependent = false)
      : Call(*request.record, request.arguments, request.constants, request.settings, isDependent) {
  }
  Call(const Call &) = delete;

  const detail::KernelRecord &record() const { return record_; }
  std::span<const detail::HostArg> args() const { return args_; }
  const detail::CompileSettings &settings() const { return settings_; }
  bool isDependent() const { return isDependent_; }

  /// Throws tile::Error unless the kernel takes these arguments and can run on them on this device.
  void check(const frontend::CallDevice &device) const;

  /// The part of the key known before the first trace: kernel, constants, settings, dtypes and ranks, and whether it is dependent.
  llvm::ArrayRef<uint64_t> signature() const { return signature_; }

  /// Facts for a kernel that addresses its arguments in these tiles. They are worked out the first time: a call is of
  /// one kernel, which has the same tiles whenever it is asked.
  const CallFacts &facts(std::span<const frontend::TileUse> uses);
  /// What the kernel is traced with. Without `facts` nothing is claimed of extents beyond 16 and 8.
  frontend::Binding binding(const TargetInfo &target, const CallFacts *facts = nullptr) const;

private:
  llvm::SmallVector<frontend::ArgFacts, 0> factsOf(std::span<const frontend::TileUse> uses) const;

  const detail::KernelRecord &record_;
  std::vector<detail::HostArg> marked_; ///< the arguments, if there is something to mark
  std::span<const detail::HostArg> args_;
  std::span<const int64_t> consts_;
  detail::CompileSettings settings_;
  bool isDependent_;
  KeyWords signature_;
  std::optional<CallFacts> facts_;
};

} // namespace tile::jit
