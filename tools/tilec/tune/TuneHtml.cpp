#include "tools/tilec/tune/TuneHtml.h"

#include "runtime/tune/Key.h"
#include "tools/tilec/tune/TuneText.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace tile::tilec {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --line: #8886; --best: #1a9850; --trial: #4575b4; --failed: #d73027; }
body { font: 14px system-ui, sans-serif; max-width: 980px; margin: 20px auto; padding: 0 16px; }
h1 { font-size: 20px; } h2 { font-size: 16px; margin-top: 32px; } h3 { font-size: 14px; }
code { font: 12px ui-monospace, monospace; }
svg { width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
table { border-collapse: collapse; } td, th { padding: 2px 10px 2px 0; text-align: left; border-bottom: 1px solid var(--line); }
.axis { stroke: var(--line); } .best { stroke: var(--best); fill: none; stroke-width: 2; }
.trial { fill: var(--trial); } .failed { fill: var(--failed); } .roof { stroke: currentColor; stroke-dasharray: 4 4; }
.config { fill: none; stroke-width: 1.5; }
)css";

std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text)
    if (c == '&' || c == '<' || c == '>' || c == '"')
      safe += "&#" + std::to_string(static_cast<int>(c)) + ";";
    else
      safe += c == '\n' || static_cast<unsigned char>(c) >= 0x20 ? c : '?';
  return safe;
}

std::string number(double value, const char *format = "%.4g") {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

bool hasTime(const tune::Trial &trial) { return trial.status <= tune::Status::Modelled; }

/// The times of the trials that were right: of a problem there is at least one.
struct Times {
  double least = 0, most = 0;
  explicit Times(const std::vector<tune::Trial> &trials) {
    for (const tune::Trial &trial : trials)
      if (hasTime(trial)) {
        least = least == 0 ? trial.milliseconds : std::min(least, trial.milliseconds);
        most = std::max(most, trial.milliseconds);
      }
  }
  /// Where a time lies between the least and the most, by its logarithm.
  double place(double milliseconds) const {
    return most > least ? std::log(milliseconds / least) / std::log(most / least) : 0;
  }
};

/// A place on a drawing.
struct Point {
  double x, y;
  std::string str() const { return number(x, "%.1f") + "," + number(y, "%.1f"); }
};

std::string line(Point from, Point to, const char *kind) {
  return "<line class='" + std::string(kind) + "' x1='" + number(from.x) + "' y1='" +
         number(from.y) + "' x2='" + number(to.x) + "' y2='" + number(to.y) + "'/>";
}
std::string label(Point at, const std::string &text, const char *anchor = "start") {
  return "<text x='" + number(at.x) + "' y='" + number(at.y) + "' text-anchor='" + anchor + "'>" +
         escaped(text) + "</text>";
}

/// Every trial by when it was made and its time; the line is the best so far.
std::string convergence(const std::vector<tune::Trial> &trials, const Times &times, double roof) {
  constexpr double kLeft = 80, kTop = 10, kWidth = 820, kHeight = 200;
  double least = roof > 0 ? std::min(roof, times.least) : times.least;
  double most = std::max(times.most, least * 1.01);
  auto place = [&](size_t trial, double milliseconds) {
    double part = std::log(milliseconds / least) / std::log(most / least);
    return Point{kLeft + kWidth * static_cast<double>(trial + 1) /
                             static_cast<double>(trials.size() + 1),
                 kTop + kHeight * (1 - part)};
  };
  std::string text = "<svg viewBox='0 0 920 250'>";
  text += line({kLeft, kTop}, {kLeft, kTop + kHeight}, "axis") +
          line({kLeft, kTop + kHeight}, {kLeft + kWidth, kTop + kHeight}, "axis");
  for (double milliseconds : {times.most, times.least}) {
    Point at = place(0, milliseconds);
    text += label({kLeft - 6, at.y + 4}, number(milliseconds) + " ms", "end");
  }
  if (roof > 0) {
    double y = place(0, roof).y;
    text += line({kLeft, y}, {kLeft + kWidth, y}, "roof") +
            label({kLeft + 4, y - 4}, "the roofline: " + number(roof) + " ms");
  }
  std::string best;
  double fastest = 0;
  for (size_t i = 0; i < trials.size(); ++i) {
    const tune::Trial &trial = trials[i];
    if (hasTime(trial) && (fastest == 0 || trial.milliseconds < fastest))
      fastest = trial.milliseconds;
    if (fastest > 0)
      best += place(i, fastest).str() + " ";
    Point at = hasTime(trial) ? place(i, trial.milliseconds) : Point{place(i, most).x, kTop};
    text += "<circle class='" + std::string(hasTime(trial) ? "trial" : "failed") + "' cx='" +
            number(at.x) + "' cy='" + number(at.y) + "' r='3'><title>" +
            escaped(trial.config.str() + ": " +
                    (hasTime(trial) ? number(trial.milliseconds) + " ms" : trial.reason)) +
            "</title></circle>";
  }
  return text + "<polyline class='best' points='" + best + "'/>" +
         label({kLeft + kWidth, kTop + kHeight + 20}, std::to_string(trials.size()) + " trials",
               "end") +
         "</svg>";
}

/// A line for each trial across an axis for each setting and one for the time; the fastest are green.
std::string coordinates(const std::vector<tune::Trial> &trials, const tune::TuningSpace &space,
                        const Times &times) {
  constexpr double kLeft = 40, kTop = 30, kWidth = 840, kHeight = 200;
  size_t axes = space.settings.size();
  auto x = [&](size_t axis) {
    return kLeft + kWidth * static_cast<double>(axis) / static_cast<double>(axes);
  };
  std::string text = "<svg viewBox='0 0 940 260'>";
  for (size_t axis = 0; axis <= axes; ++axis) {
    text += line({x(axis), kTop}, {x(axis), kTop + kHeight}, "axis") +
            label({x(axis), kTop - 12}, axis < axes ? space.settings[axis].name : "time", "middle");
    if (axis == axes)
      continue;
    const std::vector<int64_t> &values = space.settings[axis].values;
    for (size_t i = 0; i < values.size(); ++i)
      text += label(
          {x(axis) + 4,
           kTop + kHeight * (1 - static_cast<double>(i) /
                                     std::max<double>(static_cast<double>(values.size()) - 1, 1))},
          tune::textOf(space.settings[axis], values[i]));
  }
  auto place = [&](const tune::TuningSpace::Setting &setting, int64_t value) {
    auto found = std::ranges::find(setting.values, value);
    if (found == setting.values.end()) // the kernel's own need not be one of them
      return 0.0;
    return static_cast<double>(found - setting.values.begin()) /
           std::max<double>(static_cast<double>(setting.values.size()) - 1, 1);
  };
  std::vector<const tune::Trial *> slowestFirst;
  for (const tune::Trial &trial : trials)
    if (hasTime(trial))
      slowestFirst.push_back(&trial);
  std::ranges::sort(slowestFirst, std::greater(), &tune::Trial::milliseconds);
  for (const tune::Trial *trial : slowestFirst) {
    double slow = times.place(trial->milliseconds);
    std::string points;
    for (size_t axis = 0; axis < axes; ++axis)
      points +=
          Point{x(axis), kTop + kHeight * (1 - place(space.settings[axis],
                                                     trial->config[space.settings[axis].name]))}
              .str() +
          " ";
    points += Point{x(axes), kTop + kHeight * slow}.str();
    text += "<polyline class='config' style='stroke:hsl(" + number(120 * (1 - slow), "%.0f") +
            " 70% 45% / " + number(0.9 - 0.7 * slow, "%.2f") + ")' points='" + points +
            "'><title>" +
            escaped(trial->config.str() + ": " + number(trial->milliseconds) + " ms") +
            "</title></polyline>";
  }
  return text + label({x(axes) + 4, kTop + 4}, number(times.least) + " ms") +
         label({x(axes) + 4, kTop + kHeight}, number(times.most) + " ms") + "</svg>";
}

std::string row(const std::string &first, const std::string &second, const std::string &third) {
  return "<tr><td>" + escaped(first) + "</td><td><code>" + escaped(second) + "</code></td><td>" +
         escaped(third) + "</td></tr>";
}

std::string failures(const tune::TuneResult &result) {
  std::string rows;
  for (const tune::Trial &trial : result.trials)
    if (!hasTime(trial))
      rows += row(nameOf(trial.status), trial.config.str(), trial.reason);
  for (const auto &[why, leftOut] : result.candidates.leftOut)
    rows += row(std::to_string(leftOut.count) + " left out", leftOut.first.str(), why);
  return rows.empty() ? "" : "<h3>What was not taken</h3><table>" + rows + "</table>";
}

} // namespace

