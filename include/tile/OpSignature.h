// What ops by name call their tensors, and their settings in words: for help texts, signatures and
// calls by name in other languages. A library that registers an op may describe it too:
//
//   const bool described = describeOp("scale", {.inputs = {"x"},
//                                               .outputs = {"y"},
//                                               .settings = {{"by", "the factor"}}});
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tile {

struct OpSignature {
  /// The names of its tensors, in order. If it takes more, the last name is that of all the others.
  std::vector<std::string> inputs = {};
  /// The names of its outputs; settings may leave out the last.
  std::vector<std::string> outputs = {};
  /// What each of OpEntry::settings means, in a few words.
  std::map<std::string, std::string> settings = {};
};

/// Describes the op of a name; the last description counts. Returns true, for static initialisers.
bool describeOp(const std::string &op, OpSignature signature);
/// What was said of an op, or null.
const OpSignature *findSignature(const std::string &op);

} // namespace tile
