// Staged loops and branches: open a scope, run the user's C++ once, close the scope, and turn the
// variables written in it into carried values (loops) or results (branches).
#include <tile/Control.h>

#include "frontend/Promotion.h"
#include "frontend/Trace.h"

#include <exception>

using namespace tile;
using namespace tile::frontend;

namespace {

/// Abandons a scope whose body threw, so that a caller who catches can go on tracing.
class ScopeGuard {
public:
  ScopeGuard(Trace &trace, ScopeId scope) : trace_(trace), scope_(scope) {}
  ~ScopeGuard() { trace_.abandon(scope_); }

private:
  Trace &trace_;
  ScopeId scope_;
};

ScopeId traceRegion(Trace &trace, Scope::Kind kind, Loc loc, detail::FunctionRef<void()> body) {
  ScopeId scope = trace.open(kind, loc);
  ScopeGuard guard(trace, scope);
  body();
  trace.close(scope);
  return scope;
}

/// Makes the results of a control-flow node the current values of the variables.
void bindResults(Trace &trace, NodeId node, const std::vector<uint32_t> &variables) {
  for (size_t i = 0; i < variables.size(); ++i) {
    Node result;
    result.kind = Node::Result;
    result.type = trace.variable(variables[i]).type;
    result.operands = {node};
    result.index = static_cast<int>(i);
    result.loc = trace.at(node).loc;
    trace.write(variables[i], trace.add(std::move(result)), trace.scope());
  }
}

std::vector<TileType> typesOf(const Trace &trace, const std::vector<uint32_t> &variables) {
  std::vector<TileType> types;
  for (uint32_t variable : variables)
    types.push_back(trace.variable(variable).type);
  return types;
}

NodeId conditionNode(Trace &trace, const Value &condition, const char *what, Loc loc) {
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

} // namespace

// --- Loops ---------------------------------------------------------------------------------------

Range tile::range(Arg lo, Arg hi, Arg step, Loc loc) { return Range(lo, hi, step, loc); }
Range tile::range(Arg lo, Arg hi, Loc loc) { return Range(lo, hi, Arg(1, loc), loc); }
Range tile::range(Arg hi, Loc loc) { return Range(Arg(0, loc), hi, Arg(1, loc), loc); }

Range Range::stages(int count) const {
  if (count < 1)
    Trace::current(loc_).fail(loc_,
                              "range: stages must be at least 1, got " + std::to_string(count));
  Range result(*this);
  result.stages_ = count;
  return result;
}

Range Range::unroll(int count) const {
  if (count < 1)
    Trace::current(loc_).fail(loc_,
                              "range: unroll must be at least 1, got " + std::to_string(count));
  Range result(*this);
  result.unroll_ = count;
  return result;
}

static void checkBound(Trace &trace, const char *what, const Arg &bound, Loc loc) {
  if (!bound.isStaged()) {
    if (bound.kind() == Arg::Kind::Float)
      trace.fail(loc, std::string("range: the ") + what +
                          " must be an integer, got a floating-point number");
    return;
  }
  TileType type = trace.type(bound.value(), loc);
  if (type.category != TileType::Data || !type.isScalar() ||
      (type.dtype != i32 && type.dtype != i64))
    trace.fail(
        loc, std::string("range: the ") + what + " must be an i32 or i64 scalar, got " + type.str(),
        {madeNote(trace, what, bound.value())});
}

static DType indexType(Trace &trace, const Arg &bound, Loc loc) {
  if (bound.isStaged())
    return trace.type(bound.value(), loc).dtype;
  return bound.asInt() == static_cast<int32_t>(bound.asInt()) ? i32 : i64;
}

Range::Iterator Range::begin() {
  Trace &trace = Trace::current(loc_);
  checkBound(trace, "lower bound", lo_, loc_);
  checkBound(trace, "upper bound", hi_, loc_);
  checkBound(trace, "step", step_, loc_);
  if (!step_.isStaged() && step_.asInt() == 0)
    trace.fail(loc_, "range: the step is 0, so the loop would never end");
  DType type = i32;
  for (const Arg *bound : {&lo_, &hi_, &step_})
    if (indexType(trace, *bound, loc_) == i64)
      type = i64;
  Value lo = convertTo(trace, type, lo_, "range", loc_),
        hi = convertTo(trace, type, hi_, "range", loc_);
  Value step = convertTo(trace, type, step_, "range", loc_), first = lo;
  bool countsDown = !step_.isStaged() && step_.asInt() < 0;
  if (countsDown) {
    // scf.for only counts up: count the rounds, and derive the index from them.
    int64_t down = -step_.asInt();
    TileType scalar{TileType::Data, type, {}};
    Value span = trace.op("arith.subi", scalar, {lo, hi}, loc_);
    Value rounded =
        trace.op("arith.addi", scalar, {span, trace.integer(type, down - 1, loc_)}, loc_);
    hi = trace.op("arith.divsi", scalar, {rounded, trace.integer(type, down, loc_)}, loc_);
    lo = trace.integer(type, 0, loc_);
    bounds_[2] = trace.integer(type, 1, loc_).node();
  } else {
    bounds_[2] = step.node();
  }
  bounds_[0] = lo.node(), bounds_[1] = hi.node();
  scope_ = trace.open(Scope::For, loc_);
  trace_ = trace.id();
  open_ = true;
  exceptions_ = std::uncaught_exceptions();
  Node counter;
  counter.kind = Node::BlockArg;
  counter.type = {TileType::Data, type, {}};
  counter.loc = loc_;
  index_ = trace.add(std::move(counter));
  trace.scopeAt(scope_).arguments = {index_};
  if (countsDown)
    index_ = (first + Arg(trace.handle(index_), loc_) * Arg(step, loc_)).node();
  return Iterator(this);
}

Value Range::Iterator::operator*() const { return Value(range_->trace_, range_->index_); }

void Range::close() {
  Trace &trace = Trace::current(loc_);
  open_ = false;
  ScopeGuard guard(trace, scope_);
  trace.close(scope_);
  std::vector<uint32_t> carried = trace.written({scope_});
  Node loop;
  loop.name = "scf.for";
  loop.effect = Effect::Control;
  loop.loc = loc_;
  loop.operands = {bounds_[0], bounds_[1], bounds_[2]};
  loop.regions = {scope_};
  loop.results = typesOf(trace, carried);
  for (uint32_t variable : carried) {
    loop.operands.push_back(trace.read(variable, trace.scope()));
    NodeId argument = trace.placeholder(variable, scope_);
    trace.scopeAt(scope_).arguments.push_back(argument);
    trace.scopeAt(scope_).yields.push_back(trace.read(variable, scope_));
  }
  trace.forwardUnwritten(scope_, carried, trace.scope());
  if (stages_)
    loop.attributes.push_back({Attribute::I32, "tile.stages", {stages_}});
  if (unroll_)
    loop.attributes.push_back({Attribute::I32, "tile.unroll", {unroll_}});
  bindResults(trace, trace.add(std::move(loop)), carried);
}

Range::~Range() {
  Trace *trace = Trace::currentOrNull();
  if (!open_ || !trace || trace->id() != trace_)
    return;
  trace->abandon(scope_);
  if (std::uncaught_exceptions() <= exceptions_)
    trace->failLater(loc_, "range: the staged loop was left by a native break, return or goto; "
                           "a staged loop runs to its end: guard its body with if_");
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
