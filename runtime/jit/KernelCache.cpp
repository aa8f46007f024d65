#include "runtime/jit/KernelCache.h"

#include "base/Environment.h"
#include "codegen/compiled/KernelFacts.h"
#include "runtime/cache/BuildId.h"
#include "runtime/cache/Entry.h"
#include "runtime/jit/Compile.h"
#include "runtime/jit/Dump.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/JSON.h"

namespace tile::jit {
namespace {

/// Of what is kept: another number means other files.
constexpr int kSchema = 1;

std::string defaultPath() {
  if (std::string path = base::environmentText("TILE_CACHE_DIR"); !path.empty())
    return path;
  if (std::string base = base::environmentText("XDG_CACHE_HOME"); base.starts_with("/"))
    return base + "/tilec";
  std::string home = base::environmentText("HOME");
  return home.starts_with("/") ? home + "/.cache/tilec" : "";
}

// Is more wanted of a compile than its code, or something done on the way?
bool wantsMoreThanCode(const codegen::CompileOptions &options) {
  bool asks =
      options.keepStages || options.keepReport || options.timePasses || !options.reproducer.empty();
  for (const char *variable : {"TILE_TIME_PASSES", "TILE_REPRODUCER", "TILE_FAULT"})
    asks |= !base::environmentText(variable).empty();
  return asks;
}

// The places in the source are part of it: messages name them, and so does the PTX.
std::string digestOf(mlir::ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  if (mlir::failed(mlir::writeBytecodeToFile(module, out)))
    return {};
  return cache::digestOf(bytes);
}

} // namespace

std::optional<cache::FolderOptions> KernelCache::folderOfEnvironment() {
  std::string mode = base::environmentText("TILE_CACHE");
  bool isOn = mode.empty() || mode == "on" || mode == "1", isRead = mode == "read";
  if (!isOn && !isRead && mode != "off" && mode != "0")
    base::warnOfEnvironment("TILE_CACHE", mode, "is none of on, off and read");
  cache::FolderOptions options;
  options.path = defaultPath();
  if ((!isOn && !isRead) || options.path.empty())
    return std::nullopt;
  options.isReadOnly = isRead;
  options.trustsAll = base::environmentFlag("TILE_CACHE_TRUST");
  options.mostBytes = base::environmentInteger("TILE_CACHE_MB", 1024, 1, kMostCacheMegabytes) << 20;
  return options;
}

KernelCache &KernelCache::ofProcess() {
  // Threads may compile until the very end of the process.
  static auto *cache = new KernelCache(folderOfEnvironment());
  return *cache;
}

KernelCache::KernelCache(std::optional<cache::FolderOptions> folder) {
  if (folder)
    folder_ = std::make_unique<cache::Folder>(std::move(*folder));
}

std::string KernelCache::keyOf(mlir::ModuleOp module, const KernelOrigin &origin) const {
  static const std::string build = cache::buildId();
  if (!folder_ || !folder_->refusal().empty() || build.empty() || wantsMoreThanCode(origin.options))
    return {};
  std::string digest = digestOf(module);
  if (digest.empty())
    return {};
  const passes::PassSelection &own = origin.options.passes;
  const passes::PassSelection &passes =
      own.disabled.empty() && own.limit < 0 ? passesOfEnvironment() : own;
  llvm::json::Object key{{"schema", kSchema},
                         {"build", build},
                         {"llvm", llvmVersion()},
                         {"target", origin.options.target},
                         {"arch", origin.arch},
                         {"assembler", llvm::json::fixUTF8(origin.assembler)},
                         {"disabled_passes", passes.disabled},
                         {"pass_limit", passes.limit},
                         {"kernel", llvm::json::fixUTF8(origin.name)},
                         {"module", digest}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(key));
  return text;
}

std::optional<AssembledKernel> KernelCache::find(const std::string &key) {
  // Whoever dumps the stages of a compile wants it done; what it makes is as good as any.
  if (key.empty() || dumpsAllStages())
    return std::nullopt;
  std::string name = cache::nameOf(key), why;
  std::optional<std::vector<std::byte>> bytes = folder_->read(name);
  if (!bytes)
    return std::nullopt;
  std::optional<cache::Entry> entry = cache::decode(*bytes, &why);
  std::optional<codegen::CompiledKernel> kernel =
      entry && entry->key == key ? codegen::kernelOf(entry->facts) : std::nullopt;
  if (!kernel) {
    folder_->setAside(name, entry ? "it is of another kernel" : why);
    return std::nullopt;
  }
  kernel->ptx = std::move(entry->ptx);
  dumpIfAsked(*kernel);
  return AssembledKernel{std::move(*kernel), std::move(entry->cubin)};
}

void KernelCache::keep(const std::string &key, const AssembledKernel &kernel) {
  if (key.empty() || !kernel.compiled.cudaFunctions.empty())
    return;
  folder_->write(cache::nameOf(key), cache::encode({key, codegen::factsOf(kernel.compiled),
                                                    kernel.compiled.ptx, kernel.cubin}));
}

} // namespace tile::jit
