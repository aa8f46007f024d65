// The kernel that was launched last: what messages tell of a context that is lost, whose driver does not say which kernel it was.
#pragma once

#include "runtime/device/Device.h"

#include <array>

namespace tile::device {

/// Taking note of a launch allocates nothing once the strings are long enough.
class LastLaunch {
public:
  void note(std::shared_ptr<const std::string> kernel, const LaunchConfig &config,
            std::span<const Arg> args);
  /// Of a graph.
  void note(std::shared_ptr<const std::string> name);
  /// "scale at main.cpp:12, grid 4x1x1 of 128 threads, arguments 0x7f0000000000, 1000"; empty before the first launch.
  std::string describe() const;

private:
  /// Up to 8 bytes of an argument; what is larger is a tensor map.
  struct Word {
    uint64_t bits = 0;
    size_t size = 0;
  };
  static constexpr size_t kMostArguments = 16;

  std::shared_ptr<const std::string> kernel_;
  std::string file_;                 // a copy, since libraries of users may be gone by then
  const char *fileCopied_ = nullptr; // of which it is one
  int line_ = 0;
  Dim3 grid_;
  uint64_t threads_ = 0; // of a block; 0: of a graph
  size_t argumentCount_ = 0;
  std::array<Word, kMostArguments> arguments_;
};

} // namespace tile::device
