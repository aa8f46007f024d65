#include "passes/registers/RegisterEstimate.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/gpu/WarpRoles.h"
#include "ir/layout/MultiplyAdd.h"
#include "passes/registers/RegisterAddresses.h"
#include "passes/registers/RegisterLimits.h"
#include "passes/registers/RegisterWords.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::passes {

namespace {

/// What every kernel takes besides its values: numbers of thread and lane, the stack pointer, an
/// address and a comparison in the making.
constexpr int64_t kAlways = 6;
/// What it takes more where the assembler need not leave registers to other blocks.
constexpr int64_t kAtEase = 5;
/// Up to this share of the registers there are, the assembler takes some to load ahead and to keep
/// addresses.
constexpr double kComfortable = 0.8;
/// What a function of f64 has in the making: it is a polynomial, several elements of which are
/// computed at once.
constexpr int64_t kFunctionOfF64 = 24;

/// Roots whose registers are in use at a place.
using Live = llvm::SetVector<Value>;

/// The words an operation has in use only while it runs.
Words temporariesOf(Operation *op) {
  if (auto dot = dyn_cast<gpu::SmemDotOp>(op)) { // a chunk of each factor
    layout::Layout acc = gpu::layoutOf(dot.getAcc().getType());
    gpu::SmemType a = dot.getA().getType();
    int64_t bytes = gpu::bytesOf(a.getElementType());
    int64_t depth = layout::multiplyAddDepth(a.getShape().back(), static_cast<int>(bytes));
    int64_t elements = layout::multiplyAddRows(acc, depth).numRegisters() +
                       layout::multiplyAddColumns(acc, depth).numRegisters();
    return {elements * std::max<int64_t>(1, bytes / 4)};
  }
  // All that is added is loaded at once, as far as there are registers.
  if (auto add = dyn_cast<gpu::WorkspaceAddOp>(op)) {
    auto tile = cast<RankedTensorType>(add.getResult().getType());
    return {0, gpu::layoutOf(tile).numRegisters() * gpu::bytesOf(tile.getElementType()) / 4, 0};
  }
  bool isFunction = isa_and_present<math::MathDialect>(op->getDialect()) &&
                    !isa<math::FmaOp, math::AbsFOp, math::SqrtOp, math::FloorOp, math::CeilOp>(op);
  if (isFunction && ir::elementTypeOf(op->getResult(0).getType()).isF64())
    return {0, 0, kFunctionOfF64};
  return {};
}

class LivenessWalk {
public:
  explicit LivenessWalk(Words ofKernel) : accesses_(ofKernel) {}

  /// Most words in use at a place of the block.
  struct Most {
    int64_t held = 0;           ///< that would be spilled
    Operation *worst = nullptr; ///< where
    Words words;                ///< where most are in use, of all kinds
  };
  Most mostOf(Block &block) {
    for (Operation &op :
         block) // forward, so that none of a long chain is found through all before it
      op.walk<WalkOrder::PreOrder>([&](Operation *inner) {
        for (Value result : inner->getResults())
          (void)words_.rootsOf(result);
      });
    Live live;
    visit(block, live);
    return most_;
  }

private:
  // Backward: `live` is what is in use behind the block, and becomes what is in use before it.
  void visit(Block &block, Live &live) {
    for (Operation &op : llvm::reverse(block.without_terminator()))
      if (auto loop = dyn_cast<scf::ForOp>(op))
        visitFor(loop, live);
      else if (isa<scf::IfOp, scf::WhileOp, gpu::ElectOp, gpu::WarpSpecializeOp>(op))
        visitRegions(&op, live);
      else
        visitPlain(&op, live);
  }

  void visitPlain(Operation *op, Live &live) {
    for (Value result : op->getResults())
      live.remove(result);
    consider(op, live);
    use(op->getOperands(), live);
  }

  // What the loop carries is in one place from iteration to iteration; what its body uses of
  // outside is in use throughout.
  void visitFor(scf::ForOp loop, Live &live) {
    for (Value result : loop.getResults())
      live.remove(result);
    useFromOutside(loop, live);
    use({loop.getUpperBound(), loop.getStep()}, live);
    Live inBody = live;
    inBody.insert(loop.getInductionVar());
    use(loop.getYieldedValues(), inBody);
    visitRepeated(loop, *loop.getBody(), inBody);
    use(loop.getInitArgs(), live);
    use(loop.getLowerBound(), live);
  }

