// Recording of nodes and scopes, the checks on every handle, and the one place where the user's
// mistakes become errors.
#include "frontend/trace/Trace.h"

#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <string_view>

namespace tile {

std::string Shape::str() const {
  std::string text;
  for (int dim = 0; dim < rank_ && dim < kMaxRank; ++dim)
    text += (dim ? "x" : "") + std::to_string(extents_[dim]);
  return rank_ == 0 ? "scalar" : text;
}

uint32_t detail::currentScope() {
  frontend::Trace *trace = frontend::Trace::currentOrNull();
  return trace ? trace->region() : 0;
}

} // namespace tile

namespace tile::frontend {

/// A lambda that unrolls without end stops here, long before memory does.
static constexpr size_t kMaxNodes = 400'000;
/// Nobody nests so many loops and branches; recursion does.
static constexpr size_t kMaxDepth = 128;

static thread_local Trace *activeTrace = nullptr;

static uint64_t nextTraceId() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

std::string TileType::str() const {
  std::string text = nameOf(dtype);
  if (category == Pointer)
    text = "ptr<" + text + ">";
  if (category == View)
    return "view<" + std::to_string(viewRank) + "x" + text + ">";
  return isScalar() ? text : text + "[" + shape.str() + "]";
}

/// Where three quarters of the thread's stack are used up; null if it cannot be known.
static const char *findStackEnd() {
  pthread_attr_t attributes;
  void *base = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return nullptr;
  pthread_attr_getstack(&attributes, &base, &bytes);
  pthread_attr_destroy(&attributes);
  return static_cast<const char *>(base) + bytes / 4;
}

/// The same, found once a thread: for the first one all mappings of the process are read.
static const char *stackEnd() {
  static thread_local const char *end = findStackEnd();
  return end;
}

Trace::Trace(const detail::KernelRecord &record, const Binding &binding)
    : settings(binding.settings), record_(record), binding_(binding), id_(nextTraceId()),
      below_(activeTrace), stackEnd_(stackEnd()) {
  graph_.scopes.emplace_back().opened = record.where;
  stack_.push_back(0);
  addParams();
  activeTrace = this; // last, since a constructor that throws is not undone
}

Trace::~Trace() { activeTrace = below_; }

Trace *Trace::currentOrNull() { return activeTrace; }

Trace &Trace::current(Loc loc) {
  if (!activeTrace)
    throw Error(Fault::User, ErrorCode::InvalidHandle,
                "this operation stages code, which is only possible while a kernel is traced: call "
                "it in the kernel's lambda",
                loc);
  return *activeTrace;
}

void Trace::addParams() {
  int argument = 0;
  for (const detail::ParamSpec &spec : record_.params) {
    if (spec.kind == detail::ParamSpec::Const) {
      params_.push_back(kNoNode);
      continue;
    }
    Node node;
    node.kind = Node::FuncArg;
    node.index = argument;
    node.loc = record_.where;
    node.type.dtype = binding_.args[argument].dtype;
    if (spec.kind != detail::ParamSpec::Scalar) {
      node.type.category = TileType::View;
      node.type.viewRank = spec.rank;
    }
    params_.push_back(add(node));
    ++argument;
  }
}

NodeId Trace::add(Node node) {
  throwPending();
  if (static_cast<const char *>(__builtin_frame_address(0)) < stackEnd_)
    fail(node.loc,
         "the stack is used up: a function that calls itself on staged values never ends, "
         "use while_",
         {}, ErrorCode::ResourceExceeded);
  if (graph_.nodes.size() >= kMaxNodes)
    fail(node.loc,
         "the kernel grew beyond " + std::to_string(kMaxNodes) +
             " operations; a plain C++ loop unrolls: use range() to stage it",
         {}, ErrorCode::ResourceExceeded);
  node.scope = scope();
  bool touchesMemory = node.effect == Effect::Write || node.effect == Effect::Read;
  if (touchesMemory && function() != kNoScope)
    fail(node.loc,
         "a callable computes with values alone: it may not access memory, print, assert or "
         "assume; write a plain C++ function, which becomes part of the kernel",
         {"the callable was made at " + text(graph_.scopes[function()].opened)});
  auto id = static_cast<NodeId>(graph_.nodes.size());
  if (node.effect == Effect::Write || node.effect == Effect::Control)
    graph_.scopes[scope()].effects.push_back(id);
  graph_.nodes.push_back(std::move(node));
  return id;
}

NodeId Trace::resultOf(NodeId node, int index) {
  Node result;
  result.kind = Node::Result;
  result.type = at(node).results[size_t(index)];
  result.operands = {node};
  result.index = index;
  result.loc = at(node).loc;
  return add(std::move(result));
}

Value Trace::op(const char *name, TileType type, const std::vector<Value> &operands, Loc loc,
                std::vector<Attribute> attributes) {
  Node node;
  node.name = name;
  node.type = type;
  for (const Value &operand : operands)
    node.operands.push_back(use(operand, loc));
  node.attributes = std::move(attributes);
  node.loc = loc;
  return handle(add(std::move(node)));
}

Value Trace::op(const char *name, TileType type, std::initializer_list<Value> operands, Loc loc,
                std::vector<Attribute> attributes) {
  return op(name, type, std::vector<Value>(operands), loc, std::move(attributes));
}

Value Trace::integer(DType dtype, int64_t value, Loc loc, const Shape &shape) {
  Node node;
  node.kind = Node::Constant;
  node.type = {TileType::Data, dtype, shape};
  node.integer = value;
  node.loc = loc;
  return handle(add(std::move(node)));
}

Value Trace::number(DType dtype, double value, Loc loc, const Shape &shape) {
  Node node;
  node.kind = Node::Constant;
  node.type = {TileType::Data, dtype, shape};
  node.number = value;
  node.loc = loc;
  return handle(add(std::move(node)));
}

/// The kernel argument that an address is derived from, -1 if that cannot be told.
static int rootOf(const Graph &graph, NodeId id) {
  static const std::string_view kDerived[] = {
      "tile.addptr",  "tile.base",         "tile.broadcast", "tile.expand_dims",
      "tile.permute", "tile.permute_view", "tile.reshape",   "tile.splat"};
  while (true) {
    const Node &node = graph.nodes[graph.resolve(id)];
    if (node.kind == Node::FuncArg)
      return node.index;
    bool isDerived = node.kind == Node::Op && std::find(std::begin(kDerived), std::end(kDerived),
                                                        node.name) != std::end(kDerived);
    if (!isDerived)
      return -1;
    id = node.operands[0];
  }
}

/// Views refuse this in C++; pointers made from them are checked here.
void Trace::checkDirection(const Node &access) const {
  size_t param = 0;
  for (int argument = -1; param < params_.size(); ++param)
    if (params_[param] != kNoNode && ++argument == access.root)
      break;
  detail::ParamSpec::Kind kind = record_.params[param].kind;
  bool isVolatileLoad = std::string_view(access.name).ends_with("load");
  bool isRead = access.effect == Effect::Read || isVolatileLoad,
       isAtomic = !isRead && !access.results.empty();
  if (isAtomic && (kind == detail::ParamSpec::Out || kind == detail::ParamSpec::In))
    fail(access.loc,
         std::string("an atomic operation reads and writes, but the pointer is of an ") +
             (kind == detail::ParamSpec::In ? "In" : "Out") + " view: declare the argument InOut");
  if (isRead && kind == detail::ParamSpec::Out)
    fail(access.loc, "load: the pointer is of an Out view, which can only be written: declare the "
                     "argument InOut");
  if (!isRead && kind == detail::ParamSpec::In)
    fail(access.loc, "store: the pointer is of an In view, which can only be read: declare the "
                     "argument Out or InOut");
}

NodeId Trace::memory(Node node, const Value &address) {
  if (graph_.scopes[scope()].kind == Scope::Combine)
    fail(node.loc, "a combine function may not access memory: it works on the scalars it is given");
  node.root = rootOf(graph_, address.node());
  if (node.root >= 0)
    checkDirection(node);
  return add(std::move(node));
}

const Node &Trace::node(const Value &value, Loc loc) const { return graph_.nodes[use(value, loc)]; }

NodeId Trace::use(const Value &value, Loc loc) const {
  throwPending();
  if (value.trace() == 0)
    fail(loc, "the value is empty: assign to it before using it", {}, ErrorCode::InvalidHandle);
  if (value.trace() != id_)
    fail(loc,
         "the value belongs to another kernel's trace: values cannot be kept from one kernel to "
         "another",
         {"this kernel is defined at " + text(record_.where)}, ErrorCode::InvalidHandle);
  const Node &node = graph_.nodes[value.node()];
  if (!encloses(node.scope, scope()))
    fail(loc, "the value is used after its staged region ended: carry it out with var(...)",
         {"the value was made at " + text(node.loc) + ", in the region that begins at " +
          text(graph_.scopes[node.scope].opened)},
         ErrorCode::InvalidHandle);
  bool inCombine = graph_.scopes[scope()].kind == Scope::Combine;
  if (inCombine && node.scope != scope())
    fail(loc, "a combine function may only use the scalars it is given, and host numbers",
         {"the value was made at " + text(node.loc)});
  if (ScopeId called = function(); called != kNoScope && !encloses(called, node.scope))
    fail(loc, "a callable may only use its arguments and host numbers: pass the value to it",
         {"the value was made at " + text(node.loc) + ", the callable at " +
          text(graph_.scopes[called].opened)});
  return value.node();
}

ScopeId Trace::region() const {
  ScopeId id = scope();
  while (graph_.scopes[id].guard != kNoNode)
    id = graph_.scopes[id].parent;
  return id;
}

ScopeId Trace::function() const {
  ScopeId id = scope();
  while (id != kNoScope && graph_.scopes[id].kind != Scope::Function)
    id = graph_.scopes[id].parent;
  return id;
}

ScopeId Trace::open(Scope::Kind kind, Loc loc) {
  throwPending();
  if (stack_.size() > kMaxDepth)
    fail(loc, "staged regions nest deeper than " + std::to_string(kMaxDepth) +
                  ": a function that calls itself on staged values never ends, use while_");
  if (graph_.scopes[scope()].kind == Scope::Combine)
    fail(loc, "a combine function may not contain staged control flow: use select");
  Scope opened;
  opened.kind = kind;
  opened.parent = scope();
  opened.opened = loc;
  graph_.scopes.push_back(std::move(opened));
  stack_.push_back(static_cast<ScopeId>(graph_.scopes.size() - 1));
  return stack_.back();
}

void Trace::close(ScopeId id) {
  throwPending();
  if (stack_.back() != id)
    fail(graph_.scopes[id].opened, "staged regions ended in another order than they began");
  graph_.scopes[id].closed = true;
  stack_.pop_back();
}

void Trace::abandon(ScopeId id) {
  while (isOpen(id)) {
    graph_.scopes[stack_.back()].closed = true;
    stack_.pop_back();
  }
}

bool Trace::encloses(ScopeId outer, ScopeId inner) const {
  while (inner != kNoScope && inner > outer)
    inner = graph_.scopes[inner].parent;
  return inner == outer;
}

std::string Trace::bindingText() const {
  std::string text = "in kernel '" + record_.name + "'";
  size_t count = 0;
  for (size_t i = 0; i < record_.params.size(); ++i) {
    if (record_.params[i].kind != detail::ParamSpec::Const || count >= binding_.consts.size())
      continue;
    std::string name = i < record_.paramNames.size() ? record_.paramNames[i] + "=" : "";
    text += (count ? ", " : " with constants ") + name + std::to_string(binding_.consts[count]);
    ++count;
  }
  return text;
}

void Trace::fail(Loc loc, std::string message, std::vector<std::string> notes,
                 ErrorCode code) const {
  notes.push_back(bindingText());
  throw Error(Fault::User, code, std::move(message), loc, std::move(notes));
}

void Trace::failLater(Loc loc, std::string message) {
  if (hasPending_)
    return;
  hasPending_ = true;
  pendingLoc_ = loc;
  pending_ = std::move(message);
}

void Trace::throwPending() const {
  if (hasPending_)
    fail(pendingLoc_, pending_);
}

static std::string madeAt(const Trace &trace, const char *what, const Arg &operand) {
  if (!operand.isStaged())
    return std::string(what) + " is a host number";
  if (operand.value().trace() != trace.id())
    return std::string(what) + " is of another trace";
  return std::string(what) + " made at " + text(trace.at(operand.value().node()).loc);
}

std::string madeNote(const Trace &trace, const Arg &lhs, const Arg &rhs) {
  return madeAt(trace, "lhs", lhs) + ", " + madeAt(trace, "rhs", rhs);
}

std::string madeNote(const Trace &trace, const char *what, const Value &value) {
  return madeAt(trace, what, Arg(value, Loc{}));
}

} // namespace tile::frontend
