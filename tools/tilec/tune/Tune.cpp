// `tilec tune`: finds the best settings of a kernel for some problems, and keeps them for launches of `tuned()`.
#include "runtime/tune/Attempts.h"
#include "runtime/tune/Key.h"
#include "runtime/tune/Known.h"
#include "runtime/tune/Tuner.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/input/Refuse.h"
#include "tools/tilec/tune/Problems.h"
#include "tools/tilec/tune/Simulate.h"
#include "tools/tilec/tune/TuneHtml.h"
#include "tools/tilec/tune/TuneText.h"
#include "tools/tilec/tune/Worker.h"

#include "base/AtomicFile.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <iostream>
#include <thread>

#include <unistd.h>

namespace tile::tilec {
namespace {

struct TuneCommand {
  std::vector<std::string> words;
  std::string kernel, device, shapes, database = tune::Store::defaultFile();
  std::string exportTo, importFrom, recording, report, forget;
  std::string budget = "60s";
  int64_t trials = 32;
  int jobs = 0;
  double limit = 0;
  bool exportsAll = false;
  bool full = false, fresh = false, explain = false, inProcess = false, quiet = false;
};

/// Set by an interrupt: no trial begins any more, and what was found is kept. A second one ends the program.
std::atomic<bool> interrupted = false;

void onInterrupt(int) {
  if (interrupted.exchange(true))
    _exit(128 + SIGINT);
}

/// "60s", "5m", "90": seconds.
double secondsOf(const std::string &text) {
  size_t end = 0;
  double number = 0;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception &) {
    end = std::string::npos;
  }
  std::string unit = end == std::string::npos ? "?" : text.substr(end);
  double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (factor == 0 || !(number > 0))
    refuse("--budget " + text + ": a time such as 60s, 5m or 1h is expected");
  return number * factor;
}

/// "off" is for the command what it is for TILE_TUNE_DB.
void needDatabase(const TuneCommand &command) {
  if (command.database.empty() || command.database == "off")
    refuse("there is no database of results: set TILE_TUNE_DB or give --db FILE");
}

tune::Store &writable(const TuneCommand &command, std::unique_ptr<tune::Store> &store) {
  needDatabase(command);
  store = std::make_unique<tune::Store>(command.database, tune::Store::Access::Write);
  return *store;
}

int exportResults(const TuneCommand &command) {
  needDatabase(command);
  tune::Store store(command.database, tune::Store::Access::Read);
  std::string text;
  int64_t count = 0;
  for (const tune::Trial &trial : store.all())
    if (trial.isChosen || command.exportsAll)
      text += tune::toJson(trial) + "\n", ++count;
  base::writeFile(command.exportTo, text);
  std::cerr << count << " results written to " << command.exportTo << "\n";
  return kOk;
}

int importResults(const TuneCommand &command) {
  std::vector<tune::Trial> trials = tune::readTable(command.importFrom);
  std::unique_ptr<tune::Store> store;
  writable(command, store);
  store->merge(trials);
  std::cerr << trials.size() << " results taken into " << command.database << "\n";
  return kOk;
}

int forgetResults(const TuneCommand &command) {
  std::unique_ptr<tune::Store> store;
  int64_t count = writable(command, store).forget(command.forget);
  std::cerr << count << " results of '" << command.forget << "' forgotten\n";
  return kOk;
}

/// Who tries: processes of their own, unless told otherwise.
std::unique_ptr<tune::Trier> trierOf(const TuneCommand &command, const TuneProblem &problem,
                                     const Device &device, const tune::TunedCall &call, int jobs,
                                     std::atomic<bool> &giveUp) {
  if (command.inProcess)
    return std::make_unique<tune::Attempts>(call);
  return std::make_unique<WorkerTrier>(
      WorkerInput{command.words, problem.record->name, device.name(), command.limit}, problem,
      jobs - 1, giveUp);
}

/// What tables say of a problem: it is tried early.
std::vector<Config> tabledSettings(const tune::TunedCall &call, tune::KnownResults &known) {
  const tune::TrialKey key{call.record.name, "",
                           tune::problemKey(call.record, call.args, call.constants),
                           tune::deviceKey(call.device)};
  std::vector<Config> settings;
  for (tune::Known &result : known.find(key, /*onlyTables=*/true))
    settings.push_back(std::move(result.config));
  return settings;
}

bool tuneProblem(const TuneCommand &command, const TuneProblem &problem, const Device &device,
                 tune::Store &store, tune::KnownResults &known, double seconds, TuneHtml &report) {
  if (command.explain) {
    std::cout << explanationOf(exampleCall(problem, device));
    return true;
  }
  ProblemMemory memory(problem, device);
  const tune::TunedCall call = memory.call();
  int jobs =
      command.jobs > 0 ? command.jobs : static_cast<int>(std::thread::hardware_concurrency());
  std::unique_ptr<tune::Trier> trier =
      trierOf(command, problem, device, call, std::max(jobs, 1), interrupted);
  tune::TuneOptions options;
  options.search.trials = command.full ? std::max<int64_t>(command.trials, 256) : command.trials;
  options.search.first = std::max<int64_t>(options.search.trials / 2, 1);
  options.seeds = tabledSettings(call, known);
  options.seconds = seconds;
  options.ahead = std::max(jobs, 1);
  options.fresh = command.fresh;
  options.stop = &interrupted;
  if (!command.quiet)
    options.progress = [](const tune::Trial &trial) { std::cerr << lineOf(trial) << "\n"; };
  tune::TuneResult result = tune::tune(call, *trier, &store, options);
  std::cout << summaryOf(call, result, store.file()) << std::flush;
  report.add(call, result);
  return result.best.has_value();
}

int tuneAll(const TuneCommand &command) {
  Device device = command.device.empty() ? Device::best() : Device::open(command.device);
  std::vector<TuneProblem> problems =
      problemsOf(command.words, command.kernel, command.shapes, device.target());
  double seconds = secondsOf(command.budget) / static_cast<double>(problems.size());
  std::unique_ptr<tune::Store> store;
  if (!command.explain)
    writable(command, store);
  if (!command.report.empty())
    base::checkWritable(command.report);
  std::signal(SIGINT, onInterrupt);
  bool allFound = true;
  std::unique_ptr<tune::KnownResults> known = tune::KnownResults::ofEnvironment();
  TuneHtml report;
  for (const TuneProblem &problem : problems)
    if (!interrupted)
      allFound &= tuneProblem(command, problem, device, *store, *known, seconds, report);
  if (!command.report.empty())
    base::writeFile(command.report, report.page());
  return allFound ? kOk : kFinding;
}

int run(const TuneCommand &command) {
  if (command.exportsAll && command.exportTo.empty())
    refuse("--all is for --export FILE: which results are written");
  if (!command.exportTo.empty())
    return exportResults(command);
  if (!command.importFrom.empty())
    return importResults(command);
  if (!command.forget.empty())
    return forgetResults(command);
  if (command.words.empty())
    refuse("an input is expected, op:NAME, FILE.cpp or LIB.so; or --export, --import, --forget");
  if (!command.recording.empty())
    return simulate(command.words, command.kernel, command.recording);
  return tuneAll(command);
}

} // namespace

