// `tilec run`: runs an op, a kernel of the language or PTX on arrays, on any device, with the virtual GPU's checks.
#include "runtime/jit/Compile.h"
#include "runtime/jit/Launch.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/input/Input.h"
#include "tools/tilec/input/KernelFile.h"
#include "tools/tilec/input/Refuse.h"
#include "tools/tilec/input/Scan.h"
#include "tools/tilec/input/Settings.h"
#include "tools/tilec/run/RunArguments.h"
#include "tools/tilec/run/RunOp.h"
#include "tools/tilec/run/RunPtx.h"
#include "tools/tilec/run/Session.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>

namespace tile::tilec {
namespace {

struct RunOptions {
  std::vector<std::string> words; ///< the input, arguments, settings
  SessionOptions session;
  std::string kernel, grid, block, cluster;
  uint32_t sharedBytes = 0;
  bool inChild = false;
};

std::vector<RunArgument> argumentsFor(Session &session, const std::vector<std::string> &words) {
  std::vector<RunArgument> arguments;
  for (const std::string &word : words)
    arguments.push_back(makeArgument(session, word));
  // They are filled on the default stream, which kernels do not wait for.
  session.device().synchronize();
  return arguments;
}

std::vector<detail::HostArg> hostArguments(const std::vector<RunArgument> &arguments) {
  std::vector<detail::HostArg> host;
  for (const RunArgument &argument : arguments)
    host.push_back(argument.host);
  return host;
}

detail::LaunchOptions launchOptions(const RunOptions &options) {
  detail::LaunchOptions launch;
  if (options.grid.empty())
    return launch;
  device::Dim3 grid = parseShape("--grid", options.grid);
  launch.hasGrid = true;
  launch.grid[0] = grid.x, launch.grid[1] = grid.y, launch.grid[2] = grid.z;
  return launch;
}

int runKernel(const RunOptions &options, const std::string &file,
              const std::vector<std::string> &words, const OpSettings &settings) {
  BoundKernel kernel = loadKernel(file, options.kernel, settings);
  refuseUnused(settings);
  Session session(options.session);
  std::vector<RunArgument> arguments = argumentsFor(session, words);
  std::vector<detail::HostArg> host = hostArguments(arguments);
  detail::LaunchOptions launch = launchOptions(options);
  launch.compile.warps = kernel.warps;
  Stream stream = session.device().stream();
  detail::launch(*kernel.record, stream, host, kernel.constants, launch);
  noteUnwritten(session, arguments);
  int code = session.finish({file, kernel.record->name});
  saveArguments(arguments);
  return code;
}

/// A file of tile IR: what it takes is known once it is compiled.
int runIr(const RunOptions &options, const std::string &file,
          const std::vector<std::string> &words) {
  Session session(options.session);
  codegen::CompileOptions compile;
  compile.target = session.device().target();
  codegen::CompiledKernel kernel = jit::compileText(readSource(file), file, compile);
  std::vector<RunArgument> arguments = argumentsFor(session, words);
  std::vector<detail::HostArg> host = hostArguments(arguments);
  jit::launchCompiled(session.device(), kernel, host, launchOptions(options));
  noteUnwritten(session, arguments);
  int code = session.finish({file, kernel.name});
  saveArguments(arguments);
  return code;
}

int runPtxFile(const RunOptions &options, const std::string &file,
               const std::vector<std::string> &words) {
  PtxLaunch launch;
  launch.entry = options.kernel;
  if (!options.grid.empty())
    launch.grid = parseShape("--grid", options.grid);
  if (!options.block.empty())
    launch.block = parseShape("--block", options.block);
  if (!options.cluster.empty())
    launch.cluster = parseShape("--cluster", options.cluster);
  launch.sharedBytes = options.sharedBytes;
  return runPtx(options.session, file, launch, words);
}

/// Options of PTX, which says nothing of its launch, are mistakes elsewhere.
void refuseOptionsOfPtx(const RunOptions &options) {
  const char *given = !options.block.empty()     ? "--block"
                      : !options.cluster.empty() ? "--cluster"
                      : options.sharedBytes      ? "--shared"
                                                 : nullptr;
  if (given)
    refuse(std::string(given) + " is for FILE.ptx: other kernels know it themselves");
}

int runInput(const RunOptions &options) {
  std::vector<std::string> words = options.words;
  OpSettings settings = takeSettings(words);
  if (words.empty())
    refuse("the first word names what to run: op:NAME, FILE.cpp, LIB.so, FILE.mlir or FILE.ptx");
  std::string input = words.front();
  words.erase(words.begin());
  bool isPtx = std::filesystem::path(input).extension() == ".ptx";
  if (!isPtx)
    refuseOptionsOfPtx(options);
  if (const OpEntry *op = opOf(input))
    return runOp(options.session, *op, words, settings);
  if (isKernelFile(input))
    return runKernel(options, input, words, settings);
  refuseUnused(settings);
  if (isPtx)
    return runPtxFile(options, input, words);
  if (std::filesystem::path(input).extension() == ".mlir")
    return runIr(options, input, words);
  refuse("'" + input + "' is neither op:NAME nor a file called something.cpp, .so, .mlir or .ptx");
}

int runHere(const RunOptions &options) {
  try {
    return runInput(options);
  } catch (const Error &error) {
    reportFailure(options.session, options.words.empty() ? "" : options.words.front(), error);
    throw;
  }
}

/// True if the input runs in a process of its own: code of others may crash.
bool needsChild(const RunOptions &options) {
  if (options.words.empty())
    return false;
  const std::string &input = options.words.front();
  return isKernelFile(input) || std::filesystem::path(input).extension() == ".mlir";
}

std::vector<std::string> childArguments(const RunOptions &options) {
  std::vector<std::string> arguments = {"run", "--in-child"};
  auto pass = [&](const char *option, const std::string &value) {
    if (!value.empty())
      arguments.insert(arguments.end(), {option, value});
  };
  pass("--device", options.session.device);
  pass("--check", options.session.checks);
  if (options.session.seed)
    pass("--seed", std::to_string(*options.session.seed));
  pass("--schedule", options.session.schedule);
  pass("--model", options.session.model);
  pass("--json", options.session.json);
  pass("--kernel", options.kernel);
  pass("--grid", options.grid);
  pass("--block", options.block);
  pass("--cluster", options.cluster);
  if (options.sharedBytes)
    pass("--shared", std::to_string(options.sharedBytes));
  if (options.session.counters)
    arguments.push_back("--counters");
  arguments.push_back("--");
  arguments.insert(arguments.end(), options.words.begin(), options.words.end());
  return arguments;
}

int run(const RunOptions &options) {
  if (options.inChild || !needsChild(options))
    return runHere(options);
  return runInChild(childArguments(options), inputFileOf(options.words), ChildKind::Run);
}

} // namespace

void addRun(CLI::App &app, std::function<int()> &chosen) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "Run an op, a kernel in C++ or PTX on .npy files");
  command
      ->add_option("words", options->words,
                   "op:NAME IN.npy ... OUT.npy; or FILE.cpp, LIB.so, FILE.mlir, FILE.ptx and "
                   "arguments such as "
                   "in:A.npy out:B.npy:f32:1000 f32:0.5; and settings such as BM=128")
      ->required();
  command->add_option("--device", options->session.device,
                      "cuda:N, virtual, virtual:sm_90a, auto (default: TILE_DEVICE)");
  command->add_option("--check", options->session.checks,
                      "virtual GPU: all (default), none, or a list of "
                      "memory,init,race,sync,async; all,strict,proxy for more");
  command->add_option("--seed", options->session.seed, "virtual GPU: of every random choice")
      ->check([](const std::string &word) {
        return std::string(word.starts_with('-') ? "a number from 0 on is expected" : "");
      });
  command->add_option("--schedule", options->session.schedule,
                      "virtual GPU: eager (default), lazy or random");
  command->add_option("--model", options->session.model,
                      "virtual GPU: none (default), all, or a list of sums,noise,shift");
  command->add_flag("--counters", options->session.counters,
                    "virtual GPU: print instructions by class and line, bank conflicts, sectors");
  command->add_option("--json", options->session.json,
                      "write launch, findings and counters to this file");
  command->add_option("--kernel,--entry", options->kernel,
                      "which kernel of a FILE.cpp, LIB.so or FILE.ptx");
  command->add_option("--grid", options->grid, "X[,Y[,Z]] programs; needed for PTX");
  command->add_option("--block", options->block, "X[,Y[,Z]] threads, for PTX without .reqntid");
  command->add_option("--cluster", options->cluster,
                      "X[,Y[,Z]] blocks, for PTX without .reqnctapercluster");
  command->add_option("--shared", options->sharedBytes, "bytes of dynamic shared memory, for PTX");
  command->add_flag("--in-child", options->inChild)->group("");
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

} // namespace tile::tilec
