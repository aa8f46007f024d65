#include "passes/pipelining/analysis/RingReaders.h"

#include "passes/pipelining/analysis/RingProtocol.h"

using namespace mlir;

namespace tile::passes {

namespace {

bool isOfPart(ArrayRef<Operation *> readers, const llvm::SetVector<Operation *> &part) {
  return llvm::any_of(readers, [&](Operation *reader) { return part.contains(reader); });
}

} // namespace

SmallVector<Operation *> readersOf(gpu::ConsumerWaitOp get, ValueRange tiles) {
  llvm::SetVector<Operation *> readers;
  auto add = [&](Operation *user) {
    if (Operation *op = get->getBlock()->findAncestorOpInBlock(*user))
      readers.insert(op);
  };
  for (Value tile : tiles)
    for (Operation *user : tile.getUsers()) {
      add(user);
      if (isa<gpu::DotAsyncOp>(user))
        for (Operation *wait : user->getUsers())
          if (isa<gpu::DotWaitOp>(wait))
            add(wait);
    }
  return readers.takeVector();
}

SmallVector<TilesOfReaders> ringsByReaders(gpu::ConsumerWaitOp get, const LoopSkew &skew) {
  bool isOne = !isFilledByTma(get.getRing().getDefiningOp<gpu::RingAllocOp>());
  SmallVector<TilesOfReaders> rings;
  for (auto [number, tile] : llvm::enumerate(get.getTiles())) {
    SmallVector<Operation *> readers = readersOf(get, isOne ? get.getTiles() : ValueRange(tile));
    bool isLedFrom = isOfPart(readers, skew.leading),
         isLaggedFrom = isOfPart(readers, skew.lagging);
    auto *ring = llvm::find_if(rings, [&](const TilesOfReaders &other) {
      return other.isLedFrom == isLedFrom && other.isLaggedFrom == isLaggedFrom;
    });
    if (ring == rings.end())
      ring = &rings.emplace_back(TilesOfReaders{isLedFrom, isLaggedFrom, {}});
    ring->tiles.push_back(static_cast<int32_t>(number));
  }
  return rings;
}

gpu::ConsumerWaitOp getOf(Value ring, scf::ForOp loop) {
  for (auto get : loop.getBody()->getOps<gpu::ConsumerWaitOp>())
    if (get.getRing() == ring)
      return get;
  return {};
}

} // namespace tile::passes
