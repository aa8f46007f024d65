// Compiled kernels that outlive the process, so that the next one need not compile them: docs/cache.md.
//
//   TILE_CACHE       on (default), off, or read: nothing is written
//   TILE_CACHE_DIR   the folder; else $XDG_CACHE_HOME/tilec, else ~/.cache/tilec
//   TILE_CACHE_MB    megabytes beyond which the kernels go that were used longest ago (default 1024)
//   TILE_CACHE_TRUST=1   uses a folder that others may write to
#pragma once

#include "codegen/CompileOptions.h"
#include "runtime/cache/Folder.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace tile::jit {

/// A kernel and its machine code; none where the device takes PTX, or its driver compiles that.
struct AssembledKernel {
  codegen::CompiledKernel compiled;
  std::vector<std::byte> cubin;
};

/// What decides of the code of a kernel besides its module.
struct KernelOrigin {
  std::string name;
  codegen::CompileOptions options;
  int arch = 0;          ///< of the device that machine code is for; 0: none is made
  std::string assembler; ///< which one makes it: see assemblerIdentity()
};

/// The most that the folder can be allowed, a terabyte.
constexpr int64_t kMostCacheMegabytes = int64_t(1) << 20;

class KernelCache {
public:
  /// The cache that the environment asks for; nothing is cached where it is off. It is read once.
  static KernelCache &ofProcess();
  /// The folder that it asks for, which `ofProcess` makes if it is missing; nothing where the cache is off.
  static std::optional<cache::FolderOptions> folderOfEnvironment();

  explicit KernelCache(std::optional<cache::FolderOptions> folder);

  /// Everything that the code of a module in the tile dialect follows from, places in the source included, as JSON. Empty if
  /// nothing is to be cached: the cache is off, or the build has no identity, or the options ask for more than code.
  std::string keyOf(mlir::ModuleOp module, const KernelOrigin &origin) const;

  /// The kernel that was kept under a key.
  std::optional<AssembledKernel> find(const std::string &key);
  /// Keeps a kernel. Not one with CUDA C++, which headers decide of that nobody has told us.
  void keep(const std::string &key, const AssembledKernel &kernel);

  /// The folder; null if the cache is off.
  cache::Folder *folder() { return folder_.get(); }

private:
  std::unique_ptr<cache::Folder> folder_;
};

} // namespace tile::jit
