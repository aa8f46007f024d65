// What a handle of a prediction names; its texts live as long as it does.
#pragma once

#include <tile/Prediction.h>

#include <string>

namespace tile::capi {

struct KeptPrediction {
  Prediction prediction;
  std::string text, json;
};

} // namespace tile::capi
