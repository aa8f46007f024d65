// Where in the PTX, and in the source it was made from, something happened.
#pragma once

#include <string>
#include <vector>

namespace tile::vgpu {

/// A line of the user's source.
struct SourceLocation {
  std::string file;
  int line = 0;
  bool operator==(const SourceLocation &) const = default;
};

/// A line of PTX and of the source it was made from.
struct CodeLocation {
  std::string ptxFile, ptxText;
  int ptxLine = 0;
  std::string sourceFile; // from .loc, empty without debug lines
  int sourceLine = 0;
  std::vector<SourceLocation>
      inlinedAt; // where the function around that line was inlined, innermost first
};

} // namespace tile::vgpu
