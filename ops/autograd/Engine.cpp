#include "ops/autograd/Engine.h"

#include "ops/autograd/Anomaly.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace tile::autograd::detail {
namespace {

std::string placeOf(const Node &node) {
  std::string text = "'" + std::string(node.op) + "'";
  if (node.where.line)
    text += " of " + std::string(node.where.file) + ":" + std::to_string(node.where.line);
  return text;
}

/// One walk while it runs.
class Engine {
public:
  explicit Engine(const Walk &walk)
      : walk_(walk), before_(current_), outer_(walk.isSegment ? current_ : nullptr),
        results_(walk.targets.size()) {
    current_ = this;
  }
  ~Engine() { current_ = before_; }
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  std::vector<Tensor> run() {
    discover();
    markWanted();
    for (const Root &root : walk_.roots)
      if (root.edge.node)
        receive(root.edge, root.gradient);
    for (Node *node : order_)
      if (visits_.at(node).contributors == 0)
        ready_.push(node);
    while (!ready_.empty()) {
      Node *node = ready_.top();
      ready_.pop();
      visit(*node);
    }
    return std::move(results_);
  }

private:
  struct Visit {
    int contributors = 0; // edges to it from nodes that have not run
    bool isWanted = false, isDone = false;
    std::vector<GradientSum> gradients;
  };
  struct Later {
    bool operator()(const Node *a, const Node *b) const { return a->sequence < b->sequence; }
  };

  /// Finds all nodes and counts who contributes to each.
  void discover() {
    std::vector<Node *> pending;
    auto meet = [&](const Edge &edge) {
      if (!edge.node)
        return;
      auto [place, isNew] = visits_.try_emplace(edge.node.get());
      if (!isNew)
        return;
      place->second.gradients.resize(edge.node->outputs.size());
      order_.push_back(edge.node.get());
      pending.push_back(edge.node.get());
    };
    for (const Root &root : walk_.roots)
      meet(root.edge);
    while (!pending.empty()) {
      Node *node = pending.back();
      pending.pop_back();
      for (const Edge &edge : node->inputs) {
        meet(edge);
        if (edge.node)
          ++visits_.at(edge.node.get()).contributors;
      }
    }
    // Inputs first; leaves are inputs of all.
    std::ranges::sort(order_, {}, [](const Node *node) { return node->sequence + 1; });
  }

  bool isTarget(const Node &node) const {
    return std::ranges::any_of(walk_.targets,
                               [&](const Edge &edge) { return edge.node.get() == &node; });
  }

  /// Which nodes lead to what is asked for.
  void markWanted() {
    for (Node *node : order_) {
      bool isLeaf = node->sequence == Node::kLeafSequence;
      bool leads = std::ranges::any_of(node->inputs, [&](const Edge &edge) { return wants(edge); });
      visits_.at(node).isWanted =
          leads || isTarget(*node) || (isLeaf && walk_.fillsLeaves) || node->hasHiddenLeaves();
    }
  }
  bool wants(const Edge &edge) const { return edge.node && visits_.at(edge.node.get()).isWanted; }

  void receive(const Edge &edge, const Tensor &gradient) {
    visits_.at(edge.node.get())
        .gradients[static_cast<size_t>(edge.slot)]
        .add(edge.node->stream, gradient);
  }

  /// The node's gradients are complete.
  void visit(Node &node) {
    std::vector<Tensor> gradients = complete(node);
    visits_.at(&node).isDone = true;
    std::vector<Tensor> results;
    bool hasGradient = std::ranges::any_of(gradients, [](const Tensor &t) { return bool(t); });
    if (hasGradient && visits_.at(&node).isWanted)
      results = node.sequence == Node::kLeafSequence ? deliver(node, std::move(gradients))
                                                     : derive(node, std::move(gradients));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Edge &edge = node.inputs[i];
      if (!edge.node)
        continue;
      if (i < results.size() && results[i])
        receive(edge, results[i]);
      if (--visits_.at(edge.node.get()).contributors == 0)
        ready_.push(edge.node.get());
    }
  }

