// Loads and stores through pointer tiles.
#include "frontend/language/AccessHints.h"
#include "frontend/language/PointerOperands.h"
#include "frontend/trace/Trace.h"

using namespace tile;
using namespace tile::frontend;

TileType tile::frontend::pointerType(Trace &trace, const char *op, const Arg &pointer, Loc loc) {
  if (!pointer.isStaged())
    trace.fail(loc, std::string(op) + ": needs a pointer, got a host number");
  TileType type = trace.type(pointer.value(), loc);
  if (type.category != TileType::Pointer)
    trace.fail(loc,
               std::string(op) + ": needs a pointer or a tile of pointers, got " + type.str() +
                   "; use view.ptr() + offsets, or view.tile(...)(...)",
               {madeNote(trace, "it was", pointer.value())});
  return type;
}

Value tile::frontend::fitted(Trace &trace, const char *op, const char *what, const Arg &operand,
                             DType dtype, const Shape &shape, Loc loc) {
  checkData(trace, op, operand, loc);
  if (!operand.isStaged())
    return convertTo(trace, dtype, operand, op, loc, shape);
  TileType type = trace.type(operand.value(), loc);
  if (type.dtype != dtype)
    trace.fail(loc,
               std::string(op) + ": the " + what + " must be " + nameOf(dtype) + ", got " +
                   nameOf(type.dtype) + ": write cast(" + nameOf(dtype) + ", ...)",
               {madeNote(trace, what, operand.value())});
  Arg like(trace.integer(i1, 0, loc, shape), loc);
  if (commonShape(trace, op, {&like, &operand}, loc) != shape)
    trace.fail(loc,
               std::string(op) + ": the " + what + " is " + type.shape.str() +
                   ", the pointers are " + shape.str(),
               {madeNote(trace, what, operand.value())}, ErrorCode::InvalidShape);
  return broadcastTo(trace, operand.value(), shape, loc);
}

namespace {

Value loadFrom(const Arg &pointer, const Arg *mask, const Arg *other, const AccessOptions &options,
               Loc loc) {
  Trace &trace = Trace::current(loc);
  checkHints(trace, "load", options, /*isLoad=*/true, loc);
  TileType type = pointerType(trace, "load", pointer, loc);
  Node node;
  node.name = "tile.load";
  node.effect = Effect::Read;
  node.loc = loc;
  node.type = {TileType::Data, type.dtype, type.shape};
  node.operands = {trace.use(pointer.value(), loc)};
  if (mask)
    node.operands.push_back(fitted(trace, "load", "mask", *mask, i1, type.shape, loc).node());
  if (other)
    node.operands.push_back(
        fitted(trace, "load", "other", *other, type.dtype, type.shape, loc).node());
  node.attributes = {
      {Attribute::I32Array, "operandSegmentSizes", {1, mask ? 1 : 0, other ? 1 : 0}}};
  addHints(node, options);
  return recordLoad(trace, std::move(node), pointer.value(), options);
}

void storeTo(const Arg &pointer, const Arg &value, const Arg *mask, const AccessOptions &options,
             Loc loc) {
  Trace &trace = Trace::current(loc);
  checkHints(trace, "store", options, /*isLoad=*/false, loc);
  TileType type = pointerType(trace, "store", pointer, loc);
  Node node;
  node.name = "tile.store";
  node.effect = Effect::Write;
  node.loc = loc;
  NodeId stored = fitted(trace, "store", "value", value, type.dtype, type.shape, loc).node();
  node.operands = {stored, trace.use(pointer.value(), loc)};
  if (mask)
    node.operands.push_back(fitted(trace, "store", "mask", *mask, i1, type.shape, loc).node());
  addHints(node, options);
  trace.memory(std::move(node), pointer.value());
}

void prefetchFrom(const Arg &pointer, const Arg *mask, int level, Loc loc) {
  Trace &trace = Trace::current(loc);
  TileType type = pointerType(trace, "prefetch", pointer, loc);
  if (level != 1 && level != 2)
    trace.fail(loc, "prefetch: the level must be 1 or 2, got " + std::to_string(level));
  if (trace.graph().scopes[trace.scope()].kind == Scope::Combine)
    trace.fail(loc, "prefetch: not in a combine function");
  Node node;
  node.name = "tile.prefetch";
  node.effect = Effect::Write;
  node.loc = loc;
  node.operands = {trace.use(pointer.value(), loc)};
  if (mask)
    node.operands.push_back(fitted(trace, "prefetch", "mask", *mask, i1, type.shape, loc).node());
  node.attributes = {{Attribute::I32, "level", {level}}};
  trace.add(std::move(node));
}

} // namespace

Value tile::load(Arg pointer, Arg mask, Arg other, AccessOptions options, Loc loc) {
  return loadFrom(pointer, &mask, &other, options, loc);
}
Value tile::load(Arg pointer, Arg mask, AccessOptions options, Loc loc) {
  return loadFrom(pointer, &mask, nullptr, options, loc);
}
Value tile::load(Arg pointer, AccessOptions options, Loc loc) {
  return loadFrom(pointer, nullptr, nullptr, options, loc);
}
void tile::store(Arg pointer, Arg value, Arg mask, AccessOptions options, Loc loc) {
  storeTo(pointer, value, &mask, options, loc);
}
void tile::store(Arg pointer, Arg value, AccessOptions options, Loc loc) {
  storeTo(pointer, value, nullptr, options, loc);
}
void tile::prefetch(Arg pointer, Arg mask, int level, Loc loc) {
  prefetchFrom(pointer, &mask, level, loc);
}
void tile::prefetch(Arg pointer, int level, Loc loc) { prefetchFrom(pointer, nullptr, level, loc); }

TargetInfo tile::target() { return Trace::current({}).binding().target; }

void tile::require(bool condition, const char *message, Loc loc) {
  if (!condition)
    Trace::current(loc).fail(loc, message);
}
