// Predictions: launches whose time is asked for.
#include "capi/Handles.h"
#include "capi/Sized.h"
#include "capi/compiler/KeptPrediction.h"

#include <tile/Predict.h>
#include <tile/c/Predict.h>

#include <string_view>

using namespace tile;
using namespace tile::capi;

namespace {

struct NumberOfPrediction {
  const char *name;
  double (*of)(const Prediction &);
};
constexpr NumberOfPrediction kNumbers[] = {
    {"us", [](const Prediction &p) { return p.us(); }},
    {"low_us", [](const Prediction &p) { return p.lowUs(); }},
    {"high_us", [](const Prediction &p) { return p.highUs(); }},
    {"cycles", [](const Prediction &p) { return p.cycles(); }},
    {"launches", [](const Prediction &p) { return static_cast<double>(p.launches.size()); }},
    {"is_calibrated", [](const Prediction &p) { return p.isCalibrated() ? 1.0 : 0.0; }},
};

constexpr uint32_t kKnownFlags = TILE_PREDICT_CLEAN | TILE_PREDICT_ESTIMATE;

PredictOptions optionsOf(const tile_predict_options &given) {
  if (given.flags & ~kKnownFlags)
    refuse(ErrorCode::InvalidArgument,
           "options.flags has bits that are none of tile_predict_flags: " +
               std::to_string(given.flags & ~kKnownFlags));
  PredictOptions options;
  if (given.clock_ghz != 0)
    options.clockGhz = given.clock_ghz;
  options.isDirty = !(given.flags & TILE_PREDICT_CLEAN);
  options.assembles = !(given.flags & TILE_PREDICT_ESTIMATE);
  return options;
}

} // namespace

tile_status tile_predict(tile_device *device, tile_status (*work)(void *), void *context,
                         const tile_predict_options *options, tile_prediction **prediction) {
  return guarded([&] {
    auto object = at(device, "device");
    required(work, "work");
    required(prediction, "prediction");
    auto run = [&] {
      if (tile_status status = work(context); status != TILE_OK)
        throw CallbackFailed{status};
    };
    Prediction found = predict(*object, run, optionsOf(readSized(options, "options")), here());
    std::string text = found.str(), json = found.json();
    *prediction =
        give<tile_prediction>(KeptPrediction{std::move(found), std::move(text), std::move(json)});
  });
}

tile_status tile_prediction_number(tile_prediction *prediction, const char *name, double *number) {
  return guarded([&] {
    auto object = at(prediction, "prediction");
    std::string_view wanted = required(name, "name");
    required(number, "number");
    std::string known;
    for (const NumberOfPrediction &each : kNumbers) {
      if (each.name == wanted)
        return void(*number = each.of(object->prediction));
      known += (known.empty() ? "" : ", ") + std::string(each.name);
    }
    refuse(ErrorCode::InvalidArgument,
           "'" + std::string(wanted) + "' is no number of a prediction: there are " + known);
  });
}

tile_status tile_prediction_text(tile_prediction *prediction, const char *form, const char **text) {
  return guarded([&] {
    auto object = at(prediction, "prediction");
    std::string_view wanted = required(form, "form");
    required(text, "text");
    if (wanted != "text" && wanted != "json")
      refuse(ErrorCode::InvalidArgument,
             "'" + std::string(wanted) + "' is no form of a prediction: there are text, json");
    *text = (wanted == "json" ? object->json : object->text).c_str();
  });
}

tile_status tile_prediction_release(tile_prediction *prediction) {
  return guarded([&] { release(prediction); });
}
