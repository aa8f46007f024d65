#include "passes/registers/RegisterWords.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/instructions/LayoutChange.h"
#include "ir/instructions/Mma.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tile::passes {

namespace {

bool isTile(Value value) { return isa<RankedTensorType>(gpu::tileOf(value.getType())); }

bool onlyRenames(Operation *op) {
  if (auto change = dyn_cast<gpu::ConvertLayoutOp>(op)) {
    layout::ConversionKind kind = gpu::planOf(change).kind;
    return kind == layout::ConversionKind::Identity ||
           kind == layout::ConversionKind::RegisterPermutation;
  }
  return isa<gpu::SubtileOp, gpu::FromSubtilesOp, ir::SplatOp, ir::BroadcastOp, ir::ExpandDimsOp,
             ir::ReshapeOp, ir::PermuteOp, ir::MakeViewOp, ir::FactsOp, ir::ItemOp,
             gpu::SmemStageOp, gpu::DotBeginOp>(op);
}

bool isElementwise(Operation *op) {
  return isa_and_present<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
         isa<ir::ConvertOp>(op);
}

/// Does the one user of a tile take it element by element, where it is made?
bool isFused(Operation *op) {
  if (!isElementwise(op) || !op->hasOneUse() || !isTile(op->getResult(0)))
    return false;
  Operation *user = *op->user_begin();
  return user->getBlock() == op->getBlock() &&
         (isElementwise(user) ||
          isa<ir::ReduceOp, gpu::ReducePartialOp, gpu::SmemStoreOp, ir::ViewStoreOp>(user));
}

// --- Words -----------------------------------------------------------------------------------------------------------

int64_t wordsOfElements(Type element, int64_t count) {
  constexpr int64_t kPredicatesPerWord =
      8; // as the assembler packs those that it has no predicate registers for
  if (element.isInteger(1))
    return count > 1 ? llvm::divideCeil(count, kPredicatesPerWord) : 0;
  if (isa<ir::PtrType>(element))
    return 2 * count;
  return element.isIntOrFloat() ? llvm::divideCeil(count * element.getIntOrFloatBitWidth(), 32) : 0;
}

// Elements that a thread holds, each once.
int64_t elementsOf(RankedTensorType tile) {
  layout::Layout layout = gpu::layoutOf(tile);
  return layout.numRegisters() >> llvm::popcount(layout.freeMask(layout::In::Register));
}

/// How a product takes a tile of fragments.
struct Consumption {
  int64_t steps = 0; ///< along K, one after the other; 0 if it holds all of the tile
  bool runsAhead =
      false; ///< the next step's are loaded meanwhile: not if they are rounded on their way, or sums are few
};

// Is each element of the result made of one of each operand's?
bool keepsElements(Operation *op) {
  return isElementwise(op) || isa_and_present<ir::PermuteOp>(op);
}

// Are the fragments of a step along K as many words as the sums of a thread? Then there is as much
// to load as to multiply, and the assembler does not load ahead.
bool haveFewSums(ir::DotOp dot, int64_t steps) {
  auto wordsOf = [](Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    return wordsOfElements(type.getElementType(), elementsOf(type));
  };
  return (wordsOf(dot.getA()) + wordsOf(dot.getB())) / steps >= wordsOf(dot.getAcc());
}

// What several products take stays to the last of them: they add to the same sums one after the
// other.
Consumption consumptionOf(Value tile) {
  while (tile.hasOneUse()) {
    OpOperand &use = *tile.use_begin();
    Operation *user = use.getOwner();
    if (user->getBlock() != tile.getParentBlock())
      break;
    if (keepsElements(user)) {
      tile = user->getResult(0);
      continue;
    }
    auto dot = dyn_cast<ir::DotOp>(user);
    auto mma = dot && use.getOperandNumber() < 2 ? ir::findMma(dot) : std::nullopt;
    if (!mma)
      break;
    int64_t steps = cast<RankedTensorType>(dot.getA().getType()).getShape().back() / mma->shape.k;
    return {steps, mma->a != "tf32" && !haveFewSums(dot, steps)};
  }
  return {};
}

// Is the tile made, element by element, of what is loaded from shared memory in the same block?
bool isLoadedInBlock(Value tile) {
  llvm::SetVector<Operation *> makers;
  makers.insert(tile.getDefiningOp());
  for (size_t i = 0; i < makers.size(); ++i) {
    Operation *op = makers[i];
    if (!op || op->getBlock() != tile.getParentBlock())
      continue;
    if (isa<gpu::SmemLoadOp>(op))
      return true;
    if (keepsElements(op))
      for (Value operand : op->getOperands())
        makers.insert(operand.getDefiningOp());
  }
  return false;
}

// Registers of the results of a reduction that a load is for alone, and which combines the elements
// as they arrive; nothing if it is for anything else.
std::optional<int64_t> elementsReducedTo(Value loaded) {
  if (!isa_and_present<gpu::SmemLoadOp, ir::ViewLoadOp>(loaded.getDefiningOp()))
    return std::nullopt;
  for (Value tile = loaded; tile.hasOneUse();) {
    Operation *user = *tile.user_begin();
    if (user->getBlock() != loaded.getParentBlock())
      return std::nullopt;
    if (isElementwise(user)) {
      tile = user->getResult(0);
      continue;
    }
    if (!isa<ir::ReduceOp, gpu::ReducePartialOp>(user))
      return std::nullopt;
    auto result = dyn_cast<RankedTensorType>(user->getResult(0).getType());
    return result ? elementsOf(result) : 1;
  }
  return std::nullopt;
}

// Elements that are loaded one by one arrive in a register each, however narrow.
bool isLoadedSingly(Value tile) {
  auto load = tile.getDefiningOp<ir::ViewLoadOp>();
  gpu::AccessAttr access = load ? gpu::accessOf(load) : gpu::AccessAttr();
  return access && access.getVector() == 1;
}

Words findWords(Value root) {
  auto tile = dyn_cast<RankedTensorType>(gpu::tileOf(root.getType()));
  if (!tile)
    return {wordsOfElements(root.getType(), 1)};
  int64_t count = elementsOf(tile), words = wordsOfElements(tile.getElementType(), count);
  if (isLoadedSingly(root))
    words = std::max(words, count);
  if (std::optional<int64_t> reduced = elementsReducedTo(root); reduced && *reduced < count) {
    int64_t combined = words * *reduced / count;
    return {combined, 0, words - combined};
  }
  Consumption consumption = consumptionOf(root);
  if (consumption.steps <= 1 || !isLoadedInBlock(root))
    return {words};
  int64_t step = words / consumption.steps;
  return {step, 0, consumption.runsAhead ? step : 0};
}

} // namespace

