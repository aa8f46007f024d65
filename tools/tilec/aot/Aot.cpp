// `tilec aot`: compiles kernels ahead of time, for programs that launch them without the compiler.
#include "base/AtomicFile.h"
#include "ir/target/Target.h"
#include "runtime/aot/Target.h"
#include "runtime/jit/Compile.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/aot/Names.h"
#include "tools/tilec/aot/Sources.h"
#include "tools/tilec/aot/Variants.h"
#include "tools/tilec/input/Input.h"
#include "tools/tilec/input/Refuse.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace tile::tilec {
namespace {

namespace fs = std::filesystem;

struct Options : AotOptions, AotWords {
  std::string output = ".", library;
  bool inChild = false;
};

/// What the library is called unless the user says: by the file's name, else by the function's.
std::string libraryName(const Options &options, const std::string &firstFunction) {
  std::string name = options.library;
  if (name.empty() && !options.words.empty() && options.words[0].rfind("op:", 0) != 0)
    name = fs::path(options.words[0]).stem().string();
  if (name.empty())
    name = firstFunction;
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '.' || c == ' '; }, '_');
  if (!isIdentifier(name))
    refuse("'" + name + "' cannot be the name of a library of kernels: give one by --name");
  if (hasMeaningInCpp(name))
    refuse("'" + name +
           "' has a meaning in C++ and cannot be the name of a library of kernels: give one by "
           "--name");
  return name;
}

void report(const aot::Archive &archive, size_t bytes, const std::string &folder) {
  for (const aot::Function &function : archive.functions) {
    size_t code = 0;
    std::string targets;
    for (const aot::Variant &variant : function.variants)
      code += variant.cubin.size();
    for (const std::string &target : aot::targetsOf(function)) {
      auto count = std::ranges::count_if(function.variants, [&](const aot::Variant &variant) {
        return variant.compiled.target == target;
      });
      targets += (targets.empty() ? "" : ", ") + target + " (" + std::to_string(count) +
                 (count == 1 ? " variant)" : " variants)");
    }
    std::cerr << function.name << ": " << targets << ", " << (code + 1023) / 1024
              << " KB of machine code\n";
  }
  std::cerr << "wrote " << (fs::path(folder) / archive.name).string() << ".h, .c, .tilekernels ("
            << (bytes + 1023) / 1024 << " KB)\n";
}

void write(const aot::Archive &archive, const std::string &folder) {
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (fault)
    throw Error(Fault::User, ErrorCode::IoError,
                "cannot make the folder '" + folder + "': " + fault.message());
  std::vector<std::byte> bytes = aot::encode(archive);
  std::string base = (fs::path(folder) / archive.name).string();
  base::writeFile(base + ".tilekernels",
                  {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  base::writeFile(base + ".c", embeddingOf(archive, bytes));
  base::writeFile(base + ".h", headerOf(archive, bytes.size()));
  report(archive, bytes.size(), folder);
}

int compileHere(const Options &options) {
  aot::Archive archive;
  for (const std::string &target : options.targets) {
    jit::knownTarget(target);
    std::vector<AotRequest> requests = aotRequests(options, target);
    for (size_t i = 0; i < requests.size(); ++i) {
      if (archive.functions.size() <= i)
        archive.functions.push_back(functionOf(requests[i]));
      addVariants(archive.functions[i], requests[i], target, options);
    }
  }
  archive.name = libraryName(options, archive.functions[0].name);
  write(archive, options.output);
  return kOk;
}

int run(const Options &options) {
  if (options.inChild)
    return compileHere(options);
  std::vector<std::string> arguments = {"aot", "--in-child", "-o", options.output};
  auto add = [&](const char *name, const std::string &value) {
    if (!value.empty())
      arguments.insert(arguments.end(), {name, value});
  };
  for (const std::string &target : options.targets)
    add("--arch", target);
  add("--kernel", options.kernel), add("--as", options.name), add("--name", options.library);
  for (const std::string &function : options.functions)
    add("--function", function);
  if (options.isForExampleAlone)
    arguments.push_back("--example-only");
  if (!options.isForCallsInPlace)
    arguments.push_back("--no-in-place");
  if (options.isDependent)
    arguments.push_back("--dependent");
  if (!options.hasMachineCode)
    arguments.push_back("--no-machine-code");
  arguments.push_back("--");
  arguments.insert(arguments.end(), options.words.begin(), options.words.end());
  return runInChild(arguments, inputFileOf(options.words));
}

} // namespace

void addAot(CLI::App &app, std::function<int()> &chosen) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "aot", "Compile kernels ahead of time, for programs that have no compiler");
  command->add_option("input", options->words,
                      "op:NAME, FILE.cpp or LIB.so, then settings such as B=128 x=f32[4096]");
  command
      ->add_option("-f,--function", options->functions,
                   "'[NAME =] KERNEL SETTING...', a function to compile; several may be given")
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--kernel", options->kernel, "which kernel of a FILE.cpp or LIB.so");
  command->add_option("--as", options->name, "what the function is called (default: the kernel)");
  command
      ->add_option(
          "--arch", options->targets,
          "a comma list of " + ir::knownTargets() +
              " (default: sm_80,sm_86,sm_89,sm_90a, of which newer GPUs take the PTX for sm_89)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("-o,--output", options->output, "the folder for what is made")
      ->capture_default_str();
  command->add_option(
      "--name", options->library,
      "what files and C++ namespace are called (default: the file, or the function)");
  command->add_flag("--example-only", options->isForExampleAlone,
                    "no variants for arguments unlike the example's");
  command->add_flag("!--no-in-place", options->isForCallsInPlace,
                    "no variants for calls whose output is one of the inputs");
  command->add_flag("--dependent", options->isDependent,
                    "kernels that start early on streams that overlap launches, from sm_90 on");
  command->add_flag("!--no-machine-code", options->hasMachineCode,
                    "PTX alone, which drivers compile when it is loaded");
  command->add_option("--reproducer", options->reproducer)->group("");
  command->add_flag("--in-child", options->inChild)->group("");
  command->callback([options, &chosen] {
    if (options->targets.empty())
      options->targets = {"sm_80", "sm_86", "sm_89", "sm_90a"};
    chosen = [options] { return run(*options); };
  });
}

} // namespace tile::tilec
