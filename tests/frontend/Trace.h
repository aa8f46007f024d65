// Tracing in tests: one specialisation of a kernel, its IR as text, and the first line of its
// error. No MLIR here.
#pragma once

#include "frontend/trace/Binding.h"

#include <tile/Control.h>
#include <tile/Debug.h>
#include <tile/Facts.h>
#include <tile/Foreign.h>
#include <tile/Grid.h>
#include <tile/Hints.h>
#include <tile/Kernel.h>
#include <tile/Ops.h>
#include <tile/TileIr.h>

#include <string>
#include <vector>

namespace tile::test {

/// What tracing a kernel gave.
struct Traced {
  std::string ir, irWithLocations;
  frontend::ArgumentUses uses;
};
Traced trace(const detail::KernelRecord &record, const frontend::Binding &binding);

/// The IR of a kernel with these constants, without locations.
template <class K> std::string irOf(const K &kernel, const std::vector<int64_t> &consts = {}) {
  return trace(kernel.record(), frontend::bindingFor(kernel.record(), consts)).ir;
}

/// How often a piece of text occurs.
int count(const std::string &text, const std::string &piece);

} // namespace tile::test
