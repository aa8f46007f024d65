// Where the virtual GPU may be exact, inexact or unkind, because PTX leaves it open. A correct kernel gives acceptable
// results with any of these.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tile::vgpu {

struct Model {
  /// Tensor cores sum as those of the device's architecture were found to do (TensorSum.h), instead of by chains of f32
  /// fused multiply-adds.
  bool sums = false;
  /// Approximate functions are off by a random error inside their documented bound (Noise.h).
  bool noise = false;
  /// Dynamic shared memory is aligned as its declaration asks, and no better.
  bool shift = false;

  bool operator==(const Model &) const = default;
};

/// Parses "all", "none" or a comma list of sums, noise, shift. Throws InvalidArgument for other words.
Model parseModel(std::string_view list);
/// The words of what is on.
std::vector<std::string> wordsOf(const Model &model);

} // namespace tile::vgpu
