// How launches are to be predicted (VirtualDevice::predict).
#pragma once

#include <tile/Prediction.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tile::vgpu {

struct AssemblerFigures;

struct PredictionRequest {
  std::optional<double> clockGhz = {}; ///< in place of the one that the load leaves
  bool isDirty = true;                 ///< L2 is full of written lines at the start
  /// NAME=VALUE: other numbers of the calibration.
  std::vector<std::pair<std::string, double>> settings = {};
  /// Asks an assembler about PTX of one kernel for a target; null: figures are estimated.
  std::function<AssemblerFigures(std::string_view ptx, const std::string &target)> assembler = {};
};

} // namespace tile::vgpu
