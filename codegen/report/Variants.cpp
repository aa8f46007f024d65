// Copies and products: what SelectVariants chose and refused, and how threads share copies.
#include "codegen/report/MakeReport.h"
#include "codegen/report/Staging.h"

#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/DotAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/gpu/DotLayouts.h"
#include "ir/instructions/AsyncCopy.h"
#include "ir/instructions/TensorCopy.h"
#include "passes/analysis/AxisInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tile::codegen {

namespace {

std::vector<std::string> refusalsOf(Operation *op) {
  SmallVector<StringRef> sentences = gpu::refusalsOf(op);
  return {sentences.begin(), sentences.end()};
}

std::string checkText(gpu::Bounds bounds) {
  switch (bounds) {
  case gpu::Bounds::None:
    return "none";
  case gpu::Bounds::WholeTile:
    return "whole tile";
  case gpu::Bounds::EachElement:
    break;
  }
  return "each element";
}

std::vector<std::string> checksOf(Operation *op) {
  std::vector<std::string> checks;
  gpu::AccessAttr access = gpu::accessOf(op);
  if (access && !access.getBounds().empty()) {
    llvm::append_range(checks, llvm::map_range(access.getBounds(), checkText));
    return checks;
  }
  auto load = dyn_cast<ir::LoadOp>(op);
  auto store = dyn_cast<ir::StoreOp>(op);
  auto rmw = dyn_cast<ir::AtomicRmwOp>(op);
  auto cas = dyn_cast<ir::AtomicCasOp>(op);
  bool isMasked = (load && load.getMask()) || (store && store.getMask()) ||
                  (rmw && rmw.getMask()) || (cas && cas.getMask());
  return {isMasked ? "mask" : "none"};
}

Value addressOf(Operation *op) {
  if (auto load = dyn_cast<ir::ViewLoadOp>(op))
    return load.getView();
  if (auto store = dyn_cast<ir::ViewStoreOp>(op))
    return store.getView();
  if (auto copy = dyn_cast<gpu::CopyAsyncOp>(op))
    return copy.getView();
  if (auto copy = dyn_cast<gpu::TensorCopyOp>(op))
    return copy.getView();
  if (auto store = dyn_cast<gpu::TensorStoreOp>(op))
    return store.getView();
  if (auto load = dyn_cast<ir::LoadOp>(op))
    return load.getPtr();
  if (auto store = dyn_cast<ir::StoreOp>(op))
    return store.getPtr();
  if (auto rmw = dyn_cast<ir::AtomicRmwOp>(op))
    return rmw.getPtr();
  if (auto cas = dyn_cast<ir::AtomicCasOp>(op))
    return cas.getPtr();
  return {};
}

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (auto splat = value.getDefiningOp<ir::SplatOp>())
    value = splat.getValue();
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue())
                                                     : std::nullopt;
}

// By how much each element along a dimension is more than the one before, in elements where they are pointers.
std::optional<int64_t> stepOf(Value value, int dim, passes::AxisInfoAnalysis &axis) {
  int64_t extent = extentsOf(value.getType())[dim];
  passes::AxisFacts facts = axis.of(value)[dim];
  if (facts.constancy >= extent)
    return 0;
  if (facts.contiguity >= extent)
    return 1;
  using Step = std::optional<int64_t>;
  auto of = [&](Value operand) { return stepOf(operand, dim, axis); };
  auto sum = [](Step a, Step b) { return a && b ? Step(*a + *b) : Step(); };
  auto product = [](Step a, Step b) { return a && b ? Step(*a * *b) : Step(); };
  return TypeSwitch<Operation *, Step>(value.getDefiningOp())
      .Case([&](ir::AddPtrOp op) { return sum(of(op.getPtr()), of(op.getOffset())); })
      .Case([&](arith::AddIOp op) { return sum(of(op.getLhs()), of(op.getRhs())); })
      .Case([&](arith::ExtSIOp op) { return of(op.getIn()); })
      .Case([&](arith::MulIOp op) {
        Step left = constantOf(op.getLhs()), right = constantOf(op.getRhs());
        return left ? product(left, of(op.getRhs())) : product(of(op.getLhs()), right);
      })
      .Case([&](ir::BroadcastOp op) { return of(op.getInput()); })
      .Case([&](gpu::ConvertLayoutOp op) { return of(op->getOperand(0)); })
      .Default([](Operation *) { return Step(); });
}

