// Functions that stay functions: traced once for each list of argument types, in a scope of their
// own, then called.
#include <tile/Callable.h>

#include "frontend/language/Promotion.h"
#include "frontend/trace/Identity.h"
#include "frontend/trace/Regions.h"
#include "frontend/trace/Trace.h"

#include <algorithm>

using namespace tile;
using namespace tile::frontend;

namespace {

std::string listed(const std::vector<TileType> &types) {
  std::string text;
  for (const TileType &type : types)
    text += (text.empty() ? "" : ", ") + type.str();
  return text;
}

/// Traces one function and leaves its scope, however the user's code ends.
class FunctionTrace {
public:
  FunctionTrace(Trace &trace, const detail::CallableInfo &info, Function function, Loc loc)
      : trace_(trace), info_(info), loc_(loc), scope_(trace.open(Scope::Function, info.where)) {
    function.scope = scope_;
    trace_.graph().functions.push_back(std::move(function));
  }
  /// After an error the function is as if it had never been called.
  ~FunctionTrace() {
    trace_.abandon(scope_);
    std::erase_if(trace_.graph().functions, [&](const Function &function) {
      return function.scope == scope_ && !function.finished;
    });
  }
  FunctionTrace(const FunctionTrace &) = delete;

  std::vector<Value> arguments(const std::vector<TileType> &types) {
    std::vector<Value> values;
    for (const TileType &type : types) {
      Node argument;
      argument.kind = Node::BlockArg;
      argument.type = type;
      argument.loc = info_.where;
      NodeId id = trace_.add(std::move(argument));
      trace_.scopeAt(scope_).arguments.push_back(id);
      values.push_back(trace_.handle(id));
    }
    return values;
  }

  const Function &close(const std::vector<Value> &results) {
    closeGuards(trace_, scope_);
    std::vector<TileType> types;
    for (const Value &result : results) {
      TileType type = trace_.type(result, loc_);
      if (type.category != TileType::Data)
        trace_.fail(info_.where, "callable '" + info_.name + "' returns " + type.str() +
                                     ": it returns tiles and scalars");
      types.push_back(type);
      trace_.scopeAt(scope_).yields.push_back(trace_.use(result, loc_));
    }
    trace_.close(scope_);
    std::vector<Function> &functions = trace_.graph().functions;
    auto finished = std::count_if(functions.begin(), functions.end(),
                                  [](const Function &function) { return function.finished > 0; });
    Function &function = *std::find_if(functions.begin(), functions.end(),
                                       [&](const Function &each) { return each.scope == scope_; });
    function.results = std::move(types);
    function.finished = static_cast<uint32_t>(finished) + 1;
    return function;
  }

private:
  Trace &trace_;
  const detail::CallableInfo &info_;
  Loc loc_;
  ScopeId scope_;
};

const Function *find(const Graph &graph, uint64_t callable, const std::vector<TileType> &types) {
  for (const Function &function : graph.functions)
    if (function.callable == callable && function.arguments == types)
      return &function;
  return nullptr;
}

/// "kernel__norm", then "kernel__norm_1" for other types, and for another callable of that name.
std::string freshSymbol(const Trace &trace, const std::string &name) {
  const std::vector<Function> &functions = trace.graph().functions;
  for (int others = 0;; ++others) {
    std::string symbol =
        trace.record().name + "__" + name + (others ? "_" + std::to_string(others) : "");
    auto isIt = [&](const Function &function) { return function.symbol == symbol; };
    if (std::none_of(functions.begin(), functions.end(), isIt))
      return symbol;
  }
}

} // namespace

std::shared_ptr<const detail::CallableInfo> detail::makeCallable(std::string name, const void *type,
                                                                 Loc where) {
  checkName("callable", name, where);
  return std::make_shared<const CallableInfo>(
      CallableInfo{type ? idOfKey(type) : freshId(), std::move(name), where});
}

std::vector<Value>
detail::callFunction(const CallableInfo &info, const std::vector<Arg> &arguments,
                     FunctionRef<std::vector<Value>(const std::vector<Value> &)> body) {
  Loc loc = arguments.front().loc();
  Trace &trace = Trace::current(loc);
  std::string name = "callable '" + info.name + "'";
  if (trace.graph().scopes[trace.scope()].kind == Scope::Combine)
    trace.fail(loc, name + ": a combine function cannot call it; use a plain C++ function");
  Node call;
  call.name = "func.call";
  call.loc = loc;
  std::vector<TileType> types;
  for (const Arg &argument : arguments) {
    checkData(trace, name.c_str(), argument, loc);
    Value value = materialize(trace, argument, loc);
    types.push_back(trace.type(value, loc));
    call.operands.push_back(trace.use(value, loc));
  }
  const Function *known = find(trace.graph(), info.id, types);
  if (known && !known->finished)
    trace.fail(loc, name + " calls itself with " + listed(types) + ": use while_ or a C++ loop");
  Function function;
  if (known) {
    function = *known;
  } else {
    function = {info.id, freshSymbol(trace, info.name), kNoScope, types, {}, info.where, 0};
    FunctionTrace inside(trace, info, function, loc);
    function = inside.close(body(inside.arguments(types)));
  }
  std::vector<TileType> results = function.results;
  call.results = results;
  call.attributes = {{Attribute::Symbol, "callee", {}, function.symbol}};
  NodeId id = trace.add(std::move(call));
  std::vector<Value> values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back(trace.handle(trace.resultOf(id, static_cast<int>(i))));
  return values;
}
