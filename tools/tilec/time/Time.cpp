// `tilec time`: how long kernels would take on an H100, by the virtual GPU's model.
#include "base/AtomicFile.h"
#include "codegen/report/KernelReport.h"
#include "ir/target/Target.h"
#include "runtime/host/State.h"
#include "runtime/jit/Compile.h"
#include "runtime/predict/Figures.h"
#include "runtime/vgpu/VgpuDevice.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/input/Input.h"
#include "tools/tilec/input/KernelFile.h"
#include "tools/tilec/input/Refuse.h"
#include "tools/tilec/time/Calls.h"
#include "tools/tilec/time/Jobs.h"
#include "tools/tilec/time/TimeReport.h"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>

namespace tile::tilec {
namespace {

struct TimeCommand {
  CallOptions call;
  std::string grid, block, cluster, json, jobs;
  JobOptions options; ///< --set, for jobs too
  std::optional<double> clockGhz;
  bool isClean = false, estimates = false, cyclesOnly = false, inChild = false;
};

int timeJobs(TimeCommand command) {
  command.options.cyclesOnly = command.cyclesOnly;
  if (command.jobs == "-")
    return runJobs(std::cin, std::cout, command.options) ? 1 : 0;
  std::ifstream file(command.jobs);
  if (!file)
    refuse("cannot read '" + command.jobs + "'");
  return runJobs(file, std::cout, command.options) ? 1 : 0;
}

vgpu::PredictionRequest requestOf(const TimeCommand &command) {
  vgpu::PredictionRequest request;
  if (command.clockGhz && !(*command.clockGhz > 0))
    refuse("--clock " + std::to_string(*command.clockGhz) + ": a clock in GHz is expected");
  request.clockGhz = command.clockGhz;
  request.isDirty = !command.isClean;
  request.settings = settingsOf(command.options);
  // Golden cycles are the same with and without an assembler.
  if (!command.estimates && !command.cyclesOnly)
    request.assembler = predict::figuresOf;
  return request;
}

/// What the compiler counts of a kernel of the language.
std::optional<KnownWork> workOf(const std::optional<KernelRequest> &request,
                                const std::string &target) {
  if (!request)
    return std::nullopt;
  codegen::CompileOptions compile;
  compile.target = target;
  compile.keepReport = true;
  codegen::CompiledKernel kernel = jit::compileRequest(*request, compile);
  const codegen::LaunchWork &launch = kernel.report->launch;
  if (!launch.unknown.empty() || !launch.isOfLaunch)
    return std::nullopt;
  KnownWork work;
  for (const auto &[unit, flops] : launch.flops)
    work.flops += flops;
  work.bytes = launch.distinctBytes();
  return work;
}

std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

int timeHere(const TimeCommand &command) {
  CallOptions options = command.call;
  auto shape = [](const char *option, const std::string &word) {
    return word.empty() ? std::optional<device::Dim3>() : parseShape(option, word);
  };
  options.ptx.grid = shape("--grid", command.grid);
  options.ptx.block = shape("--block", command.block);
  options.ptx.cluster = shape("--cluster", command.cluster);
  vgpu::PredictionRequest request = requestOf(command);
  if (!command.json.empty())
    base::checkWritable(command.json);
  TimedCall call = timedCall(options);
  auto seam = vgpu::asVirtual(call.device.state()->device);
  TimedLaunches timed{{seam->predict(call.launch, request)}, {}};
  if (command.cyclesOnly) {
    std::printf("%s\t%.0f\n", joined(options.words).c_str(), timed.prediction.cycles());
    return kOk;
  }
  for (size_t i = 0; i < timed.prediction.launches.size(); ++i)
    timed.work.push_back(workOf(call.request(i), call.device.target()));
  std::cout << asText(timed) << std::flush;
  if (!command.json.empty())
    base::writeFile(command.json, asJson(timed));
  return kOk;
}

std::vector<std::string> childArguments(const TimeCommand &command) {
  std::vector<std::string> arguments = {"time", "--in-child"};
  auto pass = [&](const char *option, const std::string &value) {
    if (!value.empty())
      arguments.insert(arguments.end(), {option, value});
  };
  pass("--target", command.call.target);
  pass("--kernel", command.call.kernel);
  pass("--grid", command.grid);
  pass("--block", command.block);
  pass("--cluster", command.cluster);
  pass("--json", command.json);
  if (command.call.ptx.sharedBytes)
    pass("--shared", std::to_string(command.call.ptx.sharedBytes));
  if (command.clockGhz)
    pass("--clock", std::to_string(*command.clockGhz));
  for (const std::string &setting : command.options.settings)
    pass("--set", setting);
  for (auto [flag, isSet] : {std::pair{"--clean", command.isClean},
                             {"--estimate", command.estimates},
                             {"--cycles", command.cyclesOnly}})
    if (isSet)
      arguments.push_back(flag);
  arguments.push_back("--");
  arguments.insert(arguments.end(), command.call.words.begin(), command.call.words.end());
  return arguments;
}

int time(const TimeCommand &command) {
  if (!command.jobs.empty() && !command.call.words.empty())
    refuse("--jobs names all that is timed: leave out '" + command.call.words[0] + "'");
  if (!command.jobs.empty())
    return timeJobs(command);
  // Code of others may crash.
  bool isOfOthers = !command.call.words.empty() && isKernelFile(command.call.words[0]);
  if (command.inChild || !isOfOthers)
    return timeHere(command);
  return runInChild(childArguments(command), inputFileOf(command.call.words), ChildKind::Run);
}

} // namespace

void addTime(CLI::App &app, std::function<int()> &chosen) {
  auto command = std::make_shared<TimeCommand>();
  CLI::App *timing =
      app.add_subcommand("time", "Predict the time of kernels on an H100, without one");
  CallOptions &call = command->call;
  timing->add_option(
      "words", call.words,
      "op:NAME, FILE.cpp or LIB.so, then settings such as M=4096 and x=f32[1000]; or "
      "FILE.ptx and arguments as `tilec run` takes them");
  timing->add_option("--target", call.target,
                     ir::knownTargets() + " (default: sm_90a, or that of the PTX); others than "
                                          "sm_90 are uncalibrated");
  timing->add_option("--kernel,--entry", call.kernel,
                     "which kernel of a FILE.cpp, LIB.so or FILE.ptx");
  timing->add_option("--grid", command->grid, "X[,Y[,Z]] programs; needed for PTX");
  timing->add_option("--block", command->block, "X[,Y[,Z]] threads, for PTX without .reqntid");
  timing->add_option("--cluster", command->cluster,
                     "X[,Y[,Z]] blocks, for PTX without .reqnctapercluster");
  timing->add_option("--shared", call.ptx.sharedBytes, "bytes of dynamic shared memory, for PTX");
  timing->add_option("--clock", command->clockGhz, "GHz, in place of the clock under the load");
  timing->add_flag("--clean", command->isClean,
                   "L2 holds no written lines at the start (default: full of them, as benchmarks "
                   "leave it)");
  timing->add_flag("--estimate", command->estimates,
                   "estimate registers and barriers even if there is an assembler");
  timing->add_option("--json", command->json, "also write all of it to this file, as JSON");
  timing->add_flag("--cycles", command->cyclesOnly,
                   "print the words and the cycles alone, as tests keep them; implies --estimate");
  timing->add_option("--jobs", command->jobs,
                     "A file of launches, a JSON object a line; -: standard input");
  timing->add_option("--set", command->options.settings,
                     "NAME=VALUE: another number of the calibration");
  timing->add_flag("--in-child", command->inChild)->group("");
  timing->callback([command, &chosen] { chosen = [command] { return time(*command); }; });
}

} // namespace tile::tilec
