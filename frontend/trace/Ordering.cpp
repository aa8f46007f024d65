// The walk runs twice: the first gives every live read its rank in the canonical order, the second
// places reads that a write would overtake, by rank. Recording order enters only as "was this read
// recorded before that write", which statement order decides.
#include "frontend/trace/Ordering.h"

#include <algorithm>
#include <set>

using namespace tile::frontend;

namespace {

class Walk {
public:
  explicit Walk(const Graph &graph)
      : graph_(graph), done_(graph.nodes.size()), rank_(graph.nodes.size()),
        order_(graph.scopes.size()) {}

  void run() {
    scope(0);
    for (const Function &function : graph_.functions)
      scope(function.scope);
  }
  /// Lets this walk place the live reads of an earlier one before writes that may alias them.
  void placeReadsOf(const Walk &earlier) {
    pending_.insert(earlier.reads_.begin(), earlier.reads_.end());
    rank_ = earlier.rank_;
  }
  std::vector<std::vector<NodeId>> order() && { return std::move(order_); }

private:
  struct Frame {
    NodeId id;
    size_t nextOperand = 0;
  };

  void scope(ScopeId id) {
    for (NodeId effect : graph_.scopes[id].effects)
      demand(effect);
    for (NodeId yield : graph_.scopes[id].yields)
      demand(yield);
  }

  /// Depth first with a stack of its own: an unrolled chain is deeper than the machine's stack.
  void demand(NodeId id) {
    std::vector<Frame> stack;
    visit(id, stack);
    while (!stack.empty()) {
      Frame &top = stack.back();
      const Node &node = graph_.nodes[top.id];
      if (top.nextOperand < node.operands.size()) {
        visit(node.operands[top.nextOperand++], stack);
        continue;
      }
      finish(top.id);
      stack.pop_back();
    }
  }

  void visit(NodeId id, std::vector<Frame> &stack) {
    id = graph_.resolve(id);
    while (graph_.nodes[id].kind == Node::Result)
      id = graph_.resolve(graph_.nodes[id].operands[0]);
    Node::Kind kind = graph_.nodes[id].kind;
    if (done_[id] || kind == Node::FuncArg || kind == Node::BlockArg)
      return;
    done_[id] = true;
    stack.push_back({id});
  }

  /// After a node's operands: its regions, the reads it would overtake, and the node itself.
  void finish(NodeId id) {
    const Node &node = graph_.nodes[id];
    for (ScopeId region : node.regions)
      scope(region);
    if (node.effect == Effect::Write)
      placeReadsBefore(id);
    if (node.effect == Effect::Read) {
      rank_[id] = reads_.size();
      reads_.push_back(id);
      pending_.erase(id);
    }
    order_[node.scope].push_back(id);
  }

  void placeReadsBefore(NodeId write) {
    std::vector<NodeId> overtaken;
    for (auto read = pending_.begin(); read != pending_.end() && *read < write; ++read)
      if (graph_.mayAlias(graph_.nodes[*read].root, graph_.nodes[write].root))
        overtaken.push_back(*read);
    std::sort(overtaken.begin(), overtaken.end(),
              [&](NodeId a, NodeId b) { return rank_[a] < rank_[b]; });
    for (NodeId read : overtaken)
      demand(read);
  }

  const Graph &graph_;
  std::vector<bool> done_;
  std::vector<size_t> rank_;  ///< of a read: its place in the canonical order
  std::vector<NodeId> reads_; ///< live ones, by rank
  std::set<NodeId> pending_;  ///< reads still to be placed, as recorded
  std::vector<std::vector<NodeId>> order_;
};

} // namespace

std::vector<std::vector<NodeId>> tile::frontend::orderTrace(const Graph &graph) {
  Walk ranking(graph);
  ranking.run();
  Walk placing(graph);
  placing.placeReadsOf(ranking);
  placing.run();
  return std::move(placing).order();
}
