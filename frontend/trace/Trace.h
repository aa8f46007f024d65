// The trace in progress: records nodes, keeps the stack of scopes, checks handles, turns mistakes
// into errors.
//
// Traces form a thread-local stack, the frontend's only mutable global. Every public operation ends
// here.
#pragma once

#include "frontend/call/Arguments.h"
#include "frontend/trace/Binding.h"
#include "frontend/trace/Graph.h"

#include <tile/Ops.h>

#include <initializer_list>
#include <string>

namespace tile::frontend {

/// The grid that a grid helper asked for: each entry is the number of tiles of an extent.
struct GridAxis {
  NodeId extent;   ///< a number that a launch can compute (LaunchTime.h)
  int64_t divisor; ///< the tile's extent
};
struct GridRequest {
  std::vector<std::vector<GridAxis>>
      results;             ///< of each grid dimension, the axes whose tile counts are multiplied
  bool persistent = false; ///< no more programs than the device runs at once
  Loc loc;
  bool isSet() const { return persistent || !results.empty(); }
};

class Trace {
public:
  Trace(const detail::KernelRecord &record, const Binding &binding);
  ~Trace();
  Trace(const Trace &) = delete;

  /// The innermost trace of this thread; an error at `loc` if there is none.
  static Trace &current(Loc loc);
  static Trace *currentOrNull();

  // Recording. Nodes go into the innermost scope.
  NodeId add(Node node);
  /// Result `index` of a node that lists its results, as a node of its own.
  NodeId resultOf(NodeId node, int index = 0);
  Value op(const char *name, TileType type, std::initializer_list<Value> operands, Loc loc,
           std::vector<Attribute> attributes = {});
  Value op(const char *name, TileType type, const std::vector<Value> &operands, Loc loc,
           std::vector<Attribute> attributes = {});
  Value integer(DType dtype, int64_t value, Loc loc, const Shape &shape = {});
  Value number(DType dtype, double value, Loc loc, const Shape &shape = {});
  Value handle(NodeId id) const { return Value(id_, id); }
  /// A read or write through `address`, a view or pointer.
  NodeId memory(Node node, const Value &address);

  // Looking up.
  /// The node behind a handle, after checking that it may be used here.
  const Node &node(const Value &value, Loc use) const;
  NodeId use(const Value &value, Loc loc) const;
  /// By value, since recording moves nodes.
  TileType type(const Value &value, Loc loc) const { return node(value, loc).type; }
  const Node &at(NodeId id) const { return graph_.nodes[id]; }

  // Scopes.
  ScopeId scope() const { return stack_.back(); }
  /// The region the user sees: what a guard predicates belongs to the region the guard stands in.
  ScopeId region() const;
  /// The called function that is being traced; kNoScope in the kernel itself.
  ScopeId function() const;
  ScopeId open(Scope::Kind kind, Loc loc);
  void close(ScopeId id);
  /// Drops a scope that was left by an exception or a native break, and everything inside it.
  void abandon(ScopeId id);
  bool isOpen(ScopeId id) const { return id < graph_.scopes.size() && !graph_.scopes[id].closed; }
  Scope &scopeAt(ScopeId id) { return graph_.scopes[id]; }
  bool encloses(ScopeId outer, ScopeId inner) const;

  // Variables (Variables.cpp).
  uint32_t declare(const Value &init, Loc loc);
  NodeId read(uint32_t variable, ScopeId scope);
  void write(uint32_t variable, NodeId value, ScopeId scope);
  /// Variables of outer scopes written in any of these, in the order in which they were made.
  std::vector<uint32_t> written(std::initializer_list<ScopeId> scopes) const;
  /// The carried value that a loop's body begins with, as an argument of its region.
  NodeId placeholder(uint32_t variable, ScopeId loop);
  /// Lets placeholders of variables that turned out not to change stand for the value from outside.
  void forwardUnwritten(ScopeId loop, const std::vector<uint32_t> &carried, ScopeId outer);
  const Variable &variable(uint32_t id) const { return graph_.variables[id]; }
  void checkVariable(uint64_t trace, uint32_t id, Loc loc) const;

  // Errors.
  [[noreturn]] void fail(Loc loc, std::string message, std::vector<std::string> notes = {},
                         ErrorCode code = ErrorCode::InvalidArgument) const;
  /// An error to be thrown by the next operation, for places that cannot throw.
  void failLater(Loc loc, std::string message);
  void throwPending() const;

  const Graph &graph() const { return graph_; }
  Graph &graph() { return graph_; }
  const Binding &binding() const { return binding_; }
  const detail::KernelRecord &record() const { return record_; }
  uint64_t id() const { return id_; }
  NodeId param(int index) const { return params_[index]; }

  GridRequest grid;
  int teams = 0;                    ///< 0: the kernel does not divide its programs among teams
  int cluster = 0;                  ///< likewise among blocks of a cluster
  bool addsUpPrograms = false;      ///< its programs add up tiles, and stay undivided
  detail::CompileSettings settings; ///< of the binding, as far as hints have not changed them
  int stages = 0;                   ///< of loops that do not say it; 0: none
  ArgumentUses uses;

private:
  void addParams();
  void checkDirection(const Node &access) const;
  std::string bindingText() const;

  const detail::KernelRecord &record_;
  const Binding &binding_;
  Graph graph_;
  std::vector<ScopeId> stack_;
  std::vector<NodeId> params_;
  uint64_t id_;
  Trace *below_;
  const char *stackEnd_; ///< a call below this address is in a recursion that will not end
  bool hasPending_ = false;
  Loc pendingLoc_;
  std::string pending_;
};

/// Refuses names that are no identifiers; `what` has them.
void checkName(const char *what, const std::string &name, Loc where);

/// The note that says where two operands were made.
std::string madeNote(const Trace &trace, const Arg &lhs, const Arg &rhs);
std::string madeNote(const Trace &trace, const char *what, const Value &value);

} // namespace tile::frontend
