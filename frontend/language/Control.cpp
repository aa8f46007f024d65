// Staged loops over ranges: open a scope, run the user's C++ once, close the scope, and turn the
// variables written in it into carried values.
#include <tile/Control.h>

#include "frontend/language/Promotion.h"
#include "frontend/trace/Regions.h"

#include <exception>

using namespace tile;
using namespace tile::frontend;

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

Range Range::no_licm() const {
  Range result(*this);
  result.licm_ = false;
  return result;
}

Range Range::flatten() const {
  Range result(*this);
  result.flatten_ = true;
  return result;
}

Range Range::overlap_dots() const {
  Range result(*this);
  result.rotate_ = true;
  return result;
}

Range Range::warp_specialize() const {
  Range result(*this);
  result.specialize_ = true;
  return result;
}

Range Range::ping_pong() const {
  Range result(*this);
  result.pingPong_ = true;
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

static bool countsDown(const Arg &step) { return !step.isStaged() && step.asInt() < 0; }

// How often a loop from lo down to hi runs, as an unsigned number: with all numbers of the type between its bounds it may have
// more rounds than the type has positive numbers.
static Value roundsDown(Trace &trace, const Value &lo, const Value &hi, int64_t down, Loc loc) {
  TileType scalar = trace.type(lo, loc);
  auto op = [&](const char *name, const Value &a, const Value &b) {
    return trace.op(name, scalar, {a, b}, loc);
  };
  Value span = op("arith.subi", op("arith.maxsi", lo, hi), hi);
  if (down == 1)
    return span;
  Value any = op("arith.minui", span, trace.integer(scalar.dtype, 1, loc));
  Value rest = op("arith.subi", span, any);
  return op("arith.addi", op("arith.divui", rest, trace.integer(scalar.dtype, down, loc)), any);
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
  if (countsDown(step_)) {
    // scf.for only counts up: count the rounds, and derive the index from them.
    hi = roundsDown(trace, lo, hi, -step_.asInt(), loc_);
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
  if (countsDown(step_))
    index_ =
        (Arg(first, loc_) + Arg(Arg(trace.handle(index_), loc_) * Arg(step, loc_), loc_)).node();
  return Iterator(this);
}

Value Range::Iterator::operator*() const { return Value(range_->trace_, range_->index_); }

void Range::close() {
  Trace &trace = Trace::current(loc_);
  open_ = false;
  ScopeGuard guard(trace, scope_);
  closeGuards(trace, scope_);
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
  if (int stages = stages_ ? stages_ : trace.stages)
    loop.attributes.push_back({Attribute::I32, "tile.stages", {stages}});
  if (unroll_)
    loop.attributes.push_back({Attribute::I32, "tile.unroll", {unroll_}});
  if (!licm_)
    loop.attributes.push_back({Attribute::Unit, "tile.no_licm", {}});
  if (flatten_)
    loop.attributes.push_back({Attribute::Unit, "tile.flatten", {}});
  if (rotate_)
    loop.attributes.push_back({Attribute::Unit, "tile.overlap_dots", {}});
  if (specialize_)
    loop.attributes.push_back({Attribute::Unit, "tile.warp_specialize", {}});
  if (countsDown(step_))
    loop.attributes.push_back({Attribute::Unit, "unsignedCmp", {}});
  if (pingPong_)
    loop.attributes.push_back({Attribute::Unit, "tile.ping_pong", {}});
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
