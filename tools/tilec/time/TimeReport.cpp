#include "tools/tilec/time/TimeReport.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace tile::tilec {
namespace {

constexpr double kFlopsOfUs = 1e6; // of a TFLOPS, in a microsecond
constexpr double kBytesOfUs = 1e3; // of a GB/s

/// "778 TFLOPS", whatever is not 0.
std::string rateText(const KnownWork &work, double us) {
  char text[160] = "";
  if (work.flops > 0 && work.bytes > 0)
    std::snprintf(text, sizeof text,
                  "%.4g TFLOPS (%.4g Gflop), %.4g GB/s (%.4g MB, each byte once)",
                  work.flops / us / kFlopsOfUs, work.flops / 1e9, work.bytes / us / kBytesOfUs,
                  work.bytes / 1e6);
  else if (work.bytes > 0)
    std::snprintf(text, sizeof text, "%.4g GB/s (%.4g MB, each byte once)",
                  work.bytes / us / kBytesOfUs, work.bytes / 1e6);
  return text;
}

} // namespace

std::string asText(const TimedLaunches &timed) {
  std::string text;
  for (size_t i = 0; i < timed.prediction.launches.size(); ++i) {
    const PredictedLaunch &launch = timed.prediction.launches[i];
    text += launch.str();
    if (const std::optional<KnownWork> &work = timed.work[i]; work && work->bytes > 0)
      text += "  work      " + rateText(*work, launch.us) + "\n";
  }
  if (timed.prediction.launches.size() == 1)
    return text;
  // The sum is the last line of all of it.
  std::string all = timed.prediction.str();
  return text + all.substr(all.rfind('\n', all.size() - 2) + 1);
}

std::string asJson(const TimedLaunches &timed) {
  using Json = nlohmann::ordered_json;
  Json report = Json::parse(timed.prediction.json());
  for (size_t i = 0; i < timed.work.size(); ++i) {
    Json &launch = report["launches"][i];
    const std::optional<KnownWork> &work = timed.work[i];
    launch["flops"] = work ? Json(work->flops) : Json(nullptr);
    launch["distinct_bytes"] = work ? Json(work->bytes) : Json(nullptr);
  }
  return report.dump(2) + "\n";
}

} // namespace tile::tilec
