// tilec time: predicted times.
#include "tools/tilec/Child.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/input/Refuse.h"
#include "tools/tilec/time/Jobs.h"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>

namespace tile::tilec {
namespace {

struct TimeArguments {
  std::string jobs;
  JobOptions options;
};

int timeJobs(const TimeArguments &arguments) {
  if (arguments.jobs == "-")
    return runJobs(std::cin, std::cout, arguments.options) ? 1 : 0;
  std::ifstream file(arguments.jobs);
  if (!file)
    refuse("cannot read '" + arguments.jobs + "'");
  return runJobs(file, std::cout, arguments.options) ? 1 : 0;
}

} // namespace

void addTime(CLI::App &app, std::function<int()> &chosen) {
  auto arguments = std::make_shared<TimeArguments>();
  CLI::App *command =
      app.add_subcommand("time", "Predict the time of kernels on an H100, without one");
  command
      ->add_option("--jobs", arguments->jobs,
                   "A file of launches, a JSON object a line; -: standard input")
      ->required();
  command->add_option("--set", arguments->options.settings,
                      "NAME=VALUE: another number of the calibration");
  command->callback(
      [arguments, &chosen] { chosen = [arguments] { return timeJobs(*arguments); }; });
}

} // namespace tile::tilec
