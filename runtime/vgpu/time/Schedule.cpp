#include "runtime/vgpu/time/Schedule.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tile::vgpu {
namespace {

bool mayMove(const TimedOp &op) {
  switch (op.form.kind) {
  case TimeKind::Compute:
  case TimeKind::Shuffle:
  case TimeKind::Mma:
    return op.form.cost != Cost::Issue || op.form.kind == TimeKind::Mma;
  default:
    return false;
  }
}

/// One instruction of a run: its operations stay together.
struct Node {
  size_t begin = 0, end = 0;                    // operations
  std::vector<std::pair<size_t, double>> after; // nodes that wait for it, and for how long
  size_t waitsFor = 0;
  double path = 0; // to the end of the run
  double earliest = 0;
};

// Instructions from `begin` to `end`, none of which has to keep its place.
class Run {
public:
  Run(TimedProgram &program, size_t begin, size_t end) : program_(program), begin_(begin) {
    for (size_t i = begin; i < end;) {
      size_t next = i + 1;
      while (next < end && program.ops[next].belongsToLast)
        ++next;
      nodes_.push_back({i, next, {}, 0, 0, 0});
      i = next;
    }
  }

  void schedule() {
    constexpr size_t kFewest = 3, kMost = 3000;
    if (nodes_.size() < kFewest || nodes_.size() > kMost)
      return;
    findDependences();
    findPaths();
    apply(order());
  }

private:
  const TimedOp &op(size_t node) const { return program_.ops[nodes_[node].begin]; }

  void connect(size_t from, size_t to, double latency) {
    nodes_[from].after.push_back({to, latency});
    ++nodes_[to].waitsFor;
  }

  void findDependences() {
    std::unordered_map<uint32_t, size_t> writer;
    std::unordered_map<uint32_t, std::vector<size_t>> readers;
    for (size_t node = 0; node < nodes_.size(); ++node) {
      for (uint32_t row : program_.readsOf(op(node))) {
        if (auto found = writer.find(row); found != writer.end())
          connect(found->second, node, op(found->second).latency);
        readers[row].push_back(node);
      }
      for (uint32_t row : program_.writesOf(op(node))) {
        if (auto found = writer.find(row); found != writer.end())
          connect(found->second, node, 0);
        for (size_t reader : readers[row])
          if (reader != node)
            connect(reader, node, 0);
        readers[row].clear();
        writer[row] = node;
      }
    }
  }

  void findPaths() {
    for (size_t node = nodes_.size(); node-- > 0;) {
      nodes_[node].path = std::max(1.0, double{op(node).latency});
      for (auto [next, latency] : nodes_[node].after)
        nodes_[node].path = std::max(nodes_[node].path, nodes_[next].path + latency);
    }
  }

  // Instructions that can start soonest go first, of those the longest path, then the order of the
  // text.
  std::vector<size_t> order() {
    std::vector<size_t> ready, order;
    for (size_t node = 0; node < nodes_.size(); ++node)
      if (!nodes_[node].waitsFor)
        ready.push_back(node);
    double now = 0;
    std::array<double, kPipes> free{};
    auto startOf = [&](size_t node) {
      return std::max({now, nodes_[node].earliest, free[static_cast<size_t>(op(node).pipe)]});
    };
    while (!ready.empty()) {
      constexpr double kSooner = 1e4, kText = 1e-3;
      auto best = std::ranges::max_element(ready, {}, [&](size_t node) {
        return -(startOf(node) - now) * kSooner + nodes_[node].path -
               kText * static_cast<double>(node);
      });
      size_t node = *best;
      ready.erase(best);
      double start = startOf(node);
      if (op(node).pipe != Pipe::None) {
        now = start + 1;
        free[static_cast<size_t>(op(node).pipe)] = start + op(node).occupancy;
      }
      order.push_back(node);
      for (auto [next, latency] : nodes_[node].after) {
        nodes_[next].earliest = std::max(nodes_[next].earliest, start + latency);
        if (!--nodes_[next].waitsFor)
          ready.push_back(next);
      }
    }
    return order;
  }

  void apply(const std::vector<size_t> &order) {
    std::vector<Op> code;
    std::vector<TimedOp> ops;
    for (size_t node : order)
      for (size_t i = nodes_[node].begin; i < nodes_[node].end; ++i) {
        code.push_back(program_.code[i]);
        ops.push_back(program_.ops[i]);
      }
    std::ranges::copy(code, program_.code.begin() + static_cast<ptrdiff_t>(begin_));
    std::ranges::copy(ops, program_.ops.begin() + static_cast<ptrdiff_t>(begin_));
  }

  TimedProgram &program_;
  size_t begin_;
  std::vector<Node> nodes_;
};

} // namespace

void scheduleInstructions(TimedProgram &program) {
  std::unordered_set<size_t> leaders; // where something jumps to
  for (const Op &op : program.code)
    if (op.flags & kJumps)
      leaders.insert(static_cast<size_t>(op.imm));
  for (size_t begin = 0; begin < program.code.size();) {
    if (!mayMove(program.ops[begin]) && !program.ops[begin].belongsToLast) {
      ++begin;
      continue;
    }
    size_t end = begin + 1;
    while (end < program.code.size() && !leaders.contains(end) &&
           (mayMove(program.ops[end]) || program.ops[end].belongsToLast))
      ++end;
    Run(program, begin, end).schedule();
    begin = end;
  }
}

} // namespace tile::vgpu
