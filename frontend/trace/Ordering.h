// OrderTrace: one order of operations for every host compiler.
//
// C++ leaves the evaluation order of operands open, and g++ and clang differ, so the order in which
// nodes were recorded says nothing. What is reliable is the order of statements, and so of side
// effects. This re-emits pure operations and reads from each side effect, depth first in operand
// order, at the last moment at which they are needed; a read that an upcoming write may alias is
// placed before that write.
#pragma once

#include "frontend/trace/Graph.h"

#include <vector>

namespace tile::frontend {

/// Orders the nodes of each scope for emission: element s of the result lists those of scope s.
/// Nodes that nothing needs are left out.
std::vector<std::vector<NodeId>> orderTrace(const Graph &graph);

} // namespace tile::frontend
