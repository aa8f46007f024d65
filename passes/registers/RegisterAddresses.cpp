#include "passes/registers/RegisterAddresses.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/LoopAnnotations.h"
#include "ir/instructions/AsyncCopy.h"
#include "ir/layout/SharedAccess.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <set>

using namespace mlir;

namespace tile::passes {

namespace {

/// An address of global memory has 64 bits, one of shared memory 32.
constexpr int64_t kGlobalWords = 2;
/// Of the seven predicate registers, those that hold what is known of positions; what finds no
/// place there takes a word.
constexpr int64_t kPredicates = 6;

bool isUnit(Value stride) {
  APInt constant;
  return matchPattern(stride, m_ConstantInt(&constant)) && constant.isOne();
}

/// Words of one address for each place that differs along a dimension whose stride shows at run
/// time: along others the distance is part of the instruction.
int64_t globalWords(Value view, const layout::Layout &layout) {
  auto made = view.getDefiningOp<ir::MakeViewOp>();
  if (!made)
    return kGlobalWords;
  std::set<layout::Coords> places;
  for (int32_t reg = 0; reg < layout.numRegisters(); ++reg) {
    layout::Coords at = layout.apply(reg);
    for (auto [dim, stride] : llvm::enumerate(made.getStrides()))
      if (isUnit(stride))
        at[dim] = 0;
    places.insert(at);
  }
  return kGlobalWords * static_cast<int64_t>(places.size());
}

/// One address for each pattern of bits that registers and threads both toggle; what threads leave
/// alone is part of the instruction.
int64_t sharedWords(const layout::Layout &layout, gpu::SmemType memory) {
  layout::SharedLayout shared = gpu::sharedOf(memory).leadingPart(layout.shape());
  std::optional<layout::SharedAddress> address = layout::sharedAddress(layout, shared);
  if (!address)
    return 1;
  int64_t ofThreads = address->threadToggleBits();
  std::set<int64_t> patterns;
  for (const layout::VectorGroup &group : layout::vectorGroups(
           layout, shared, static_cast<int>(gpu::bytesOf(memory.getElementType()))))
    patterns.insert(address->registers[group.front()].toggle & ofThreads);
  return static_cast<int64_t>(patterns.size());
}

// --- Bounds ----------------------------------------------------------------------------------------------------------

/// How threads ask whether positions are inside: accesses that agree share the answers.
struct Checks {
  layout::Layout layout;
  gpu::AccessAttr access;
  ValueRange offsets;

  bool operator==(const Checks &other) const {
    return layout == other.layout && access == other.access && llvm::equal(offsets, other.offsets);
  }
};

std::optional<Checks> checksOf(Operation *op) {
  gpu::AccessAttr access = gpu::accessOf(op);
  if (auto load = dyn_cast<ir::ViewLoadOp>(op); load && access)
    return Checks{gpu::layoutOf(load.getResult().getType()), access, load.getOffsets()};
  if (auto store = dyn_cast<ir::ViewStoreOp>(op); store && access)
    return Checks{gpu::layoutOf(store.getValue().getType()), access, store.getOffsets()};
  return std::nullopt;
}

/// Positions of a thread's vectors that are asked about, along the dimensions whose offset
/// `isFixed`.
int64_t positionsOf(const Checks &checks, llvm::function_ref<bool(Value)> isFixed) {
  int32_t vector = std::min<int32_t>(checks.layout.consecutiveElements(checks.access.getOrder()[0]),
                                     checks.access.getVector());
  std::set<layout::Coords> positions;
  bool isAsked = false;
  for (int32_t reg = 0; reg < checks.layout.numRegisters(); reg += vector) {
    layout::Coords at = checks.layout.apply(reg);
    for (auto [dim, offset] : llvm::enumerate(checks.offsets))
      if (checks.access.getBounds()[dim] == gpu::Bounds::EachElement && isFixed(offset))
        isAsked = true;
      else
        at[dim] = 0;
    positions.insert(at);
  }
  return isAsked ? static_cast<int64_t>(positions.size()) : 0;
}

Words wordsOfPositions(int64_t positions) {
  return {0, std::max<int64_t>(0, positions - kPredicates), 0};
}

} // namespace

static Words addressWords(Value view, const layout::Layout &inView) {
  return {kGlobalWords, globalWords(view, inView) - kGlobalWords, 0};
}

static Words addressWords(gpu::SmemType memory, const layout::Layout &layout) {
  return {0, 0, sharedWords(layout, memory)};
}

Words addressWordsOf(Operation *op) {
  if (auto copy = dyn_cast<gpu::CopyAsyncOp>(op)) {
    gpu::SmemType memory = copy.getSmem().getType();
    auto plan = gpu::planAsyncCopy(op, copy.getShape(), memory, ir::warpsOf(op));
    if (!plan)
      return {};
    Words words = addressWords(copy.getView(), plan->inView);
    return words += addressWords(memory, plan->inMemory);
  }
  if (auto load = dyn_cast<ir::ViewLoadOp>(op))
    return addressWords(load.getView(), gpu::layoutOf(load.getResult().getType()));
  if (auto store = dyn_cast<ir::ViewStoreOp>(op))
    return addressWords(store.getView(), gpu::layoutOf(store.getValue().getType()));
  if (auto load = dyn_cast<gpu::SmemLoadOp>(op))
    return addressWords(load.getSmem().getType(), gpu::layoutOf(load.getResult().getType()));
  if (auto store = dyn_cast<gpu::SmemStoreOp>(op))
    return addressWords(store.getSmem().getType(), gpu::layoutOf(store.getValue().getType()));
  return {};
}

// What a pass ends with is computed where it does, not kept through its iterations.
Words accessWordsOf(Operation *loop) {
  Words words;
  std::vector<Checks> known;
  int64_t positions = 0;
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != loop && gpu::tileStepOf(op) == gpu::TileStep::Last)
      return WalkResult::skip();
    words += addressWordsOf(op);
    std::optional<Checks> checks = checksOf(op);
    if (!checks || llvm::is_contained(known, *checks))
      return WalkResult::advance();
    known.push_back(*checks);
    positions += positionsOf(*checks, [&](Value offset) {
      return !loop->isAncestor(offset.getParentBlock()->getParentOp());
    });
    return WalkResult::advance();
  });
  return words += wordsOfPositions(positions);
}

Words checkWordsOf(func::FuncOp kernel) {
  std::vector<Checks> once, shared;
  kernel.walk([&](Operation *op) {
    std::optional<Checks> checks = checksOf(op);
    if (!checks || op->getParentOfType<LoopLikeOpInterface>())
      return;
    bool isKnown = llvm::is_contained(once, *checks);
    if (isKnown && !llvm::is_contained(shared, *checks))
      shared.push_back(*checks);
    else if (!isKnown)
      once.push_back(*checks);
  });
  int64_t positions = 0;
  for (const Checks &checks : shared)
    positions += positionsOf(checks, [](Value) { return true; });
  return wordsOfPositions(positions);
}

} // namespace tile::passes
