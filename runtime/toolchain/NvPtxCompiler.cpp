#include "runtime/toolchain/NvPtxCompiler.h"

#include "base/LibraryFolder.h"
#include "runtime/toolchain/Assemble.h"

#include <tile/Error.h>

#include <cstdlib>
#include <dlfcn.h>

namespace tile::jit {

static constexpr const char *kPluginName = "libtile_nvptxcompiler.so";

// Beside the library or program that this code is in.
static std::string pluginPath() {
  if (const char *path = std::getenv("TILE_NVPTXCOMPILER"); path && *path)
    return path;
  return (base::libraryFolder() / kPluginName).string();
}

bool NvPtxCompiler::bind(void *library) {
  auto version =
      reinterpret_cast<void (*)(unsigned *, unsigned *)>(dlsym(library, "tilePtxCompilerVersion"));
  compile_ = reinterpret_cast<decltype(compile_)>(dlsym(library, "tilePtxCompile"));
  if (version)
    version(&major, &minor);
  return version && compile_;
}

NvPtxCompiler *NvPtxCompiler::load(std::string *why) {
  static std::string fault;
  static NvPtxCompiler *loaded = []() -> NvPtxCompiler * {
    static NvPtxCompiler compiler;
    void *library = dlopen(pluginPath().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      fault = dlerror();
      return nullptr;
    }
    if (compiler.bind(library))
      return &compiler;
    fault = pluginPath() + " lacks the plugin's functions";
    return nullptr;
  }();
  if (!loaded && why)
    *why = fault;
  return loaded;
}

std::vector<std::byte> NvPtxCompiler::assemble(std::string_view ptx, const std::string &target,
                                               std::string *log) {
  struct Result {
    std::vector<std::byte> code;
    std::string log;
  } result;
  auto takeCode = [](void *context, const void *bytes, size_t size) {
    auto *first = static_cast<const std::byte *>(bytes);
    static_cast<Result *>(context)->code.assign(first, first + size);
  };
  auto takeLog = [](void *context, const void *bytes, size_t size) {
    static_cast<Result *>(context)->log.append(static_cast<const char *>(bytes), size);
  };
  std::string text(ptx); // the compiler wants a terminated text, the terminator counted
  int code = compile_(text.c_str(), text.size() + 1, target.c_str(), takeCode, takeLog, &result);
  if (code != 0 || !isWholeCubin(result.code))
    throw Error(Fault::Compiler, ErrorCode::ToolFailed,
                "nvPTXCompiler refused the PTX (code " + std::to_string(code) + ")", {},
                {result.log});
  if (log)
    *log = std::move(result.log);
  return std::move(result.code);
}

} // namespace tile::jit
