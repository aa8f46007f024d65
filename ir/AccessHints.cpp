// A volatile access is an effect of its own: neither merged with another nor left out.
#include "ir/AccessHints.h"

using namespace mlir;
using namespace tile::ir;

LogicalResult tile::ir::verifyHints(Operation *op, CacheMode cache, Eviction evict, bool isVolatile,
                                    bool isLoad) {
  using Mode = CacheMode;
  bool isOfStores = cache == Mode::Wb || cache == Mode::Wt,
       isOfLoads = cache == Mode::Ca || cache == Mode::Cv;
  if (isLoad ? isOfStores : isOfLoads)
    return op->emitOpError("cache mode ")
           << stringifyCacheMode(cache) << " is for " << (isLoad ? "stores" : "loads");
  if (cache != Mode::Default && evict != Eviction::Normal)
    return op->emitOpError("takes a cache mode or an eviction priority, not both");
  if (isVolatile && (cache != Mode::Default || evict != Eviction::Normal))
    return op->emitOpError("is volatile, so it takes no cache mode and no eviction priority");
  return success();
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffects(Effects &effects, bool reads, bool writes) {
  if (reads)
    effects.emplace_back(MemoryEffects::Read::get());
  if (writes)
    effects.emplace_back(MemoryEffects::Write::get());
}

void LoadOp::getEffects(Effects &effects) { addEffects(effects, true, getIsVolatile()); }
void ViewLoadOp::getEffects(Effects &effects) { addEffects(effects, true, getIsVolatile()); }
void InlinePtxOp::getEffects(Effects &effects) { addEffects(effects, !getPure(), !getPure()); }
void InlineCudaOp::getEffects(Effects &effects) { addEffects(effects, !getPure(), !getPure()); }
