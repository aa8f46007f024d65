// Whether a probe writes what it wrote on hardware, and which probes are known not to.
#pragma once

#include "tests/hardware/Probe.h"

#include <set>
#include <string>
#include <vector>

namespace tile::hardware {

struct Comparison {
  size_t values = 0;
  size_t different = 0;
  std::string first = ""; // the first difference, with the operands of its place
  size_t approximate = 0; // values that differ, but by no more than their function may
};

/// `exact`: also of approximate functions.
Comparison compare(const Probe &probe, const Outputs &found, const Outputs &recorded,
                   bool exact = false);

/// Probes that are known to differ, in groups that have a reason: the lines of the file that begin with #. A
/// first group without probes says what the file is.
struct Differences {
  struct Group {
    std::string comment; // its lines
    std::vector<std::string> probes;
  };
  std::vector<Group> groups;

  /// Throws std::runtime_error where a probe is there twice or has no reason.
  static Differences read(const std::string &path);
  void write(const std::string &path) const;
  /// Null for a probe that is not listed.
  const std::string *reasonOf(const std::string &probe) const;
  /// Takes probes away, and groups that become empty.
  void remove(const std::set<std::string> &probes);
};

} // namespace tile::hardware