  /// Hooks have their say, targets take their gradients.
  std::vector<Tensor> complete(Node &node) {
    std::vector<GradientSum> &sums = visits_.at(&node).gradients;
    std::vector<Tensor> gradients(sums.size());
    for (size_t slot = 0; slot < sums.size(); ++slot) {
      gradients[slot] = sums[slot].take();
      if (!gradients[slot])
        continue;
      for (const GradientHook &hook : node.hooksOf(slot))
        if (Tensor replaced = hook(gradients[slot])) {
          check(replaced, node.outputs[slot],
                [&] { return "the hook of an output of " + placeOf(node) + " returned"; });
          gradients[slot] = std::move(replaced);
        }
      for (size_t i = 0; i < walk_.targets.size(); ++i)
        if (walk_.targets[i].node.get() == &node && walk_.targets[i].slot == static_cast<int>(slot))
          results_[i] = gradients[slot];
    }
    return gradients;
  }

  /// A leaf's gradient goes to the walk that asks for it, the segment before what it is part of; else into the leaf.
  std::vector<Tensor> deliver(Node &leaf, std::vector<Tensor> gradients) {
    for (Engine *engine = this; engine; engine = engine->outer_) {
      for (size_t i = 0; i < engine->walk_.targets.size(); ++i)
        if (engine->walk_.targets[i].node.get() == &leaf) {
          if (engine != this)
            engine->addResult(i, leaf, gradients[0]);
          return {};
        }
      if (!engine->walk_.fillsLeaves)
        return {};
    }
    return leaf.run(std::move(gradients), {});
  }
  /// From a walk inside this one; the leaf may be met here as well.
  void addResult(size_t target, Node &leaf, const Tensor &gradient) {
    auto met = visits_.find(&leaf);
    if (met != visits_.end() && !met->second.isDone)
      met->second.gradients[0].add(leaf.stream, gradient);
    else if (results_[target])
      results_[target] = sumOf(leaf.stream, results_[target], gradient);
    else
      results_[target] = gradient;
  }
  static Tensor sumOf(const Stream &stream, const Tensor &a, const Tensor &b) {
    GradientSum sum;
    sum.add(stream, a);
    sum.add(stream, b);
    return sum.take();
  }

  std::vector<Tensor> derive(Node &node, std::vector<Tensor> gradients) {
    if (node.isReleased())
      throw Error(Fault::User, ErrorCode::UseAfterFree,
                  "backward() has been run already through " + placeOf(node) +
                      ", and what it had saved is gone: give the first run {.retainGraph = true}",
                  walk_.where);
    std::vector<bool> needs;
    for (const Edge &edge : node.inputs)
      needs.push_back(wants(edge));
    std::vector<Tensor> results = node.run(std::move(gradients), needs);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!wants(node.inputs[i]))
        results[i] = Tensor();
      if (!results[i])
        continue;
      check(results[i], node.inputs[i].node->outputs[static_cast<size_t>(node.inputs[i].slot)],
            [&] {
              return "backward of " + placeOf(node) + " returned, for input " + std::to_string(i) +
                     ",";
            });
      if (findsAnomalies() && hasNan(results[i]))
        throw Error(Fault::User, ErrorCode::InvalidArgument,
                    "the gradient that backward of " + placeOf(node) + " computes for input " +
                        std::to_string(i) + ", " + textOf(results[i]) + ", has a NaN",
                    walk_.where);
    }
    if (!walk_.retainGraph)
      node.release();
    return results;
  }

  /// `who` makes a text, for gradients that do not fit alone.
  template <class Who> void check(const Tensor &gradient, const Metadata &expected, Who who) const {
    if (!expected.fits(gradient))
      throw Error(Fault::User, ErrorCode::InvalidShape,
                  who() + " a gradient " + textOf(gradient) + ", but the tensor it belongs to is " +
                      expected.str(),
                  walk_.where);
  }

  static thread_local Engine *current_;

  const Walk &walk_;
  Engine *before_; // of this thread
  Engine *outer_;  // the walk that a segment is part of
  std::unordered_map<Node *, Visit> visits_;
  std::vector<Node *> order_; // inputs first
  std::priority_queue<Node *, std::vector<Node *>, Later> ready_;
  std::vector<Tensor> results_;
};

thread_local Engine *Engine::current_ = nullptr;

} // namespace

std::vector<Tensor> walk(const Walk &walk) { return Engine(walk).run(); }

bool &findsAnomalies() {
  thread_local bool finds = false;
  return finds;
}

} // namespace tile::autograd::detail
