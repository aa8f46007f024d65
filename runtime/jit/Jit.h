// The loaded kernels of one device: one compile for each specialisation, however many threads ask
// for it at once, then a look-up of two hashes.
#pragma once

#include "runtime/jit/Call.h"
#include "runtime/jit/KernelCache.h"
#include "runtime/launch/LoadedKernel.h"

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>

namespace tile::frontend {
struct TracedKernel;
} // namespace tile::frontend

namespace tile::jit {

using launch::LoadedKernel;

class Jit {
public:
  explicit Jit(std::shared_ptr<device::Device> device,
               KernelCache &cache = KernelCache::ofProcess());
  Jit(const Jit &) = delete;
  Jit &operator=(const Jit &) = delete;

  /// The kernel for a call, compiled and loaded by the first caller while others wait. The
  /// reference is valid as long as the Jit. A compile that fails throws in all waiting callers and
  /// is tried again by the next.
  const LoadedKernel &get(Call &call);

  /// Whether get would neither compile nor load.
  bool isLoaded(Call &call) const;

  /// The pairs of arguments of which the kernel says that they may overlap, the lower one first. Traces if no call did
  /// yet; nothing is compiled.
  std::span<const std::pair<int, int>> aliases(const Call &call);

  /// Loads a compiled kernel; `name` and `where` are for messages.
  std::unique_ptr<LoadedKernel> load(codegen::CompiledKernel compiled, const std::string &name,
                                     Loc where) const;

  /// How many compiles were started, failed ones included.
  uint64_t compileCount() const { return compiles_; }

private:
  using Waiting = std::shared_future<const LoadedKernel *>;

  struct Entry {
    std::unique_ptr<LoadedKernel> kernel; ///< null until loaded
    std::unique_ptr<Waiting> compile;     ///< while a compile runs
  };
  /// All specialisations that differ by facts only. They share the tiles of the first trace.
  struct Family {
    std::vector<frontend::TileUse> uses;
    std::vector<std::pair<int, int>> aliases;
    bool asksForNumbers = false; ///< for the values of scalars
    KeyMap<Entry> entries;
    std::shared_ptr<frontend::TracedKernel> traced; ///< until the first compile takes it
  };
  /// From a signature to its family. A kernel that asks for the value of an argument has a branch for each; what it asks
  /// for next, and its tiles, may depend on that value.
  struct Branch {
    std::optional<frontend::ValueUse> asks;
    KeyMap<Branch> byValue;
    std::unique_ptr<Family> family; ///< null until traced, and where a value is asked for
  };
  /// All calls of one signature.
  struct Signature {
    Branch root;
    std::mutex tracing; ///< held by the thread that runs the lambda, which others need not run too
  };

  Family *findFamily(const Call &call) const;
  const LoadedKernel *find(Call &call) const;
  Family &family(const Call &call);
  Family &enter(Signature &signature, const Call &call,
                std::shared_ptr<frontend::TracedKernel> traced);
  const LoadedKernel &compileOnce(Family &family, Call &call);
  std::unique_ptr<LoadedKernel> build(const Call &call, const CallFacts &facts,
                                      std::shared_ptr<frontend::TracedKernel> traced);
  /// What the cache has kept under a key, which is empty where nothing is cached; and keeping it.
  std::optional<AssembledKernel> lookUp(const std::string &key, const std::string &name);
  void keep(const std::string &key, const AssembledKernel &made);
  /// With machine code where the device runs it.
  AssembledKernel assembled(codegen::CompiledKernel compiled) const;
  std::unique_ptr<LoadedKernel> load(AssembledKernel made, const launch::Named &named) const;

  std::shared_ptr<device::Device> device_;
  KernelCache &cache_;
  std::string target_;
  TargetInfo targetInfo_;
  mutable std::shared_mutex mutex_; ///< guards all families and entries
  KeyMap<Signature> signatures_;
  std::atomic<uint64_t> compiles_ = 0;
};

} // namespace tile::jit