// What is known of the places along a dimension of a tile.
AlongMemory alongMemory(Value address, int dim, int64_t extent, passes::AxisInfoAnalysis &axis) {
  auto view = address.getDefiningOp<ir::MakeViewOp>();
  std::optional<int64_t> step =
      view ? constantOf(view.getStrides()[dim]) : stepOf(address, dim, axis);
  if (step)
    return {extent, std::abs(*step)};
  return {view ? 1 : std::min(extent, axis.of(address)[dim].contiguity), 1};
}

// The vector the code generator takes: the registers must follow each other, too.
int64_t vectorOf(const layout::Layout &layout, int dim, int64_t most) {
  int64_t run = layout.consecutiveElements(dim), length = 1;
  while (length * 2 <= std::min(run, most))
    length *= 2;
  return length;
}

std::string kindOf(Operation *op) {
  if (auto rmw = dyn_cast<ir::AtomicRmwOp>(op))
    return "atomic " + ir::stringifyAtomicKind(rmw.getKind()).str();
  if (isa<ir::AtomicCasOp>(op))
    return "atomic compare and swap";
  if (auto store = dyn_cast<ir::ViewStoreOp>(op); store && store.getAdds())
    return "atomic add";
  return isa<ir::ViewStoreOp, ir::StoreOp, gpu::TensorStoreOp>(op) ? "store" : "load";
}

Type tileOf(Operation *op) {
  if (auto store = dyn_cast<ir::ViewStoreOp>(op))
    return store.getValue().getType();
  if (auto store = dyn_cast<ir::StoreOp>(op))
    return store.getValue().getType();
  if (auto copy = dyn_cast<gpu::CopyAsyncOp>(op))
    return RankedTensorType::get(copy.getShape(), copy.getSmem().getType().getElementType());
  if (auto copy = dyn_cast<gpu::TensorCopyOp>(op))
    return RankedTensorType::get(copy.getShape(), copy.getSmem().getType().getElementType());
  if (auto store = dyn_cast<gpu::TensorStoreOp>(op))
    return RankedTensorType::get(store.getShape(), store.getSmem().getType().getElementType());
  return op->getResult(0).getType();
}

/// How threads share an access: register r of the layout stands for a thread's element number r.
struct Share {
  layout::Layout layout;
  int64_t vector = 1;     ///< elements of an instruction
  int64_t idleFactor = 1; ///< of so many warps with the same elements one alone moves them
};

std::optional<Share> shareOf(Operation *op, Type tile) {
  gpu::AccessAttr access = gpu::accessOf(op);
  if (auto copy = dyn_cast<gpu::CopyAsyncOp>(op)) {
    auto plan = gpu::planAsyncCopy(op, copy.getShape(), copy.getSmem().getType(), ir::warpsOf(op));
    if (!plan)
      return std::nullopt;
    return Share{plan->inView, plan->elements, warpsPerElement(plan->inView)};
  }
  if (!gpu::encodingOf(tile) || !access)
    return std::nullopt;
  layout::Layout layout = gpu::layoutOf(tile);
  return Share{layout, vectorOf(layout, access.getOrder()[0], access.getVector())};
}

// The engine moves boxes, each as a whole.
template <class Op> void setBoxes(CopyReport &report, Op copy) {
  auto plan = gpu::planTensorCopy(copy, copy.getView(), copy.getShape(), copy.getSmem().getType());
  if (!plan)
    return;
  constexpr int64_t kSectorBytes = 32;
  int64_t bytes = report.vectorBytes * llvm::product_of(copy.getShape());
  auto boxes = static_cast<int64_t>(plan->boxes.size());
  report.vectorElements = llvm::product_of(copy.getShape()) / boxes;
  report.vectorBytes = bytes / boxes;
  int64_t sectors = (bytes + kSectorBytes - 1) / kSectorBytes;
  report.traffic = {boxes, bytes, sectors, sectors};
}

