#include <tile/autograd/Checkpoint.h>
#include <tile/detail/autograd/Checkpoint.h>

#include "ops/autograd/Engine.h"

#include <algorithm>
#include <cmath>

namespace tile::autograd {
namespace detail {
namespace {

/// The counters that were moved while it lives, with what they were before.
class Positions {
public:
  Positions() : outer_(current_) { current_ = this; }
  ~Positions() { current_ = outer_; }
  Positions(const Positions &) = delete;
  Positions &operator=(const Positions &) = delete;

  struct Entry {
    uint64_t *counter;
    uint64_t before;
  };
  const std::vector<Entry> &entries() const { return entries_; }

  static void note(uint64_t &counter) {
    for (Positions *each = current_; each; each = each->outer_)
      if (std::ranges::find(each->entries_, &counter, &Entry::counter) == each->entries_.end())
        each->entries_.push_back({&counter, counter});
  }

private:
  static thread_local Positions *current_;
  Positions *outer_;
  std::vector<Entry> entries_;
};
thread_local Positions *Positions::current_ = nullptr;

/// Sets counters for as long as it lives.
class Rewound {
public:
  explicit Rewound(const std::vector<Positions::Entry> &entries) : now_(entries) {
    for (auto &[counter, value] : now_)
      std::swap(*counter, value);
  }
  ~Rewound() {
    for (auto &[counter, value] : now_)
      *counter = value;
  }
  Rewound(const Rewound &) = delete;
  Rewound &operator=(const Rewound &) = delete;

private:
  std::vector<Positions::Entry> now_;
};

class CheckpointNode final : public Node {
public:
  CheckpointNode(Segment segment, std::span<const Variable> variables, Loc where)
      : Node("checkpoint", where, variables[0].stream(), nextSequence()),
        segment_(std::move(segment)) {
    for (const Variable &variable : variables) {
      inputs.push_back(edgeOf(variable.shared()));
      kept_.push_back({variable.value(), variable.value().version()});
    }
    hooks.resize(1);
  }

  Variable forward() {
    NoGrad quiet;
    Positions positions;
    Variable y = segment_(asInputs([](size_t) { return kInput; }));
    if (!y)
      throw Error(Fault::User, ErrorCode::InvalidHandle,
                  "checkpoint: its segment returned no variable", where);
    positions_ = positions.entries();
    outputs = {Metadata::of(y.value())};
    return y;
  }

  std::vector<Tensor> run(std::vector<Tensor> gradients, std::vector<bool> needs) override {
    checkVersions();
    std::vector<Variable> leaves = asInputs([&](size_t i) { return needs[i] ? kTrained : kInput; });
    Variable y = again(leaves);
    std::vector<Edge> targets;
    for (size_t i = 0; i < leaves.size(); ++i)
      if (needs[i])
        targets.push_back(edgeOf(leaves[i].shared()));
    std::vector<Tensor> results(inputs.size());
    Root root{edgeOf(y.shared()), std::move(gradients[0])};
    if (!root.edge.node)
      return results;
    std::vector<Tensor> found =
        walk({.roots = {&root, 1}, .targets = targets, .isSegment = true, .where = where});
    for (size_t i = 0, next = 0; i < leaves.size(); ++i)
      if (needs[i])
        results[i] = std::move(found[next++]);
    return results;
  }
  void release() override {
    kept_.clear();
    segment_ = nullptr;
  }
  bool isReleased() const override { return !segment_; }
  bool hasHiddenLeaves() const override { return true; }

private:
  struct Kept {
    Tensor tensor;
    uint64_t version;
  };

  template <class RoleOf> std::vector<Variable> asInputs(RoleOf roleOf) const {
    std::vector<Variable> variables;
    for (size_t i = 0; i < kept_.size(); ++i)
      variables.emplace_back(stream, kept_[i].tensor, roleOf(i), where);
    return variables;
  }
  Variable again(std::span<const Variable> leaves) {
    WithGrad loud;
    Rewound rewound(positions_);
    Variable y = segment_(leaves);
    if (!y || !outputs[0].fits(y.value()))
      throw Error(Fault::User, ErrorCode::InvalidShape,
                  "checkpoint: its segment returned " + outputs[0].str() + " at first and " +
                      (y ? textOf(y.value()) : "no variable") +
                      " when run again; it must do the same",
                  where);
    return y;
  }
  void checkVersions() const {
    for (size_t i = 0; i < kept_.size(); ++i)
      if (kept_[i].tensor.version() != kept_[i].version)
        throw Error(Fault::User, ErrorCode::Aliasing,
                    "checkpoint: input " + std::to_string(i) + ", " + textOf(kept_[i].tensor) +
                        ", was changed in place since; change a copy of it",
                    where);
  }

  Segment segment_;
  std::vector<Kept> kept_;
  std::vector<Positions::Entry> positions_;
};

} // namespace

void beforeMove(uint64_t &counter) { Positions::note(counter); }

} // namespace detail

Variable checkpoint(Segment f, std::vector<Variable> inputs, Loc loc) {
  bool complete =
      !inputs.empty() && std::ranges::all_of(inputs, [](const Variable &v) { return bool(v); });
  if (!complete)
    throw Error(Fault::User, ErrorCode::InvalidHandle,
                "checkpoint: each input must be a variable, and there must be one", loc);
  if (!f)
    throw Error(Fault::User, ErrorCode::InvalidArgument, "checkpoint: there is no function to run",
                loc);
  if (!isRecording())
    return f(inputs);
  auto node = std::make_shared<detail::CheckpointNode>(std::move(f), inputs, loc);
  Variable inner = node->forward();
  Variable y(inner.stream(), inner.value(), kInput, loc);
  y.shared()->from = {node, 0};
  return y;
}

Variable checkpointSequential(std::span<const std::function<Variable(const Variable &)>> layers,
                              const Variable &x, int segments, Loc loc) {
  if (segments < 0)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "checkpointSequential: " + std::to_string(segments) + " segments; give 1 or more",
                loc);
  size_t count = layers.size();
  size_t groups = segments
                      ? static_cast<size_t>(segments)
                      : static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(count))));
  groups = std::clamp<size_t>(groups, 1, std::max<size_t>(count, 1));
  Variable y = x;
  for (size_t group = 0; group < groups && count; ++group) {
    size_t begin = count * group / groups, end = count * (group + 1) / groups;
    std::vector<std::function<Variable(const Variable &)>> own(
        layers.begin() + static_cast<ptrdiff_t>(begin),
        layers.begin() + static_cast<ptrdiff_t>(end));
    y = checkpoint(
        [own](std::span<const Variable> in) {
          Variable result = in[0];
          for (const auto &layer : own)
            result = layer(result);
          return result;
        },
        {y}, loc);
  }
  return y;
}

} // namespace tile::autograd
