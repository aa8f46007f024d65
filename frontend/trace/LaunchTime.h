// Numbers a launch can compute by itself: from extents of tensors, scalar arguments and constants.
// The grid of a kernel is made of them.
#pragma once

#include "frontend/trace/Graph.h"

#include <optional>

namespace tile::frontend {

/// One step of such a number.
struct LaunchTerm {
  enum Kind : uint8_t { Constant, Extent, Scalar, Add, Subtract, Multiply, Divide } kind;
  int64_t number = 0;                  ///< of a Constant; the argument of an Extent or Scalar
  int64_t dim = -1;                    ///< of an Extent
  NodeId lhs = kNoNode, rhs = kNoNode; ///< of arithmetic
};

/// The operation by which a launch computes a node's value from other nodes; nothing if it cannot.
std::optional<LaunchTerm> launchTerm(const Graph &graph, NodeId id);

/// Can a launch compute the node's value?
bool isLaunchTime(const Graph &graph, NodeId id);

} // namespace tile::frontend
