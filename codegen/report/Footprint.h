// How many bytes of its arguments a launch touches, each counted once: what an ideal cache would have to bring.
#pragma once

#include "codegen/report/LaunchFacts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

namespace tile::codegen {

class Footprint {
public:
  /// Bytes of an argument (-1: of none that is known), of a tile that `tile` stands for; nothing if its place is not known.
  void add(int32_t argument, std::optional<uint64_t> tile, double bytes) {
    Touched &touched = arguments_[argument];
    if (!tile || touched.tiles.insert(*tile).second)
      touched.bytes += bytes;
  }

  /// Tiles that overlap count twice, but no tensor more than whole. `scale`: each stands for so many.
  double bytes(const LaunchFacts &launch, double scale) const {
    double sum = 0;
    for (auto &[argument, touched] : arguments_) {
      bool isTensor = argument >= 0 && static_cast<size_t>(argument) < launch.arguments.size() &&
                      !launch.arguments[argument].value;
      double all = touched.bytes * scale;
      sum += isTensor ? std::min(all, static_cast<double>(launch.arguments[argument].bytes)) : all;
    }
    return sum;
  }

private:
  struct Touched {
    std::unordered_set<uint64_t> tiles;
    double bytes = 0;
  };
  std::map<int32_t, Touched> arguments_;
};

} // namespace tile::codegen
