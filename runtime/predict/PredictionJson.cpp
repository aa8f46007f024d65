// Predictions for programs.
#include <tile/Prediction.h>

#include <nlohmann/json.hpp>

namespace tile {
namespace {

using Json = nlohmann::ordered_json;

Json of(const PredictedStall &stall) {
  return {
      {"file", stall.file}, {"line", stall.line}, {"reason", stall.reason}, {"share", stall.share}};
}

Json of(const PredictedLaunch &launch) {
  Json busy = Json::object(), stalls = Json::array();
  for (const PredictedShare &share : launch.busy)
    busy[share.name] = share.share;
  for (const PredictedStall &stall : launch.stalls)
    stalls.push_back(of(stall));
  bool hasInterval = launch.highUs > 0;
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"cluster", launch.cluster},
          {"dynamic_shared_bytes", launch.dynamicSharedBytes},
          {"us", launch.us},
          {"low_us", hasInterval ? Json(launch.lowUs) : Json(nullptr)},
          {"high_us", hasInterval ? Json(launch.highUs) : Json(nullptr)},
          {"cycles", launch.cycles},
          {"clock_ghz", launch.clockGhz},
          {"bound", launch.bound},
          {"busy", busy},
          {"stalls", stalls},
          {"blocks_per_multiprocessor", launch.blocksPerMultiprocessor},
          {"occupancy_limit", launch.occupancyLimit},
          {"registers", launch.registers},
          {"registers_are_estimated", launch.registersAreEstimated},
          {"barriers", launch.barriers},
          {"barriers_are_estimated", launch.barriersAreEstimated},
          {"is_calibrated", launch.isCalibrated},
          {"calibration", launch.calibration},
          {"calibration_version", launch.calibrationVersion},
          {"assumptions", launch.assumptions}};
}

} // namespace

std::string Prediction::json() const {
  Json all = Json::array();
  for (const PredictedLaunch &launch : launches)
    all.push_back(of(launch));
  Json report = {{"us", us()},
                 {"cycles", cycles()},
                 {"is_calibrated", isCalibrated()},
                 {"launches", std::move(all)}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace tile