  void visitRegions(Operation *op, Live &live) {
    for (Value result : op->getResults())
      live.remove(result);
    if (isa<scf::WhileOp>(op))
      useFromOutside(op, live);
    Live before = live;
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        Live inside = live;
        if (block.mightHaveTerminator())
          use(block.getTerminator()->getOperands(), inside);
        if (isa<scf::WhileOp>(op))
          visitRepeated(op, block, inside);
        else
          visit(block, inside);
        for (Value argument : block.getArguments())
          inside.remove(argument);
        before.insert_range(inside);
      }
    live = std::move(before);
    use(op->getOperands(), live);
  }

  void visitRepeated(Operation *loop, Block &body, Live &live) {
    Words outside = accesses_;
    bool isOutermost = !std::exchange(isInLoop_, true);
    if (isOutermost) // which keeps what its inner loops do
      accesses_ += accessWordsOf(loop);
    visit(body, live);
    accesses_ = outside;
    isInLoop_ = !isOutermost;
  }

  void use(ValueRange values, Live &live) {
    for (Value value : values)
      live.insert_range(words_.rootsOf(value));
  }

  void useFromOutside(Operation *loop, Live &live) {
    for (Region &region : loop->getRegions())
      region.walk([&](Operation *op) {
        for (Value operand : op->getOperands())
          for (Value root : words_.rootsOf(operand))
            if (!region.isAncestor(root.getParentRegion()))
              live.insert(root);
      });
  }

  // Operands that are not used any more make room for results. `live` is what is in use behind the
  // operation, its results left out.
  void consider(Operation *op, const Live &live) {
    Words rest = sum(live), results, dying;
    for (Value result : op->getResults())
      if (llvm::is_contained(words_.rootsOf(result), result))
        results += words_.wordsOf(result);
    Live last;
    use(op->getOperands(), last);
    for (Value root : last)
      if (!live.contains(root))
        dying += words_.wordsOf(root);
    rest += {std::max(results.held, dying.held), std::max(results.kept, dying.kept),
             std::max(results.elastic, dying.elastic)};
    rest += accesses_;
    rest += temporariesOf(op);
    if (rest.held >= most_.held) { // the first such place, since this goes backward
      most_.held = rest.held;
      most_.worst = op;
    }
    if (rest.total() > most_.words.total())
      most_.words = rest;
  }

  Words sum(const Live &live) {
    Words all;
    for (Value root : live)
      all += words_.wordsOf(root);
    return all;
  }

  RegisterWords words_;
  Words accesses_; ///< what accesses of memory keep: of the kernel, of the loop around
  bool isInLoop_ = false;
  Most most_;
};

RegisterEstimate estimateOf(Block &block, Words ofKernel, int64_t limit, bool isAtEase) {
  LivenessWalk::Most most = LivenessWalk(ofKernel).mostOf(block);
  int64_t usual = most.words.held + most.words.kept + kAlways + (isAtEase ? kAtEase : 0);
  auto comfortable = static_cast<int64_t>(kComfortable * static_cast<double>(limit));
  int64_t taken = usual + std::min(most.words.elastic, std::max<int64_t>(0, comfortable - usual));
  return {most.held + kAlways, std::min(taken, limit), limit, most.worst};
}

} // namespace

int64_t KernelRegisters::reported() const {
  if (launched)
    return *launched;
  return std::max(compute.expected, producer ? producer->expected : 0);
}

KernelRegisters estimateRegisters(func::FuncOp kernel, const ir::Target &target) {
  int64_t limit = mostRegistersOf(kernel, target);
  bool isAtEase = blocksToFit(kernel) > 0;
  Words checks = checkWordsOf(kernel);
  gpu::WarpSpecializeOp roles = gpu::rolesOf(kernel);
  if (!roles)
    return {estimateOf(kernel.getBody().front(), checks, limit, isAtEase), {}, {}};
  auto estimateRole = [&](gpu::RoleKind kind, Words ofKernel, bool hasRoom) {
    unsigned number = *roles.find(kind);
    int32_t share = roles.getRole(number).getRegisters();
    return estimateOf(roles.getBody(number), ofKernel, share ? share : limit, hasRoom);
  };
  KernelRegisters all{estimateRole(gpu::RoleKind::Consumers, checks, isAtEase), {}, {}};
  if (roles.find(gpu::RoleKind::Producer))
    all.producer = estimateRole(gpu::RoleKind::Producer, {}, false);
  if (roles.getRole(0).getRegisters())
    all.launched = limit;
  return all;
}

} // namespace tile::passes