void addTune(CLI::App &app, std::function<int()> &chosen) {
  CLI::App *command = app.add_subcommand(
      "tune", "Find the best settings of a kernel for some problems, for launches of tuned()");
  auto options = std::make_shared<TuneCommand>();
  command->add_option("input", options->words,
                      "op:NAME, FILE.cpp or LIB.so, then settings: M=4096, a=f16[4096x4096]");
  command->add_option("--kernel", options->kernel, "Which kernel of a FILE.cpp or LIB.so");
  command->add_option("--shapes", options->shapes,
                      "A file of problems, a line each, as TILE_TUNE=record writes it");
  command->add_option("--device", options->device,
                      "As TILE_DEVICE; default: a GPU, if there is one");
  command->add_option("--budget", options->budget, "Time for all problems: 60s, 5m, 1h")
      ->capture_default_str();
  command->add_option("--trials", options->trials, "Settings to try of each problem, at most")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}))
      ->capture_default_str();
  command->add_flag("--full", options->full, "Try 256 of them, if there are so many");
  command->add_flag("--fresh", options->fresh, "Try again what is known");
  command->add_option("--jobs", options->jobs, "Processes; one measures, the others compile ahead")
      ->check(CLI::Range(1, 256));
  command
      ->add_option("--limit", options->limit,
                   "Seconds that trying one may take; else 30, or five times the longest so far")
      ->check([](const std::string &text) { // "nan" is no number above 0 either
        double number = 0;
        bool isPositive = CLI::detail::lexical_cast(text, number) && number > 0;
        return isPositive ? std::string() : "Number less or equal to 0: " + text;
      });
  command->add_flag("--in-process", options->inProcess,
                    "Try in this process: no crash is survived");
  command->add_flag("--explain", options->explain,
                    "Say what would be tried and why not the rest, and try nothing");
  command->add_option(
      "--simulate", options->recording,
      "Search a recording: how far from the best would have been found, without a GPU");
  command->add_option("--db", options->database, "The database: default TILE_TUNE_DB");
  command->add_option("--report", options->report,
                      "A page with all trials: how times fell, what went with them, what failed");
  command->add_option("--export", options->exportTo,
                      "Write what was chosen to a table, a line each");
  command->add_flag("--all", options->exportsAll, "With --export: write all that was tried");
  command->add_option("--import", options->importFrom,
                      "Merge the results of a table into the database: of one known from both the "
                      "one with more samples stays");
  command->add_option("--forget", options->forget, "Forget all results of a kernel of this name");
  command->add_flag("--quiet", options->quiet, "Say nothing of single trials");
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

} // namespace tile::tilec
