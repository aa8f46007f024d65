#include "tools/tilec/tune/Worker.h"

#include "base/LineWorker.h"
#include "runtime/tune/Attempts.h"
#include "runtime/tune/ConfigJson.h"
#include "runtime/tune/Space.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/input/HostCompiler.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace tile::tilec {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kMostDeaths = 8;

/// Settings as they are asked for, with the numbers that this kernel has for words.
Config configOf(const tune::TunedCall &call, const Json &object) {
  Config config;
  for (const auto &[name, value] : object.items())
    tune::setByJson(config, name, value);
  return tune::numbered(tune::spaceOf(call.record), config);
}

/// What an answer says; who asked knows what it is for.
tune::Trial trialOfAnswer(const std::string &line) {
  return tune::trialOfJson(line, "a worker's answer", 1);
}

} // namespace

// --- The side that asks --------------------------------------------------------------------------

WorkerTrier::WorkerTrier(WorkerInput input, const TuneProblem &problem, int compilers,
                         std::atomic<bool> &giveUp)
    : input_(std::move(input)), line_(problem.line), giveUp_(giveUp),
      compilers_(static_cast<size_t>(compilers)) {}

std::unique_ptr<LineProcess> WorkerTrier::start(bool onlyCompiles) const {
  std::vector<std::string> arguments = {"tune-worker", "--device", input_.device, "--shape", line_};
  if (!input_.kernel.empty())
    arguments.insert(arguments.end(), {"--kernel", input_.kernel});
  if (std::string library = compiledLibrary(); !library.empty())
    arguments.insert(arguments.end(), {"--library", library});
  if (onlyCompiles)
    arguments.push_back("--compile");
  if (withoutOwn_)
    arguments.push_back("--without-own");
  arguments.push_back("--");
  arguments.insert(arguments.end(), input_.words.begin(), input_.words.end());
  return std::make_unique<LineProcess>(base::LineProgram{"/proc/self/exe", arguments});
}

// Each process makes the reference before it is asked for anything, so that what ends it later is what it was asked to try.
LineProcess &WorkerTrier::worker() {
  if (worker_)
    return *worker_;
  auto begin = [&] {
    hasAnswered_ = false;
    worker_ = start(/*onlyCompiles=*/false);
  };
  begin();
  std::string answer;
  if (!withoutOwn_ && exchange(Json("reference").dump(), answer) != LineProcess::Answer::Line) {
    withoutOwn_ = true;
    begin();
  }
  return *worker_;
}

LineProcess::Answer WorkerTrier::exchange(const std::string &request, std::string &answer) {
  bool isSent = worker_->send(request) == LineProcess::Answer::Line;
  return isSent ? worker_->receive(answer, limit()) : LineProcess::Answer::Gone;
}

// The first answer of a process comes after its start and the reference; later ones take as long as the slowest so far,
// several times over.
milliseconds WorkerTrier::limit() const {
  constexpr double kFirst = 300, kLeast = 30, kOver = 5;
  if (input_.mostSeconds > 0)
    return milliseconds(static_cast<int64_t>(input_.mostSeconds * 1e3));
  double seconds = hasAnswered_ ? std::max(kLeast, kOver * slowest_) : kFirst;
  return milliseconds(static_cast<int64_t>(seconds * 1e3));
}

bool WorkerTrier::ask(const std::string &request, std::string &answer, tune::Trial &trial) {
  LineProcess &process = worker();
  Clock::time_point begun = Clock::now();
  LineProcess::Answer result = exchange(request, answer);
  if (result == LineProcess::Answer::Line) {
    if (hasAnswered_) // else it contains the start
      slowest_ = std::max(slowest_, std::chrono::duration<double>(Clock::now() - begun).count());
    hasAnswered_ = true;
    return true;
  }
  bool isLate = result == LineProcess::Answer::TooLate;
  trial.status = isLate ? tune::Status::TimedOut : tune::Status::Crashed;
  trial.reason = isLate ? "no answer after " + std::to_string(limit().count() / 1000) + " s"
                        : "the process that tried it was " + process.end().text();
  worker_ = nullptr;
  return false;
}

// The function is the user's, and may do anything.
std::string WorkerTrier::versionOf(const tune::TunedCall &) {
  tune::Trial failed;
  std::string answer;
  return ask(Json("version").dump(), answer, failed) ? Json::parse(answer).get<std::string>() : "";
}

tune::Trial WorkerTrier::attempt(const Config &config) {
  tune::Trial trial;
  std::string answer;
  if (ask(tune::jsonOf(config).dump(), answer, trial))
    trial = trialOfAnswer(answer);
  else if (++deaths_ >= kMostDeaths)
    giveUp_ = true;
  trial.config = config;
  return trial;
}

