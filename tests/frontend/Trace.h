// Tracing in tests: one specialisation of a kernel, its IR as text, and the first line of its
// error.
#pragma once

#include "frontend/Kernel.h"

#include <tile/Control.h>
#include <tile/Debug.h>
#include <tile/Facts.h>
#include <tile/Foreign.h>
#include <tile/Grid.h>
#include <tile/Hints.h>
#include <tile/Kernel.h>
#include <tile/Ops.h>

#include <llvm/Support/raw_ostream.h>

#include <string>
#include <vector>

namespace tile::test {

/// The IR of a kernel with these constants, without locations.
template <class K> std::string irOf(const K &kernel, const std::vector<int64_t> &consts = {}) {
  frontend::TracedKernel traced =
      frontend::trace(kernel.record(), frontend::bindingFor(kernel.record(), consts));
  std::string text;
  llvm::raw_string_ostream stream(text);
  traced.module->print(stream);
  return text;
}

/// How often a piece of text occurs.
inline int count(const std::string &text, const std::string &piece) {
  int found = 0;
  for (size_t at = text.find(piece); at != std::string::npos;
       at = text.find(piece, at + piece.size()))
    ++found;
  return found;
}

} // namespace tile::test
