// Regions of staged control flow: what loops and branches share when they open and close them.
#pragma once

#include "frontend/trace/Trace.h"

namespace tile::frontend {

/// Abandons a scope whose body threw, so that a caller who catches can go on tracing.
class ScopeGuard {
public:
  ScopeGuard(Trace &trace, ScopeId scope) : trace_(trace), scope_(scope) {}
  ~ScopeGuard() { trace_.abandon(scope_); }

private:
  Trace &trace_;
  ScopeId scope_;
};

/// Ends what guards inside `region` predicate; called before the region itself is closed.
void closeGuards(Trace &trace, ScopeId region);

/// Runs `body` in a scope of its own.
ScopeId traceRegion(Trace &trace, Scope::Kind kind, Loc loc, detail::FunctionRef<void()> body);

/// Makes the results of a control-flow node the current values of the variables.
void bindResults(Trace &trace, NodeId node, const std::vector<uint32_t> &variables);

std::vector<TileType> typesOf(const Trace &trace, const std::vector<uint32_t> &variables);

} // namespace tile::frontend
