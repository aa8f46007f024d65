// `tilec build`: compiles a kernel without a device and writes what each stage made.
#include "base/AtomicFile.h"
#include "runtime/jit/Compile.h"
#include "runtime/toolchain/Assemble.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/input/Input.h"
#include "tools/tilec/input/InputOptions.h"

#include <tile/Error.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

namespace tile::tilec {
namespace {

struct BuildOptions : InputOptions {
  std::string output;
  std::vector<std::string> emit = {"ptx"};
  std::vector<std::string> disabledPasses;
  int64_t bisect = -1;
  bool timePasses = false;
};

/// The words that --emit may name, in the order of the stages.
const char *const kStages[] = {"tile", "tilegpu", "llvm", "ll", "ptx", "cubin"};

struct Text {
  std::string file; ///< the name it has in a folder
  std::string content;
};

bool isNamed(const BuildOptions &options, const std::string &stage) {
  return std::find(options.emit.begin(), options.emit.end(), stage) != options.emit.end();
}

/// Machine code. No assembler here is an error, unless the user wanted all there is.
void addCubin(std::vector<Text> &texts, const codegen::CompiledKernel &kernel,
              const BuildOptions &options) {
  try {
    std::vector<std::byte> cubin = jit::assemble(kernel.ptx, options.target);
    texts.push_back({"6-kernel.cubin",
                     std::string(reinterpret_cast<const char *>(cubin.data()), cubin.size())});
  } catch (const Error &error) {
    if (isNamed(options, "cubin") || error.code() != ErrorCode::ToolMissing)
      throw;
    std::cerr << "note: no 6-kernel.cubin: " << error.message() << "\n";
  }
}

bool isWanted(const BuildOptions &options, const char *stage) {
  return isNamed(options, stage) || isNamed(options, "all");
}

template <class Stages>
std::vector<Text> textsOfStages(const Stages &stages, const BuildOptions &options) {
  std::vector<Text> texts;
  for (auto &[stage, text] : stages)
    if (isWanted(options, kStages[static_cast<int>(stage)]))
      texts.push_back({codegen::fileNameOf(stage), text});
  return texts;
}

std::vector<Text> textsOf(const codegen::CompiledKernel &kernel, const BuildOptions &options) {
  std::vector<Text> texts = textsOfStages(kernel.stages, options);
  if (isWanted(options, "cubin"))
    addCubin(texts, kernel, options);
  return texts;
}

/// One stage goes to a file or standard output, several to a folder.
void write(const std::vector<Text> &texts, const std::string &output) {
  namespace fs = std::filesystem;
  bool isFolder =
      texts.size() > 1 || (!output.empty() && (fs::is_directory(output) || output.back() == '/'));
  if (isFolder) {
    std::error_code fault;
    fs::create_directories(output, fault);
    if (fault)
      throw Error(Fault::User, ErrorCode::IoError,
                  "cannot make the folder '" + output + "': " + fault.message());
    for (const Text &text : texts)
      base::writeFile((fs::path(output) / text.file).string(), text.content);
  } else if (output.empty() || output == "-") {
    std::cout << texts.front().content << std::flush;
    if (!std::cout)
      throw Error(Fault::User, ErrorCode::IoError, "cannot write to standard output");
  } else {
    base::writeFile(output, texts.front().content);
  }
}

void report(const codegen::CompiledKernel &kernel, bool isTimed) {
  for (const codegen::Diagnostic &remark : kernel.remarks)
    std::cerr << (remark.file.empty() ? "" : remark.file + ":" + std::to_string(remark.line) + ": ")
              << (remark.severity == codegen::Diagnostic::Severity::Warning ? "warning: "
                                                                            : "remark: ")
              << remark.message << "\n";
  double total = 0;
  for (auto &[step, milliseconds] : kernel.timings) {
    total += milliseconds;
    if (isTimed)
      std::cerr << "time: " << milliseconds << " ms  " << step << "\n";
  }
  if (isTimed)
    std::cerr << "time: " << total << " ms  total\n";
}

/// Of a kernel that is refused, what was reached is written: it shows why.
codegen::CompiledKernel compileOrShow(const BuildOptions &options,
                                      codegen::CompileOptions compile) {
  std::map<codegen::Stage, std::string> reached;
  compile.onStage = [&](codegen::Stage stage, const std::string &text) { reached[stage] = text; };
  try {
    return compileInput(options, compile);
  } catch (const Error &) {
    if (std::vector<Text> texts = textsOfStages(reached, options); !texts.empty())
      write(texts, options.output);
    throw;
  }
}

int buildHere(const BuildOptions &options) {
  codegen::CompileOptions compile;
  compile.target = options.target;
  compile.keepStages = true;
  compile.timePasses = options.timePasses;
  compile.passes = {options.disabledPasses, options.bisect};
  compile.reproducer = options.reproducer;
  jit::knownTarget(options.target);
  codegen::CompiledKernel kernel = compileOrShow(options, compile);
  report(kernel, options.timePasses);
  write(textsOf(kernel, options), options.output);
  return kOk;
}

void checkEmit(const BuildOptions &options) {
  const std::vector<std::string> &emit = options.emit;
  for (const std::string &stage : emit)
    if (stage != "all" &&
        std::find(std::begin(kStages), std::end(kStages), stage) == std::end(kStages))
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  "--emit " + stage + ": stages are tile, tilegpu, llvm, ll, ptx, cubin, all");
  bool isSeveral = emit.size() > 1 || isNamed(options, "all");
  if (isSeveral && (options.output.empty() || options.output == "-"))
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "several stages need a folder: add -o DIR");
}

void checkPasses(const BuildOptions &options) {
  for (const std::string &name : options.disabledPasses)
    if (!passes::isOptionalPass(name)) {
      std::string known;
      for (const passes::OptionalPass &pass : passes::optionalPasses())
        known += (known.empty() ? "" : ", ") + std::string(pass.name);
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  "--disable-passes: '" + name + "' is no optional pass; there are " + known);
    }
}

int build(const BuildOptions &options) {
  checkEmit(options);
  checkPasses(options);
  if (options.inChild)
    return buildHere(options);
  std::vector<std::string> arguments;
  for (const std::string &stage : options.emit)
    arguments.insert(arguments.end(), {"--emit", stage});
  if (!options.output.empty())
    arguments.insert(arguments.end(), {"-o", options.output});
  if (options.timePasses)
    arguments.push_back("--time-passes");
  for (const std::string &name : options.disabledPasses)
    arguments.insert(arguments.end(), {"--disable-passes", name});
  if (options.bisect >= 0)
    arguments.insert(arguments.end(), {"--bisect", std::to_string(options.bisect)});
  return repeatInChild("build", std::move(arguments), options);
}

} // namespace

void addBuild(CLI::App &app, std::function<int()> &chosen) {
  auto options = std::make_shared<BuildOptions>();
  CLI::App *command =
      app.add_subcommand("build", "Compile a kernel without a device and write its stages");
  addInputOptions(*command, *options);
  command
      ->add_option("--emit", options->emit,
                   "tile, tilegpu, llvm, ll, ptx, cubin or all; a comma list")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("-o,--output", options->output,
                      "a file for one stage, a folder for several (default: stdout)");
  command->add_flag("--time-passes", options->timePasses, "print the milliseconds of each pass");
  command
      ->add_option("--disable-passes", options->disabledPasses,
                   "optional passes to leave out; a comma list")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--bisect", options->bisect,
                   "allow only this many executions of optional passes, and list them")
      ->check(CLI::NonNegativeNumber);
  command->callback([options, &chosen] { chosen = [options] { return build(*options); }; });
}

} // namespace tile::tilec
