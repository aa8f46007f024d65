// What probes wrote on a GPU, in one file.
//
// The file is one frame of zstd (`zstd -dc FILE | head`). It holds lines of text: "device NAME", then for each
// array the probe's name, the bytes of an element and those of the array; an empty line; then the bytes of all
// arrays, in the order of the lines. The arrays of a probe are its outputs, then the inputs that it changes.
#pragma once

#include "tests/hardware/Probe.h"

#include <map>
#include <string>

namespace tile::hardware {

struct Recording {
  std::string device; // the name of the GPU
  std::map<std::string, Outputs> probes;

  /// Both throw std::runtime_error, which names the file and what is wrong.
  static Recording read(const std::string &path);
  void write(const std::string &path) const;
};

} // namespace tile::hardware
