#include "passes/analysis/DotChains.h"

#include "ir/LayoutOp.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

#include <numeric>

using namespace mlir;

namespace tile::passes {

namespace {

/// Index i of the tile along `dim` depends on row i of a product's result, and on no other row.
struct Origin {
  Operation *dot;
  int32_t dim;
  bool isReduced; ///< on the row as a whole, not on the element in the tile's place

  bool operator==(const Origin &) const = default;
};
using Origins = SmallVector<Origin, 2>;

int32_t rowDim(ir::DotOp dot) { return dot.isBatched() ? 1 : 0; }

/// The dimension of `to` whose indices are those of `dim` of `from`, when elements keep their
/// row-major order; -1 if there is none.
int32_t dimAfterReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to, int32_t dim) {
  auto inner = [](ArrayRef<int64_t> shape, int32_t dim) {
    ArrayRef<int64_t> after = shape.drop_front(dim + 1);
    return std::accumulate(after.begin(), after.end(), int64_t(1), std::multiplies<>());
  };
  for (int32_t candidate = 0; candidate < static_cast<int32_t>(to.size()); ++candidate)
    if (to[candidate] == from[dim] && inner(to, candidate) == inner(from, dim))
      return candidate;
  return -1;
}

/// What an operation that keeps rows apart makes of an origin of its operand; nothing if it mixes
/// the rows.
std::optional<Origin> throughOp(Operation *op, Origin origin) {
  auto moved = [&](int32_t dim) { return Origin{origin.dot, dim, origin.isReduced}; };
  if (gpu::isElementwiseOnTiles(op) || isa<ir::BroadcastOp>(op))
    return origin;
  if (auto expand = dyn_cast<ir::ExpandDimsOp>(op))
    return moved(origin.dim + (static_cast<int32_t>(expand.getAxis()) <= origin.dim));
  if (auto permute = dyn_cast<ir::PermuteOp>(op)) {
    ArrayRef<int32_t> order = permute.getOrder();
    return moved(static_cast<int32_t>(llvm::find(order, origin.dim) - order.begin()));
  }
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op)) {
    int32_t dim = dimAfterReshape(ir::shapeOf(reshape.getInput().getType()),
                                  ir::shapeOf(reshape.getResult().getType()), origin.dim);
    return dim < 0 ? std::nullopt : std::optional(moved(dim));
  }
  if (auto reduce = dyn_cast<ir::ReduceOp>(op)) {
    auto axis = static_cast<int32_t>(reduce.getAxis());
    if (axis == origin.dim)
      return std::nullopt;
    return Origin{origin.dot, origin.dim - (axis < origin.dim), true};
  }
  if (auto scan = dyn_cast<ir::ScanOp>(op);
      scan && static_cast<int32_t>(scan.getAxis()) != origin.dim)
    return Origin{origin.dot, origin.dim, true};
  return std::nullopt;
}

/// Which products' rows each tile of a function depends on.
class RowOrigins {
public:
  explicit RowOrigins(func::FuncOp function) {
    do {
      changed_ = false;
      function.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
    } while (changed_); // what loops carry reaches what stands before it
  }

  ArrayRef<Origin> of(Value value) const {
    auto found = origins_.find(value);
    return found == origins_.end() ? ArrayRef<Origin>() : ArrayRef<Origin>(found->second);
  }

private:
  void add(Value value, Origin origin) {
    if (!isa<RankedTensorType>(value.getType()) || llvm::is_contained(of(value), origin))
      return;
    origins_[value].push_back(origin);
    changed_ = true;
  }

  void flow(Value from, Value to) {
    for (Origin origin : Origins(of(from)))
      add(to, origin);
  }

  void flow(ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip_equal(from, to))
      flow(source, target);
  }

  void visit(Operation *op) {
    if (auto dot = dyn_cast<ir::DotOp>(op))
      return add(dot.getResult(), {dot, rowDim(dot), false});
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      flow(loop.getInitArgs(), loop.getRegionIterArgs());
      flow(loop.getYieldedValues(), loop.getRegionIterArgs());
      return flow(loop.getRegionIterArgs(), loop.getResults());
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      flow(loop.getInits(), loop.getBeforeArguments());
      flow(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
      flow(loop.getConditionOp().getArgs(), loop.getAfterArguments());
      return flow(loop.getConditionOp().getArgs(), loop.getResults());
    }
    if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults()) {
      flow(branch.thenYield().getOperands(), branch.getResults());
      return flow(branch.elseYield().getOperands(), branch.getResults());
    }
    for (Value operand : op->getOperands())
      for (Origin origin : Origins(of(operand)))
        if (std::optional<Origin> after = throughOp(op, origin))
          for (Value result : op->getResults())
            add(result, *after);
  }

  DenseMap<Value, Origins> origins_;
  bool changed_ = false;
};

} // namespace

DotChains::DotChains(func::FuncOp function) {
  RowOrigins rows(function);
  llvm::EquivalenceClasses<Operation *> tied;
  DenseSet<Operation *> takesReductions;
  function.walk([&](ir::DotOp dot) {
    tied.insert(dot);
    for (Value operand : {dot.getA(), dot.getAcc()})
      for (const Origin &origin : rows.of(operand)) {
        if (origin.dot == dot || origin.dim != rowDim(dot))
          continue;
        tied.unionSets(dot, origin.dot);
        if (operand == dot.getA())
          computesA_.insert(dot);
        if (origin.isReduced)
          takesReductions.insert(dot);
      }
  });
  llvm::MapVector<Operation *, DotChain> byLeader;
  function.walk([&](ir::DotOp dot) {
    DotChain &chain = byLeader[tied.getLeaderValue(dot)];
    chain.dots.push_back(dot);
    chain.passesRows |= hasComputedA(dot);
    chain.passesReductions |= takesReductions.contains(dot);
  });
  for (auto &[leader, chain] : byLeader)
    chains_.push_back(std::move(chain));
}

} // namespace tile::passes
