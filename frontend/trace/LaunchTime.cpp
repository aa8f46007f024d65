#include "frontend/trace/LaunchTime.h"

#include <string_view>

namespace tile::frontend {

static std::optional<LaunchTerm::Kind> arithmetic(std::string_view name) {
  if (name == "arith.addi")
    return LaunchTerm::Add;
  if (name == "arith.subi")
    return LaunchTerm::Subtract;
  if (name == "arith.muli")
    return LaunchTerm::Multiply;
  if (name == "arith.divsi" || name == "arith.divui")
    return LaunchTerm::Divide;
  return std::nullopt;
}

std::optional<LaunchTerm> launchTerm(const Graph &graph, NodeId id) {
  const Node &node = graph.nodes[graph.resolve(id)];
  bool isNumber =
      node.type.category == TileType::Data && node.type.isScalar() && isInteger(node.type.dtype);
  if (!isNumber)
    return std::nullopt;
  if (node.kind == Node::Constant)
    return LaunchTerm{LaunchTerm::Constant, node.integer};
  if (node.kind == Node::FuncArg)
    return node.type.dtype == i32 ? std::optional(LaunchTerm{LaunchTerm::Scalar, node.index})
                                  : std::nullopt;
  if (node.kind != Node::Op)
    return std::nullopt;
  if (std::string_view(node.name) == "tile.dim")
    return LaunchTerm{LaunchTerm::Extent, graph.nodes[graph.resolve(node.operands[0])].index,
                      node.attributes[0].numbers[0]};
  std::optional<LaunchTerm::Kind> kind = arithmetic(node.name);
  if (!kind)
    return std::nullopt;
  LaunchTerm term{*kind, 0, -1, node.operands[0], node.operands[1]};
  if (*kind == LaunchTerm::Divide) { // by a positive constant, which needs no guard
    const Node &divisor = graph.nodes[graph.resolve(term.rhs)];
    if (divisor.kind != Node::Constant || divisor.integer < 1)
      return std::nullopt;
  }
  return term;
}

/// Deeper expressions are no tile counts, and would cost each launch.
static constexpr int kMostDepth = 16;

static bool isLaunchTime(const Graph &graph, NodeId id, int depth) {
  std::optional<LaunchTerm> term = launchTerm(graph, id);
  if (!term || depth > kMostDepth)
    return false;
  return term->lhs == kNoNode ||
         (isLaunchTime(graph, term->lhs, depth + 1) && isLaunchTime(graph, term->rhs, depth + 1));
}

bool isLaunchTime(const Graph &graph, NodeId id) { return isLaunchTime(graph, id, 0); }

} // namespace tile::frontend
