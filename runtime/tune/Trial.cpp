#include "runtime/tune/Trial.h"

#include "base/ReadFile.h"
#include "runtime/tune/ConfigJson.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <sstream>

namespace tile::tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kStatusNames = {"timed",  "modelled", "refused",  "wrong",
                                     "failed", "crashed",  "timed out"};

/// What is wrong with a line, thrown as the text of an error.
struct LineFault {
  std::string what;
};

template <class T> T fieldOf(const Json &line, const char *name, T missing) {
  auto found = line.find(name);
  if (found == line.end())
    return missing;
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception &) {
    throw LineFault{"'" + std::string(name) + "' has a value of another kind: " + found->dump()};
  }
}

std::string neededText(const Json &line, const char *name) {
  if (!line.contains(name))
    throw LineFault{"'" + std::string(name) + "' is missing"};
  return fieldOf<std::string>(line, name, "");
}

Config configOf(const Json &line) {
  auto found = line.find("config");
  if (found == line.end() || !found->is_object())
    throw LineFault{"'config', an object of numbers and words, is missing"};
  Config config;
  for (const auto &[name, value] : found->items()) {
    if (!setByJson(config, name, value))
      throw LineFault{"the setting '" + name +
                      "' is neither an integer nor a word: " + value.dump()};
  }
  return config;
}

Status statusOf(const Json &line) {
  auto name = fieldOf<std::string>(line, "status", "timed");
  for (size_t i = 0; i < kStatusNames.size(); ++i)
    if (name == kStatusNames[i])
      return static_cast<Status>(i);
  throw LineFault{"there is no status '" + name + "'"};
}

Trial trialOf(const Json &line) {
  if (!line.is_object())
    throw LineFault{"an object is expected"};
  Trial trial;
  trial.key = {neededText(line, "kernel"), fieldOf<std::string>(line, "version", ""),
               neededText(line, "problem"), neededText(line, "device")};
  trial.config = configOf(line);
  trial.status = statusOf(line);
  trial.milliseconds = fieldOf<double>(line, "ms", 0);
  trial.spread = fieldOf<double>(line, "spread", 0);
  trial.samples = fieldOf<int>(line, "samples", 0);
  trial.clockMHz = fieldOf<int>(line, "clock", 0);
  trial.doubt = fieldOf<std::string>(line, "doubt", "");
  if (auto shape = line.find("shape"); shape != line.end())
    trial.shape = shape->dump();
  trial.isChosen = fieldOf<bool>(line, "chosen", false);
  trial.reason = fieldOf<std::string>(line, "reason", "");
  trial.toolchain = fieldOf<std::string>(line, "toolchain", "");
  trial.host = fieldOf<std::string>(line, "host", "");
  trial.time = fieldOf<int64_t>(line, "time", 0);
  bool hasTime = trial.status <= Status::Modelled;
  if (hasTime && !(std::isfinite(trial.milliseconds) && trial.milliseconds > 0))
    throw LineFault{"'ms' of what was right must be above 0"};
  return trial;
}

} // namespace

const char *nameOf(Status status) { return kStatusNames[static_cast<size_t>(status)]; }

std::string toJson(const Trial &trial) {
  Json line = {{"kernel", trial.key.kernel},
               {"version", trial.key.version},
               {"problem", trial.key.problem},
               {"device", trial.key.device}};
  line["config"] = jsonOf(trial.config);
  line["status"] = nameOf(trial.status);
  if (trial.status <= Status::Modelled)
    line.update({{"ms", trial.milliseconds}, {"spread", trial.spread}, {"samples", trial.samples}});
  if (trial.clockMHz)
    line["clock"] = trial.clockMHz;
  if (!trial.doubt.empty())
    line["doubt"] = trial.doubt;
  if (trial.isChosen)
    line["chosen"] = true;
  if (!trial.shape.empty())
    line["shape"] = Json::parse(trial.shape);
  if (!trial.reason.empty())
    line["reason"] = trial.reason;
  line.update({{"toolchain", trial.toolchain}, {"host", trial.host}, {"time", trial.time}});
  return line.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Trial trialOfJson(std::string_view text, const std::string &file, int line) {
  auto refuse = [&](const std::string &what) {
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                file + ":" + std::to_string(line) + ": " + what);
  };
  try {
    return trialOf(Json::parse(text));
  } catch (const LineFault &fault) {
    refuse(fault.what);
  } catch (const nlohmann::json::exception &error) {
    refuse(std::string("this is no JSON: ") + error.what());
  }
  __builtin_unreachable();
}

std::vector<Trial> readTable(const std::string &file) {
  std::istringstream in(base::readFile(file));
  std::vector<Trial> trials;
  std::string text;
  for (int line = 1; std::getline(in, text); ++line)
    if (text.find_first_not_of(" \t\r") != std::string::npos)
      trials.push_back(trialOfJson(text, file, line));
  return trials;
}

} // namespace tile::tune
