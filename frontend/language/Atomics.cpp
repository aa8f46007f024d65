// Atomic operations. The IR has them on tiles alone: a scalar pointer becomes a tile of one.
#include "frontend/language/PointerOperands.h"
#include "frontend/language/ViewAccess.h"
#include "frontend/trace/DialectNumbers.h"
#include "frontend/trace/Trace.h"

#include <tile/Atomics.h>

#include <algorithm>

using namespace tile;
using namespace tile::frontend;

namespace {

using Kind = AtomicKind;

struct Operation {
  const char *name;
  Kind onSigned, onUnsigned;
  std::vector<DType> supported;
};

const std::vector<DType> kIntegers = {i32, u32, i64, u64};
const std::vector<DType> kWide = {i32, u32, i64, u64, f32, f64};
const std::vector<DType> kCas = {i16, u16, f16, bf16, i32, u32, i64, u64, f32, f64};
const std::vector<DType> kAll = {i32, u32, i64, u64, f16, bf16, f32, f64};

void checkSupported(Trace &trace, const char *name, const std::vector<DType> &supported, DType type,
                    const Value &place, Loc loc) {
  if (std::find(supported.begin(), supported.end(), type) != supported.end())
    return;
  std::string list;
  for (DType each : supported)
    list += std::string(list.empty() ? "" : ", ") + nameOf(each);
  trace.fail(loc, std::string(name) + ": there is none on " + nameOf(type) + "; supported: " + list,
             {madeNote(trace, "the place", place)}, ErrorCode::Unsupported);
}

/// Records an atomic on a tile; `values` are in the pointers' shape or, of a scalar, in {1}.
Value record(Trace &trace, const char *name, Node node, const Arg &pointer, const TileType &type,
             const std::vector<Value> &values, const Arg *mask, const AtomicOptions &options,
             Loc loc) {
  TileType tile{TileType::Data, type.dtype, type.isScalar() ? Shape{1} : type.shape};
  node.effect = Effect::Write;
  node.loc = loc;
  node.results = {tile};
  node.operands = {broadcastTo(trace, pointer.value(), tile.shape, loc).node()};
  for (const Value &value : values)
    node.operands.push_back(value.node());
  if (mask)
    node.operands.push_back(fitted(trace, name, "mask", *mask, i1, tile.shape, loc).node());
  node.attributes.push_back({Attribute::I32, "order", {static_cast<int64_t>(options.sem)}});
  node.attributes.push_back({Attribute::I32, "scope", {static_cast<int64_t>(options.scope)}});
  NodeId id = trace.memory(std::move(node), pointer.value());
  if (options.sem != MemorySem::relaxed)
    trace.graph().nodes[id].root = -1; // it orders accesses to all arguments
  Value result = trace.handle(trace.resultOf(id));
  if (!type.isScalar())
    return result;
  return reduce(
      Arg(result, loc), 0, [](Value only, Value) { return only; }, {}, loc);
}

Value update(const Operation &op, const Arg &pointer, const Arg &value, const Arg *mask,
             const AtomicOptions &options, Loc loc) {
  Trace &trace = Trace::current(loc);
  TileType type = pointerType(trace, op.name, pointer, loc);
  checkSupported(trace, op.name, op.supported, type.dtype, pointer.value(), loc);
  Shape shape = type.isScalar() ? Shape{1} : type.shape;
  Node node;
  node.name = "tile.atomic_rmw";
  Kind kind = isUnsigned(type.dtype) ? op.onUnsigned : op.onSigned;
  node.attributes = {{Attribute::I32, "kind", {static_cast<int64_t>(kind)}}};
  if (options.evict != Evict::normal && type.dtype == bf16)
    trace.fail(loc, std::string(op.name) +
                        ": bf16 is added by compare-and-swap, which takes no eviction priority");
  if (options.evict != Evict::normal)
    node.attributes.push_back({Attribute::I32, "evict", {static_cast<int64_t>(options.evict)}});
  Value fit = fitted(trace, op.name, "value", value, type.dtype, shape, loc);
  return record(trace, op.name, std::move(node), pointer, type, {fit}, mask, options, loc);
}

Value compareAndSwap(const Arg &pointer, const Arg &expected, const Arg &desired, const Arg *mask,
                     const AtomicOptions &options, Loc loc) {
  constexpr const char *kName = "atomic_cas";
  Trace &trace = Trace::current(loc);
  TileType type = pointerType(trace, kName, pointer, loc);
  checkSupported(trace, kName, kCas, type.dtype, pointer.value(), loc);
  if (options.evict != Evict::normal)
    trace.fail(loc, "atomic_cas: compare-and-swap takes no eviction priority");
  Shape shape = type.isScalar() ? Shape{1} : type.shape;
  Node node;
  node.name = "tile.atomic_cas";
  Value from = fitted(trace, kName, "expected value", expected, type.dtype, shape, loc),
        to = fitted(trace, kName, "desired value", desired, type.dtype, shape, loc);
  return record(trace, kName, std::move(node), pointer, type, {from, to}, mask, options, loc);
}

const Operation kAdd = {"atomic_add", Kind::Add, Kind::Add, kAll};
const Operation kMin = {"atomic_min", Kind::Min, Kind::UMin, kWide};
const Operation kMax = {"atomic_max", Kind::Max, Kind::UMax, kWide};
const Operation kAnd = {"atomic_and", Kind::And, Kind::And, kIntegers};
const Operation kOr = {"atomic_or", Kind::Or, Kind::Or, kIntegers};
const Operation kXor = {"atomic_xor", Kind::Xor, Kind::Xor, kIntegers};
const Operation kXchg = {"atomic_xchg", Kind::Xchg, Kind::Xchg, kWide};

} // namespace