Words RegisterWords::wordsOf(Value root) {
  auto [entry, isNew] = words_.try_emplace(root);
  if (isNew)
    entry->second = findWords(root);
  return entry->second;
}

// --- Roots -----------------------------------------------------------------------------------------------------------

ArrayRef<Value> RegisterWords::rootsOf(Value value) {
  if (auto known = roots_.find(value); known != roots_.end())
    return known->second;
  Roots found = findRoots(value);
  return roots_[value] = std::move(found);
}

RegisterWords::Roots RegisterWords::rootsOfOperands(Operation *op) {
  Roots all;
  for (Value operand : op->getOperands())
    for (Value root : rootsOf(operand))
      if (!llvm::is_contained(all, root))
        all.push_back(root);
  return all;
}

bool RegisterWords::isRecomputed(Operation *op) {
  return isElementwise(op) && isTile(op->getResult(0)) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return llvm::none_of(rootsOf(operand), isTile); });
}

RegisterWords::Roots RegisterWords::findRoots(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) { // parameters of a kernel are in constant memory, which instructions read
    Operation *parent = value.getParentBlock()->getParentOp();
    return isa<func::FuncOp>(parent) ? Roots() : Roots{value};
  }
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<ir::ArangeOp, gpu::SmemAllocOp>(op))
    return {};
  if (onlyRenames(op) || isRecomputed(op) || isFused(op))
    return rootsOfOperands(op);
  if (auto wait = dyn_cast<gpu::DotWaitOp>(op)) { // factors in registers are free now
    ArrayRef<Value> ofSums = rootsOf(wait.getSums());
    return ofSums.empty() ? Roots() : Roots{ofSums.front()};
  }
  Roots own = {value};
  if (auto dot =
          dyn_cast<gpu::DotAsyncOp>(op)) // factors in registers stay there while it is under way
    llvm::append_range(own, Roots(rootsOf(dot.getA())));
  return own;
}

} // namespace tile::passes