void TuneHtml::add(const tune::TunedCall &call, const tune::TuneResult &result) {
  const tune::TuningSpace &space = tune::spaceOf(call.record);
  sections_ += "<h2>" + escaped(call.record.name) + "</h2><p><code>" + escaped(result.key.problem) +
               "</code><br>" + escaped(result.key.device) + " multiprocessors</p>";
  if (result.best) {
    const tune::Trial &best = *result.best;
    double roof = tune::rooflineOf(space, best.config, call.problem()).value_or(0) * 1e3;
    bool isModelled = best.status == tune::Status::Modelled;
    sections_ += "<p>Best: <code>" + escaped(best.config.str()) + "</code>, " +
                 number(best.milliseconds) + " ms" + (isModelled ? " by the model" : "");
    sections_ += escaped(comparedWithOwn(result));
    if (roof > 0)
      sections_ += ", " + number(100 * roof / best.milliseconds, "%.0f") + " % of the roofline";
    Times times(result.trials);
    sections_ += ".</p><h3>Trials</h3>" + convergence(result.trials, times, roof) +
                 "<h3>Settings</h3>" + coordinates(result.trials, space, times);
  } else {
    sections_ += "<p>Nothing worked.</p>";
  }
  sections_ += failures(result);
}

std::string TuneHtml::page() const {
  return "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>tilec tune</title>"
         "<style>" +
         std::string(kStyle) + "</style></head><body><h1>What was tuned</h1>" + sections_ +
         "</body></html>\n";
}

} // namespace tile::tilec
