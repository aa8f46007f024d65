#include "runtime/toolchain/nvptxcompiler/Plugin.h"

#include <nvPTXCompiler.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using Handle = nvPTXCompilerHandle;

void sendLog(Handle handle, TilePluginSink log, void *context) {
  for (auto [size, text] : {std::pair(&nvPTXCompilerGetErrorLogSize, &nvPTXCompilerGetErrorLog),
                            std::pair(&nvPTXCompilerGetInfoLogSize, &nvPTXCompilerGetInfoLog)}) {
    size_t bytes = 0;
    if (size(handle, &bytes) != NVPTXCOMPILE_SUCCESS || bytes == 0)
      continue;
    std::vector<char> buffer(bytes + 1);
    if (text(handle, buffer.data()) == NVPTXCOMPILE_SUCCESS)
      log(context, buffer.data(), bytes);
  }
}

nvPTXCompileResult compile(Handle handle, const std::string &arch, TilePluginSink code,
                           void *context) {
  std::string option = "--gpu-name=" + arch;
  const char *options[] = {option.c_str(),
                           "--verbose"}; // registers and spills, for the information log
  if (nvPTXCompileResult result = nvPTXCompilerCompile(handle, 2, options);
      result != NVPTXCOMPILE_SUCCESS)
    return result;
  size_t bytes = 0;
  if (nvPTXCompileResult result = nvPTXCompilerGetCompiledProgramSize(handle, &bytes);
      result != NVPTXCOMPILE_SUCCESS)
    return result;
  std::vector<char> image(bytes);
  nvPTXCompileResult result = nvPTXCompilerGetCompiledProgram(handle, image.data());
  if (result == NVPTXCOMPILE_SUCCESS)
    code(context, image.data(), image.size());
  return result;
}

} // namespace

int tilePtxCompile(const char *ptx, size_t size, const char *arch, TilePluginSink code,
                   TilePluginSink log, void *context) {
  Handle handle = nullptr;
  if (nvPTXCompileResult result = nvPTXCompilerCreate(&handle, size, ptx);
      result != NVPTXCOMPILE_SUCCESS)
    return result;
  nvPTXCompileResult result = compile(handle, arch, code, context);
  sendLog(handle, log, context);
  nvPTXCompilerDestroy(&handle);
  return result;
}

void tilePtxCompilerVersion(unsigned *major, unsigned *minor) {
  nvPTXCompilerGetVersion(major, minor);
}
