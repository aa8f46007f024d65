// The functions and variables that a PTX text declares for all of it.
#pragma once

#include <string>
#include <vector>

namespace tile::jit {

struct PtxSymbol {
  std::string name;
  bool isFunction = false;
  bool isDefined = false; ///< here: a function with a body, a variable that is not `.extern`
  bool isShared = false;  ///< a variable in shared memory
};

/// In the order of the text, once a declaration. Expects text that a compiler wrote.
std::vector<PtxSymbol> symbolsOf(const std::string &ptx);

} // namespace tile::jit
