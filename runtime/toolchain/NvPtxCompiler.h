// nvPTXCompiler in process, through the plugin that holds it: the first choice for machine code,
// faster than the ptxas program and complete (it keeps setmaxnreg).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tile::jit {

class NvPtxCompiler {
public:
  /// The plugin beside libtile (or at TILE_NVPTXCOMPILER), or null; `why` gets the loader's words.
  static NvPtxCompiler *load(std::string *why = nullptr);

  /// Machine code. `log` gets what the compiler says of it. Throws ToolFailed with the compiler's log.
  std::vector<std::byte> assemble(std::string_view ptx, const std::string &target,
                                  std::string *log = nullptr);

  unsigned major = 0, minor = 0;

private:
  bool bind(void *library);
  int (*compile_)(const char *, size_t, const char *, void (*)(void *, const void *, size_t),
                  void (*)(void *, const void *, size_t), void *) = nullptr;
};

} // namespace tile::jit