// What cannot be asked again keeps the times it has; so does what only the model has a time for.
void WorkerTrier::compare(std::vector<tune::Trial *> finalists) {
  if (finalists.front()->status != tune::Status::Timed)
    return;
  Json request = Json::array();
  for (const tune::Trial *trial : finalists)
    request.push_back(tune::jsonOf(trial->config));
  tune::Trial failed;
  std::string answer;
  for (tune::Trial *trial : finalists) {
    if (trial == finalists.front() ? !ask(request.dump(), answer, failed)
                                   : worker_->receive(answer, limit()) != LineProcess::Answer::Line)
      return;
    tune::Trial again = trialOfAnswer(answer);
    trial->milliseconds = again.milliseconds;
    trial->spread = again.spread, trial->samples = again.samples;
    trial->clockMHz = again.clockMHz, trial->doubt = again.doubt;
  }
}

void WorkerTrier::expect(const std::vector<Config> &configs) {
  for (Compiler &compiler : compilers_) {
    std::string answer;
    if (compiler.process && !compiler.compiling.empty()) {
      LineProcess::Answer result = compiler.process->receive(answer, milliseconds(0));
      if (result == LineProcess::Answer::TooLate)
        continue;
      compiler.compiling.clear();
      if (result == LineProcess::Answer::Gone) // the one that measures will tell
        compiler.process = nullptr;
    }
    // The first is what the one that measures is about to compile itself.
    for (size_t i = 1; i < configs.size() && compiler.compiling.empty(); ++i) {
      std::string next = tune::jsonOf(configs[i]).dump();
      if (std::ranges::count(compiled_, next))
        continue;
      if (!compiler.process)
        compiler.process = start(/*onlyCompiles=*/true);
      if (compiler.process->send(next) == LineProcess::Answer::Line)
        compiled_.push_back(next), compiler.compiling = next;
    }
  }
}

// --- The side that answers -----------------------------------------------------------------------

namespace {

struct WorkerOptions {
  std::vector<std::string> words;
  std::string kernel, device, shape, library;
  bool onlyCompiles = false, withoutOwn = false;
};

/// Compiles and loads, so that the kernel cache has it.
tune::Trial compiled(const tune::TunedCall &call, const Config &config) {
  tune::Trial trial;
  trial.config = config, trial.status = tune::Status::Failed;
  std::vector<int64_t> constants(call.constants.begin(), call.constants.end());
  detail::LaunchOptions options;
  tune::apply(tune::spaceOf(call.record), config, constants, options.compile);
  try {
    detail::prepare(call.record, call.device, call.args, constants, options);
  } catch (const Error &error) {
    trial.reason = error.message();
  }
  return trial;
}

int work(const WorkerOptions &options) {
  base::LineWorker parent;
  Device device = Device::open(options.device);
  expectCompiled(options.library);
  TuneProblem like = kernelOfLines(options.words, options.kernel, device.target());
  TuneProblem problem = problemOfLine(like, options.shape, "--shape");
  ProblemMemory memory(problem, device);
  tune::TunedCall call = memory.call();
  std::unique_ptr<tune::Attempts> attempts;
  for (std::string line; std::getline(std::cin, line);) {
    Json request = Json::parse(line);
    if (request == "version") {
      parent.answer(Json(tune::versionOf(call.record, call.args, call.constants)).dump());
      continue;
    }
    if (options.onlyCompiles) {
      parent.answer(tune::toJson(compiled(call, configOf(call, request))));
      continue;
    }
    if (!attempts)
      attempts = std::make_unique<tune::Attempts>(
          call, tune::AttemptOptions{.runsOwn = !options.withoutOwn});
    if (request == "reference") {
      parent.answer(request.dump());
    } else if (request.is_object()) {
      parent.answer(tune::toJson(attempts->attempt(configOf(call, request))));
    } else {
      std::vector<tune::Trial> trials;
      for (const Json &config : request) {
        trials.emplace_back().config = configOf(call, config);
        trials.back().status = tune::Status::Timed;
      }
      std::vector<tune::Trial *> finalists;
      for (tune::Trial &trial : trials)
        finalists.push_back(&trial);
      attempts->compare(finalists);
      for (const tune::Trial &trial : trials)
        parent.answer(tune::toJson(trial));
    }
  }
  return kOk;
}

} // namespace

void addTuneWorker(CLI::App &app, std::function<int()> &chosen) {
  CLI::App *command = app.add_subcommand("tune-worker", "")->group("");
  auto options = std::make_shared<WorkerOptions>();
  command->add_option("words", options->words);
  command->add_option("--kernel", options->kernel);
  command->add_option("--device", options->device);
  command->add_option("--shape", options->shape);
  command->add_option("--library", options->library,
                      "what the FILE.cpp among the words was compiled into");
  command->add_flag("--compile", options->onlyCompiles);
  command->add_flag("--without-own", options->withoutOwn);
  command->callback([options, &chosen] { chosen = [options] { return work(*options); }; });
}

} // namespace tile::tilec
