// The walk runs twice: the first gives every live read its rank in the canonical order, the second places reads that a write
// would overtake, by rank. Recording order enters only as "was this read recorded before that write", which statement order
// decides.
#include "frontend/Ordering.h"

using namespace tile::frontend;

namespace {

class Walk {
public:
  Walk(const Graph &graph, const std::vector<NodeId> *rankedReads)
      : graph_(graph), rankedReads_(rankedReads), done_(graph.nodes.size()), order_(graph.scopes.size()) {}

  void run() { scope(0); }
  std::vector<NodeId> reads() && { return std::move(reads_); }
  std::vector<std::vector<NodeId>> order() && { return std::move(order_); }

private:
  void scope(ScopeId id) {
    for (NodeId effect : graph_.scopes[id].effects)
      demand(effect);
    for (NodeId yield : graph_.scopes[id].yields)
      demand(yield);
  }

  void demand(NodeId id) {
    id = graph_.resolve(id);
    const Node &node = graph_.nodes[id];
    if (node.kind == Node::Result)
      return demand(node.operands[0]);
    if (done_[id] || node.kind == Node::FuncArg || node.kind == Node::BlockArg)
      return;
    done_[id] = true;
    for (NodeId operand : node.operands)
      demand(operand);
    for (ScopeId region : node.regions)
      scope(region);
    if (node.effect == Effect::Write)
      placeReadsBefore(id);
    if (node.effect == Effect::Read)
      reads_.push_back(id);
    order_[node.scope].push_back(id);
  }

  void placeReadsBefore(NodeId write) {
    if (!rankedReads_)
      return;
    for (NodeId read : *rankedReads_)
      if (read < write && !done_[read] && mayAlias(graph_.nodes[read], graph_.nodes[write]))
        demand(read);
  }

  /// Different arguments do not overlap; an address of unknown origin may be anywhere.
  static bool mayAlias(const Node &a, const Node &b) { return a.root == b.root || a.root < 0 || b.root < 0; }

  const Graph &graph_;
  const std::vector<NodeId> *rankedReads_;
  std::vector<bool> done_;
  std::vector<NodeId> reads_;
  std::vector<std::vector<NodeId>> order_;
};

} // namespace

std::vector<std::vector<NodeId>> tile::frontend::orderTrace(const Graph &graph) {
  Walk ranking(graph, nullptr);
  ranking.run();
  std::vector<NodeId> reads = std::move(ranking).reads();
  Walk placing(graph, &reads);
  placing.run();
  return std::move(placing).order();
}