void detail::addAt(const TileAccess &access, const Offsets &offsets, const Arg &value) {
  Loc loc = value.loc();
  Trace &trace = Trace::current(loc);
  Value view = viewOf(trace, access, loc);
  checkSupported(trace, kAdd.name, kAdd.supported, trace.type(view, loc).dtype, view, loc);
  if (access.hints != AccessOptions())
    trace.fail(loc, "atomic_add: an addition to a view takes no hints");
  Node node = storeOf(trace, kAdd.name, access, offsets, value);
  node.attributes.push_back({Attribute::Unit, "adds", {}});
  trace.memory(std::move(node), view);
}

Value tile::atomic_add(Arg pointer, Arg value, Arg mask, AtomicOptions options, Loc loc) {
  return update(kAdd, pointer, value, &mask, options, loc);
}
Value tile::atomic_add(Arg pointer, Arg value, AtomicOptions options, Loc loc) {
  return update(kAdd, pointer, value, nullptr, options, loc);
}
Value tile::atomic_min(Arg pointer, Arg value, Arg mask, AtomicOptions options, Loc loc) {
  return update(kMin, pointer, value, &mask, options, loc);
}
Value tile::atomic_min(Arg pointer, Arg value, AtomicOptions options, Loc loc) {
  return update(kMin, pointer, value, nullptr, options, loc);
}
Value tile::atomic_max(Arg pointer, Arg value, Arg mask, AtomicOptions options, Loc loc) {
  return update(kMax, pointer, value, &mask, options, loc);
}
Value tile::atomic_max(Arg pointer, Arg value, AtomicOptions options, Loc loc) {
  return update(kMax, pointer, value, nullptr, options, loc);
}
Value tile::atomic_and(Arg pointer, Arg value, Arg mask, AtomicOptions options, Loc loc) {
  return update(kAnd, pointer, value, &mask, options, loc);
}
Value tile::atomic_and(Arg pointer, Arg value, AtomicOptions options, Loc loc) {
  return update(kAnd, pointer, value, nullptr, options, loc);
}
Value tile::atomic_or(Arg pointer, Arg value, Arg mask, AtomicOptions options, Loc loc) {
  return update(kOr, pointer, value, &mask, options, loc);
}
Value tile::atomic_or(Arg pointer, Arg value, AtomicOptions options, Loc loc) {
  return update(kOr, pointer, value, nullptr, options, loc);
}
Value tile::atomic_xor(Arg pointer, Arg value, Arg mask, AtomicOptions options, Loc loc) {
  return update(kXor, pointer, value, &mask, options, loc);
}
Value tile::atomic_xor(Arg pointer, Arg value, AtomicOptions options, Loc loc) {
  return update(kXor, pointer, value, nullptr, options, loc);
}
Value tile::atomic_xchg(Arg pointer, Arg value, Arg mask, AtomicOptions options, Loc loc) {
  return update(kXchg, pointer, value, &mask, options, loc);
}
Value tile::atomic_xchg(Arg pointer, Arg value, AtomicOptions options, Loc loc) {
  return update(kXchg, pointer, value, nullptr, options, loc);
}
Value tile::atomic_cas(Arg pointer, Arg expected, Arg desired, Arg mask, AtomicOptions options,
                       Loc loc) {
  return compareAndSwap(pointer, expected, desired, &mask, options, loc);
}
Value tile::atomic_cas(Arg pointer, Arg expected, Arg desired, AtomicOptions options, Loc loc) {
  return compareAndSwap(pointer, expected, desired, nullptr, options, loc);
}
