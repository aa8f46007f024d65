// What a report is told of the launch it is about: with it loops and branches are followed as the programs would
// take them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tile::codegen {

struct LaunchFacts {
  /// An argument of the source kernel.
  struct Argument {
    std::vector<int64_t> extents, strides; ///< of a tensor, in elements
    int64_t bytes = 0;                     ///< that a tensor's elements take, each once
    std::optional<int64_t> value;          ///< of an integer
  };
  std::vector<Argument> arguments;
  /// Programs along each axis, where the kernel does not say how many it has.
  std::optional<std::array<int64_t, 3>> grid;
  int64_t multiprocessors =
      1; ///< of the card: a persistent kernel has as many programs as run at once
};

} // namespace tile::codegen
