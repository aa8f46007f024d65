// SSA construction for Var, done while tracing. A variable's current value is looked up scope by
// scope; the first access from inside a loop makes a placeholder, outermost loop first, so that a
// read before a later write sees the previous iteration. When a region closes, the variables
// written in it become carried values or results (Control.cpp).
#include "frontend/trace/Trace.h"

#include <algorithm>

namespace tile::frontend {

static Scope::Slot *find(Scope &scope, uint32_t variable) {
  for (Scope::Slot &slot : scope.slots)
    if (slot.variable == variable)
      return &slot;
  return nullptr;
}

static Scope::Slot &findOrAdd(Scope &scope, uint32_t variable) {
  if (Scope::Slot *slot = find(scope, variable))
    return *slot;
  scope.slots.push_back({variable});
  return scope.slots.back();
}

uint32_t Trace::declare(const Value &init, Loc loc) {
  NodeId node = use(init, loc);
  const TileType &type = graph_.nodes[node].type;
  if (type.category == TileType::View)
    fail(loc, "var: a view cannot be a variable");
  auto id = static_cast<uint32_t>(graph_.variables.size());
  graph_.variables.push_back({scope(), type, loc});
  findOrAdd(graph_.scopes[scope()], id).current = node;
  return id;
}

void Trace::checkVariable(uint64_t trace, uint32_t id, Loc loc) const {
  throwPending();
  if (trace != id_)
    fail(loc, "the var belongs to another kernel's trace", {}, ErrorCode::InvalidHandle);
  if (!encloses(graph_.variables[id].home, scope()))
    fail(loc, "the var is used after its staged region ended: declare it outside",
         {"the var was made at " + text(graph_.variables[id].madeAt)}, ErrorCode::InvalidHandle);
  if (ScopeId called = function();
      called != kNoScope && !encloses(called, graph_.variables[id].home))
    fail(loc, "a callable may only use its arguments and host numbers: pass the var to it",
         {"the var was made at " + text(graph_.variables[id].madeAt)});
}

NodeId Trace::read(uint32_t variable, ScopeId scope) {
  if (Scope::Slot *slot = find(graph_.scopes[scope], variable); slot && slot->current != kNoNode)
    return slot->current;
  NodeId outer = read(variable, graph_.scopes[scope].parent);
  if (!graph_.scopes[scope].isLoop())
    return outer;
  return findOrAdd(graph_.scopes[scope], variable).current = placeholder(variable, scope);
}

NodeId Trace::placeholder(uint32_t variable, ScopeId loop) {
  Scope::Slot &slot = findOrAdd(graph_.scopes[loop], variable);
  if (slot.placeholder == kNoNode) {
    Node node;
    node.kind = Node::BlockArg;
    node.type = graph_.variables[variable].type;
    node.loc = graph_.variables[variable].madeAt;
    node.scope = loop;
    slot.placeholder = static_cast<NodeId>(graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
  }
  return slot.placeholder;
}

void Trace::write(uint32_t variable, NodeId value, ScopeId scope) {
  Scope::Slot &slot = findOrAdd(graph_.scopes[scope], variable);
  slot.current = value;
  slot.written = scope != graph_.variables[variable].home;
}

std::vector<uint32_t> Trace::written(std::initializer_list<ScopeId> scopes) const {
  std::vector<uint32_t> variables;
  for (ScopeId scope : scopes)
    for (const Scope::Slot &slot : graph_.scopes[scope].slots)
      if (slot.written)
        variables.push_back(slot.variable);
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  return variables;
}

void Trace::forwardUnwritten(ScopeId loop, const std::vector<uint32_t> &carried, ScopeId outer) {
  // A copy: reading outside may add slots to scopes and so move them.
  std::vector<Scope::Slot> slots = graph_.scopes[loop].slots;
  for (const Scope::Slot &slot : slots) {
    if (slot.placeholder == kNoNode ||
        std::binary_search(carried.begin(), carried.end(), slot.variable))
      continue;
    NodeId value = read(slot.variable, outer);
    Node &node = graph_.nodes[slot.placeholder];
    node.kind = Node::Alias;
    node.operands = {value};
  }
}

} // namespace tile::frontend
