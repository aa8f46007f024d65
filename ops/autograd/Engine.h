// The walk over a graph from its last nodes to its first.
#pragma once

#include "ops/autograd/Node.h"

namespace tile::autograd::detail {

/// A gradient that is given where the walk begins.
struct Root {
  Edge edge;
  Tensor gradient;
};

/// The arguments of a walk: where it begins, whose gradients it returns, and what it leaves behind.
struct Walk {
  std::span<const Root> roots;
  /// The gradients at these edges are handed out, and go on from there only to others of them.
  std::span<const Edge> targets;
  /// Leaves that are no targets get their gradients: Variable::grad() changes.
  bool fillsLeaves = true;
  bool retainGraph = false;
  /// The walk runs inside a node of another walk, for the segment of a checkpoint: leaves that it meets belong to the outer walk.
  bool isSegment = false;
  Loc where;
};

/// Runs the nodes, each after all that contribute to it, in an order that depends on the graph alone. Returns the gradients
/// of the targets; no tensor for those that nothing contributes to. Nodes and hooks may walk other graphs meanwhile.
std::vector<Tensor> walk(const Walk &walk);

/// This thread's switch: if true, gradients are searched for NaN.
bool &findsAnomalies();

} // namespace tile::autograd::detail
