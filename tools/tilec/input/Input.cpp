#include "tools/tilec/input/Input.h"

#include "runtime/jit/Compile.h"
#include "tools/tilec/input/KernelFile.h"
#include "tools/tilec/input/Scan.h"
#include "tools/tilec/input/Settings.h"

#include <filesystem>
#include <iostream>

namespace tile::tilec {

static void describeSettings(const OpSettings &settings) {
  for (auto &[name, value] : settings.used())
    std::cerr << (name == settings.used().begin()->first ? "settings: " : " ") << name << "="
              << value;
  std::cerr << (settings.used().empty() ? "" : "\n");
}

codegen::CompiledKernel compileInput(const InputOptions &input,
                                     const codegen::CompileOptions &options) {
  std::vector<std::string> words = input.words;
  OpSettings settings = takeSettings(words);
  if (words.size() != 1)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "one input is expected, op:NAME, FILE.cpp, LIB.so or FILE.mlir; got " +
                    std::to_string(words.size()));
  if (isKernelFile(words[0])) {
    BoundKernel bound = loadKernel(words[0], input.kernel, settings);
    KernelRequest request = exampleRequest(bound, settings);
    refuseUnused(settings);
    return jit::compileRequest(request, options, input.dependent);
  }
  if (!input.kernel.empty())
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "--kernel chooses among the kernels of a FILE.cpp or LIB.so");
  if (const OpEntry *op = opOf(words[0])) {
    settings.setTarget(options.target);
    KernelRequest request = op->kernel(settings);
    refuseUnused(settings);
    describeSettings(settings);
    return jit::compileRequest(request, options, input.dependent);
  }
  if (std::filesystem::path(words[0]).extension() != ".mlir")
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "'" + words[0] +
                    "' is neither op:NAME nor a file called something.cpp, .so or .mlir");
  if (input.dependent)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "--dependent is for kernels that are traced; in a FILE.mlir it is the attribute "
                "tile.dependent");
  refuseUnused(settings);
  return jit::compileText(readSource(words[0]), words[0], options);
}

std::string inputFileOf(const std::vector<std::string> &words) {
  return !words.empty() && std::filesystem::is_regular_file(words[0]) ? words[0] : "";
}

} // namespace tile::tilec
