// The walk over a graph from its last nodes to its first.
#pragma once

#include "ops/autograd/Node.h"

namespace tile::autograd::detail {

/// A gradient that is given where the walk begins.
struct Root {
  Edge edge;
  Tensor gradient;
};

/// What a walk is for.
struct Walk {
  std::span<const Root> roots;
  /// The gradients at these edges are handed out, and go on from there only to others of them.
  std::span<const Edge> targets;
  /// Leaves that are no targets get their gradients: Variable::grad() changes.
  bool fillsLeaves = true;
  bool retainGraph = false;
  /// Of a node of another walk, the segment of a checkpoint: leaves that it meets belong to that one.
  bool isSegment = false;
  Loc where;
};

/// Runs the nodes, each after all that contribute to it, in an order that depends on the graph alone. Returns the gradients
/// of the targets; no tensor for those that nothing contributes to. Nodes and hooks may walk other graphs meanwhile.
std::vector<Tensor> walk(const Walk &walk);

/// Whether gradients are looked at for NaN in this thread.
bool &findsAnomalies();

} // namespace tile::autograd::detail
