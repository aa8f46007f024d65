// Staged branches, guards and while loops: conditions are scalars, and what their regions write
// becomes their results.
#include <tile/Control.h>

#include "frontend/trace/Regions.h"

using namespace tile;
using namespace tile::frontend;

ScopeId frontend::traceRegion(Trace &trace, Scope::Kind kind, Loc loc,
                              tile::detail::FunctionRef<void()> body) {
  ScopeId scope = trace.open(kind, loc);
  ScopeGuard guard(trace, scope);
  body();
  closeGuards(trace, scope);
  trace.close(scope);
  return scope;
}

/// Makes the results of a control-flow node the current values of the variables.
void frontend::bindResults(Trace &trace, NodeId node, const std::vector<uint32_t> &variables) {
  for (size_t i = 0; i < variables.size(); ++i)
    trace.write(variables[i], trace.resultOf(node, static_cast<int>(i)), trace.scope());
}

std::vector<TileType> frontend::typesOf(const Trace &trace,
                                        const std::vector<uint32_t> &variables) {
  std::vector<TileType> types;
  for (uint32_t variable : variables)
    types.push_back(trace.variable(variable).type);
  return types;
}

static NodeId conditionNode(Trace &trace, const Value &condition, const char *what, Loc loc) {
  TileType type = trace.type(condition, loc);
  if (!type.isScalar())
    trace.fail(loc,
               std::string(what) + ": the condition is a tile, " + type.str() +
                   "; use select for a choice per element",
               {madeNote(trace, "condition", condition)}, ErrorCode::InvalidShape);
  if (type.category != TileType::Data || type.dtype != i1)
    trace.fail(loc,
               std::string(what) + ": the condition must be i1, got " + type.str() +
                   "; compare it, as in x != 0",
               {madeNote(trace, "condition", condition)});
  return condition.node();
}

// --- Branches ------------------------------------------------------------------------------------

/// Sets what both branches yield and binds the results.
static void finishIf(Trace &trace, NodeId node, ScopeId thenScope, ScopeId elseScope) {
  std::vector<uint32_t> variables = trace.written({thenScope, elseScope});
  for (ScopeId scope : {thenScope, elseScope}) {
    std::vector<NodeId> yields;
    for (uint32_t variable : variables)
      yields.push_back(trace.read(variable, scope));
    trace.scopeAt(scope).yields = std::move(yields);
  }
  Node &branch = trace.graph().nodes[node];
  branch.regions = {thenScope, elseScope};
  branch.results = typesOf(trace, variables);
  bindResults(trace, node, variables);
}

If tile::if_(Arg condition, detail::FunctionRef<void()> body, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (!condition.isStaged())
    trace.fail(
        loc,
        "if_: the condition is a host value; use a plain C++ if, which specialises the kernel");
  Node branch;
  branch.name = "scf.if";
  branch.effect = Effect::Control;
  branch.loc = loc;
  branch.operands = {conditionNode(trace, condition.value(), "if_", loc)};
  ScopeId thenScope = traceRegion(trace, Scope::Then, loc, body);
  ScopeId elseScope = traceRegion(trace, Scope::Else, loc, [] {});
  NodeId node = trace.add(std::move(branch));
  finishIf(trace, node, thenScope, elseScope);
  return If(trace.id(), node, static_cast<uint32_t>(trace.graph().nodes.size()));
}

void If::else_(detail::FunctionRef<void()> body) {
  Trace &trace = Trace::current({});
  if (trace.id() != trace_)
    trace.fail({}, "else_: its if_ belongs to another kernel's trace", {},
               ErrorCode::InvalidHandle);
  Node branch = trace.at(node_);
  if (trace.graph().nodes.size() != end_ || trace.scope() != branch.scope)
    trace.fail(branch.loc, "else_: write it directly after its if_, in one statement");
  // The else branch starts from the values before the if_, which the empty else branch yielded.
  ScopeId thenScope = branch.regions[0];
  std::vector<uint32_t> variables = trace.written({thenScope});
  for (size_t i = 0; i < variables.size(); ++i)
    trace.write(variables[i], trace.scopeAt(branch.regions[1]).yields[i], trace.scope());
  ScopeId elseScope = traceRegion(trace, Scope::Else, branch.loc, body);
  finishIf(trace, node_, thenScope, elseScope);
}

// --- Guards --------------------------------------------------------------------------------------

void tile::guard(Arg condition, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (!condition.isStaged())
    trace.fail(loc, "guard: the condition is a host value; use a plain C++ if, which specialises "
                    "the kernel");
  NodeId node = conditionNode(trace, condition.value(), "guard", loc);
  if (trace.scopeAt(trace.region()).kind == Scope::WhileCondition)
    trace.fail(loc, "guard: the condition of a while_ has no rest to predicate; put the guard into "
                    "the body");
  ScopeId scope = trace.open(Scope::Then, loc);
  trace.scopeAt(scope).guard = node;
}

/// The region of the innermost guard ends: it becomes a branch without an else.
static void closeGuard(Trace &trace) {
  ScopeId then = trace.scope();
  Node branch;
  branch.name = "scf.if";
  branch.effect = Effect::Control;
  branch.loc = trace.scopeAt(then).opened;
  branch.operands = {trace.scopeAt(then).guard};
  trace.close(then);
  ScopeId otherwise = trace.open(Scope::Else, branch.loc);
  trace.close(otherwise);
  NodeId node = trace.add(std::move(branch));
  finishIf(trace, node, then, otherwise);
}

void frontend::closeGuards(Trace &trace, ScopeId region) {
  trace.throwPending();
  while (trace.scope() != region && trace.scopeAt(trace.scope()).guard != kNoNode)
    closeGuard(trace);
}

// --- While ---------------------------------------------------------------------------------------

void tile::while_(detail::FunctionRef<Value()> condition, detail::FunctionRef<void()> body,
                  Loc loc) {
  Trace &trace = Trace::current(loc);
  NodeId conditionId = kNoNode;
  ScopeId before = traceRegion(trace, Scope::WhileCondition, loc, [&] {
    conditionId = conditionNode(trace, condition(), "while_", loc);
  });
  ScopeId after = traceRegion(trace, Scope::WhileBody, loc, body);
  std::vector<uint32_t> carried = trace.written({before, after});
  Node loop;
  loop.name = "scf.while";
  loop.effect = Effect::Control;
  loop.loc = loc;
  loop.regions = {before, after};
  loop.results = typesOf(trace, carried);
  std::vector<NodeId> forwarded = {conditionId};
  for (uint32_t variable : carried) {
    loop.operands.push_back(trace.read(variable, trace.scope()));
    for (ScopeId scope : {before, after}) {
      NodeId argument = trace.placeholder(variable, scope);
      trace.scopeAt(scope).arguments.push_back(argument);
    }
    forwarded.push_back(trace.read(variable, before));
    NodeId next = trace.read(variable, after);
    trace.scopeAt(after).yields.push_back(next);
  }
  trace.scopeAt(before).yields = std::move(forwarded);
  for (ScopeId scope : {before, after})
    trace.forwardUnwritten(scope, carried, trace.scope());
  bindResults(trace, trace.add(std::move(loop)), carried);
}
