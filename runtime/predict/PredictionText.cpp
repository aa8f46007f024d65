// Predictions for people.
#include <tile/Prediction.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <ostream>

namespace tile {
namespace {

constexpr size_t kMostStalls = 5, kMostAssumptions = 3;
constexpr double kLeastShare = 0.01; // what is below is left out

[[gnu::format(printf, 1, 2)]] std::string format(const char *pattern, ...) {
  char text[512];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

/// Three digits that count, as "431", "43.1", "4.31".
std::string usText(double us) {
  return us >= 100 ? format("%.0f", us) : us >= 10 ? format("%.1f", us) : format("%.2f", us);
}

std::string percent(double share) { return format("%.0f %%", 100 * share); }

std::string shapeText(const uint32_t (&shape)[3]) {
  std::string text = std::to_string(shape[0]);
  for (int axis = 1; axis < (shape[2] > 1 ? 3 : shape[1] > 1 ? 2 : 1); ++axis)
    text += "x" + std::to_string(shape[axis]);
  return text;
}

std::string timeText(double us, double lowUs, double highUs) {
  std::string text = usText(us) + " us";
  return highUs > 0 ? text + " (" + usText(lowUs) + " to " + usText(highUs) + ")" : text;
}

std::string row(const char *name, const std::string &text) {
  return format("  %-10s", name) + text + "\n";
}

std::string headOf(const PredictedLaunch &launch) {
  std::string text =
      launch.kernel + ": grid " + shapeText(launch.grid) + ", block " + shapeText(launch.block);
  if (shapeText(launch.cluster) != "1")
    text += ", cluster " + shapeText(launch.cluster);
  return text + "\n";
}

std::string busyText(const PredictedLaunch &launch) {
  std::string text;
  for (const PredictedShare &share : launch.busy)
    if (share.share >= kLeastShare)
      text += (text.empty() ? "" : ", ") + share.name + " " + percent(share.share);
  return text.empty() ? "nothing" : text;
}

std::string occupancyText(const PredictedLaunch &launch) {
  auto counted = [](int count, const char *what, bool isEstimated) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s") +
           (isEstimated ? " (estimated)" : "");
  };
  return counted(launch.blocksPerMultiprocessor, "block", false) +
         " a multiprocessor, limited by " + launch.occupancyLimit + "; " +
         counted(launch.registers, "register", launch.registersAreEstimated) + ", " +
         counted(launch.barriers, "barrier", launch.barriersAreEstimated);
}

std::string boundText(const PredictedLaunch &launch) {
  for (const PredictedShare &share : launch.busy)
    if (share.name == launch.bound)
      return launch.bound + ", busy " + percent(share.share) + " of the time";
  return launch.bound;
}

std::string stallsText(const PredictedLaunch &launch) {
  std::string text;
  size_t count = 0;
  for (const PredictedStall &stall : launch.stalls)
    if (stall.share >= kLeastShare && count++ < kMostStalls)
      text += row(count == 1 ? "waits" : "",
                  format("%3.0f %%  %-9s  ", 100 * stall.share, stall.reason.c_str()) + stall.file +
                      ":" + std::to_string(stall.line));
  return text;
}

/// The first of them.
std::string assumptionsText(const PredictedLaunch &launch) {
  std::string text;
  auto add = [&](const std::string &line) { text += row(text.empty() ? "assumed" : "", line); };
  size_t shown = std::min(launch.assumptions.size(), kMostAssumptions);
  for (size_t i = 0; i < shown; ++i)
    add(launch.assumptions[i]);
  if (shown < launch.assumptions.size())
    add("and " + std::to_string(launch.assumptions.size() - shown) + " more");
  return text;
}

const char *const kUncalibrated =
    "uncalibrated: the model's numbers are those of another card; use the times to order "
    "launches alone";

} // namespace

std::string PredictedLaunch::str() const {
  std::string text = headOf(*this);
  text += row("time", timeText(us, lowUs, highUs) + ", predicted for " + calibration);
  if (!isCalibrated)
    text += row("", kUncalibrated);
  text += row("cycles", format("%.0f at %.3f GHz", cycles, clockGhz));
  text += row("bound", boundText(*this));
  text += row("busy", busyText(*this));
  text += row("occupancy", occupancyText(*this));
  return text + stallsText(*this) + assumptionsText(*this);
}

std::string Prediction::str() const {
  std::string text;
  for (const PredictedLaunch &launch : launches)
    text += launch.str();
  if (launches.empty())
    return "no kernel was launched\n";
  if (launches.size() > 1)
    text += std::to_string(launches.size()) + " launches: " + timeText(us(), lowUs(), highUs()) +
            format(", %.0f cycles\n", cycles());
  return text;
}

std::ostream &operator<<(std::ostream &out, const Prediction &prediction) {
  return out << prediction.str();
}

} // namespace tile
