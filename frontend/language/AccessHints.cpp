#include "frontend/language/AccessHints.h"

namespace tile::frontend {

void checkHints(Trace &trace, const char *what, const AccessOptions &hints, bool isLoad, Loc loc) {
  static constexpr const char *kNames[] = {"any", "ca", "cg", "cs", "cv", "wb", "wt"};
  bool isOfStores = hints.cache == Cache::wb || hints.cache == Cache::wt,
       isOfLoads = hints.cache == Cache::ca || hints.cache == Cache::cv;
  std::string name = std::string(what) + ": ";
  if (isLoad ? isOfStores : isOfLoads)
    trace.fail(loc, name + "the cache mode " + kNames[static_cast<int>(hints.cache)] + " is for " +
                        (isLoad ? "stores" : "loads"));
  if (hints.cache != Cache::any && hints.evict != Evict::normal)
    trace.fail(loc, name + "give a cache mode or an eviction priority, not both");
  if (hints.is_volatile && (hints.cache != Cache::any || hints.evict != Evict::normal))
    trace.fail(loc, name + "a volatile access takes no cache mode and no eviction priority");
  if (hints.copy == CopyBy::cp_async && !isLoad)
    trace.fail(loc, name + "copy = cp_async is for loads");
  if (hints.copy == CopyBy::quad && isLoad)
    trace.fail(loc, name + "copy = quad is for stores");
}

void addHints(Node &node, const AccessOptions &hints) {
  if (hints.cache != Cache::any)
    node.attributes.push_back({Attribute::I32, "cache", {static_cast<int64_t>(hints.cache)}});
  if (hints.evict != Evict::normal)
    node.attributes.push_back({Attribute::I32, "evict", {static_cast<int64_t>(hints.evict)}});
  if (hints.copy != CopyBy::any)
    node.attributes.push_back({Attribute::I32, "tile.variant", {static_cast<int64_t>(hints.copy)}});
  if (hints.is_volatile)
    node.attributes.push_back({Attribute::Unit, "isVolatile", {}});
}

Value recordLoad(Trace &trace, Node load, const Value &address, const AccessOptions &hints) {
  if (!hints.is_volatile)
    return trace.handle(trace.memory(std::move(load), address));
  load.effect = Effect::Write;
  load.results = {load.type};
  return trace.handle(trace.resultOf(trace.memory(std::move(load), address)));
}

} // namespace tile::frontend