CopyReport copyOf(Operation *op, Value address, passes::AxisInfoAnalysis &axis) {
  CopyReport copy;
  copy.where = sourceLineOf(op->getLoc());
  copy.kind = kindOf(op);
  Type type = tileOf(op);
  copy.tile = shapeText(type);
  copy.dtype = dtypeText(type);
  copy.variant = gpu::variantNameOf(op).str();
  copy.refused = refusalsOf(op);
  copy.checks = checksOf(op);
  copy.vectorBytes = gpu::bytesOf(ir::elementTypeOf(type));
  copy.traffic = {1, copy.vectorBytes, 1, 1};
  if (isa<ir::AtomicRmwOp, ir::AtomicCasOp>(op)) {
    copy.variant = "one element an access";
    if (gpu::encodingOf(type)) {
      layout::Layout layout = gpu::layoutOf(type);
      int dim = layout.rank() - 1;
      copy.traffic = trafficOf(layout, dim, alongMemory(address, dim, layout.shape()[dim], axis), 1,
                               copy.vectorBytes);
    }
    return copy;
  }
  if (auto byTma = dyn_cast<gpu::TensorCopyOp>(op)) {
    setBoxes(copy, byTma);
    copy.blocks = byTma.getMulticast() ? ir::clusterOf(op) : 1;
    return copy;
  }
  if (auto byTma = dyn_cast<gpu::TensorStoreOp>(op)) {
    setBoxes(copy, byTma);
    return copy;
  }
  std::optional<Share> share = shareOf(op, type);
  if (!share)
    return copy;
  int dim = gpu::accessOf(op).getOrder()[0];
  copy.vectorElements = share->vector;
  int64_t bytes = copy.vectorBytes;
  copy.vectorBytes *= copy.vectorElements;
  AlongMemory along = alongMemory(address, dim, share->layout.shape()[dim], axis);
  along.run = std::max(copy.vectorElements, along.run);
  copy.traffic = trafficOf(share->layout, dim, along, copy.vectorElements, bytes);
  copy.traffic.accesses /= share->idleFactor, copy.traffic.usedBytes /= share->idleFactor;
  copy.traffic.sectors /= share->idleFactor, copy.traffic.leastSectors /= share->idleFactor;
  return copy;
}

// A matrix product in any of its forms: operands are a, b, acc.
ProductReport dotOf(Operation *dot) {
  ProductReport product;
  product.where = sourceLineOf(dot->getLoc());
  ArrayRef<int64_t> acc = extentsOf(dot->getOperand(2).getType());
  product.batch = acc.size() > 2 ? acc[0] : 1;
  product.m = acc[acc.size() - 2], product.n = acc.back(), product.k = depthOf(dot);
  product.operands = dtypeText(dot->getOperand(0).getType());
  product.accumulator = dtypeText(dot->getOperand(2).getType());
  product.variant = gpu::variantNameOf(dot).str();
  product.refused = refusalsOf(dot);
  if (gpu::WarpGridAttr grid = gpu::warpGridOf(dot))
    product.warpRows = grid.getRows(), product.warpColumns = grid.getColumns();
  product.kWidth = gpu::kWidthOf(dot);
  return product;
}

} // namespace

void reportVariants(func::FuncOp kernel, KernelReport &report) {
  passes::AxisInfoAnalysis axis;
  llvm::DenseSet<Operation *> before = fillsBeforeLoops(gpu::sharedAccessesOf(kernel));
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (Value address = addressOf(op); address && !before.contains(op))
      report.copies.push_back(copyOf(op, address, axis));
    if (gpu::isDot(op))
      report.products.push_back(dotOf(op));
  });
}

} // namespace tile::codegen
