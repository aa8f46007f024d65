// Basic blocks, loops by depth-first search, and the order that keeps loops together.
#include "runtime/vgpu/decode/BlockOrder.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

bool endsBlock(const Instruction &instruction) {
  return instruction.flow != Flow::Next && instruction.flow != Flow::Call;
}

struct Graph {
  std::vector<BlockOrder::Block> blocks; // in program order
  std::vector<std::vector<uint32_t>> successors, predecessors;
  std::vector<std::vector<uint32_t>> loopsOf; // headers of the loops a block is in
};

Graph buildGraph(const Function &function) {
  const auto &body = function.body;
  std::vector<bool> leads(body.size() + 1, false);
  leads[0] = true;
  for (size_t i = 0; i < body.size(); ++i) {
    if (endsBlock(body[i]))
      leads[i + 1] = true;
    for (uint32_t target : body[i].targets)
      leads[target] = true;
  }
  Graph graph;
  std::vector<uint32_t> blockAt(body.size() + 1, 0);
  for (uint32_t begin = 0; begin < body.size();) {
    uint32_t end = begin + 1;
    while (end < body.size() && !leads[end])
      ++end;
    const Instruction &last = body[end - 1];
    bool falls = !endsBlock(last) || last.guard >= 0;
    blockAt[begin] = static_cast<uint32_t>(graph.blocks.size());
    graph.blocks.push_back({begin, end, falls});
    begin = end;
  }
  // A label at the very end stands for an implicit return.
  graph.successors.resize(graph.blocks.size());
  graph.predecessors.resize(graph.blocks.size());
  for (uint32_t i = 0; i < graph.blocks.size(); ++i) {
    const BlockOrder::Block &block = graph.blocks[i];
    auto link = [&](uint32_t instruction) {
      if (instruction >= body.size())
        return;
      graph.successors[i].push_back(blockAt[instruction]);
      graph.predecessors[blockAt[instruction]].push_back(i);
    };
    if (block.fallsThrough)
      link(block.end);
    for (uint32_t target : body[block.end - 1].targets)
      link(target);
  }
  return graph;
}

// Post-order by an explicit stack; `visit` orders the successors of a block.
template <class Successors>
std::vector<uint32_t> postOrder(const Graph &graph, Successors successors) {
  std::vector<uint32_t> order;
  if (graph.blocks.empty())
    return order;
  std::vector<bool> seen(graph.blocks.size(), false);
  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> stack;
  stack.emplace_back(0, successors(0));
  seen[0] = true;
  while (!stack.empty()) {
    auto &[block, rest] = stack.back();
    if (rest.empty()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    uint32_t next = rest.back();
    rest.pop_back();
    if (seen[next])
      continue;
    seen[next] = true;
    stack.emplace_back(next, successors(next));
  }
  return order;
}

// Natural loops: an edge to a block earlier in reverse post-order closes a loop; its body is what reaches the edge.
void findLoops(Graph &graph) {
  graph.loopsOf.resize(graph.blocks.size());
  std::vector<uint32_t> order =
      postOrder(graph, [&](uint32_t block) { return graph.successors[block]; });
  std::vector<uint32_t> number(graph.blocks.size(), ~0u);
  for (size_t i = 0; i < order.size(); ++i)
    number[order[i]] = static_cast<uint32_t>(order.size() - 1 - i);
  for (uint32_t header = 0; header < graph.blocks.size(); ++header) {
    std::vector<uint32_t> work;
    for (uint32_t latch : graph.predecessors[header])
      if (number[header] != ~0u && number[latch] != ~0u && number[latch] >= number[header])
        work.push_back(latch);
    if (work.empty())
      continue;
    std::vector<bool> inLoop(graph.blocks.size(), false);
    inLoop[header] = true;
    graph.loopsOf[header].push_back(header);
    while (!work.empty()) {
      uint32_t block = work.back();
      work.pop_back();
      bool reachable = number[block] != ~0u && number[block] >= number[header];
      if (inLoop[block] || !reachable)
        continue;
      inLoop[block] = true;
      graph.loopsOf[block].push_back(header);
      work.insert(work.end(), graph.predecessors[block].begin(), graph.predecessors[block].end());
    }
  }
}

size_t sharedLoops(const Graph &graph, uint32_t a, uint32_t b) {
  return std::ranges::count_if(graph.loopsOf[a], [&](uint32_t loop) {
    return std::ranges::count(graph.loopsOf[b], loop) > 0;
  });
}

} // namespace

BlockOrder orderBlocks(const Function &function) {
  Graph graph = buildGraph(function);
  findLoops(graph);
  // The stack takes successors from the back, and what is finished first ends up last: leave the most loops first.
  auto exitsFirst = [&](uint32_t block) {
    std::vector<uint32_t> successors = graph.successors[block];
    std::ranges::stable_sort(successors, std::greater(),
                             [&](uint32_t next) { return sharedLoops(graph, block, next); });
    return successors;
  };
  std::vector<uint32_t> order = postOrder(graph, exitsFirst);
  BlockOrder result;
  for (size_t i = order.size(); i-- > 0;)
    result.blocks.push_back(graph.blocks[order[i]]);
  return result;
}

} // namespace tile::vgpu
