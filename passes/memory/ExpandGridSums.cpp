// ExpandGridSums: programs add their tiles through global memory (split-K).
//
//   sum, last = grid_sum x of n
//   becomes
//   store x in the workspace; old = counter++; last = old == n - 1;
//   sum = if last {counter = 0; x of the first program + ... + x of the last} else {x}
//
// The counter belongs to the first of the n programs. The program that reads n - 1 is the last to
// arrive and sees the tiles of the others, since each increments the counter after its store and
// before its loads. It also loads its own tile, so that the order of additions is that of the
// programs' numbers, whichever is last, and resets the counter for the next launch. Each thread
// loads the elements that the thread of the same number stored.
#include "passes/Passes.h"

#include "ir/LayoutAttr.h"
#include "ir/LayoutOp.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace tile::passes {
#define GEN_PASS_DEF_EXPANDGRIDSUMS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// Bytes of a tile in the workspace, a multiple of a cache line.
int64_t workspaceBytes(RankedTensorType tile, int64_t warps) {
  constexpr int64_t kLine = 128;
  int64_t bytes = gpu::layoutOf(tile).numRegisters() * warps * ir::kWarpSize *
                  gpu::bytesOf(tile.getElementType());
  return llvm::alignTo(bytes, kLine);
}

// The linear index of this program in the launch.
Value programNumber(OpBuilder &b, Location loc) {
  Type i32 = b.getI32Type();
  Value number;
  for (int axis = 2; axis >= 0; --axis) {
    Value id = ir::ProgramIdOp::create(b, loc, i32, axis);
    if (number) {
      Value count = ir::NumProgramsOp::create(b, loc, i32, axis);
      number = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, number, count), id);
    } else {
      number = id;
    }
  }
  return number;
}

Value appendPointer(func::FuncOp kernel, Type pointee, ir::ParamKind kind) {
  unsigned index = kernel.getNumArguments();
  MLIRContext *context = kernel.getContext();
  Builder b(context);
  auto param = b.getNamedAttr(ir::kParamAttr, ir::ParamAttr::get(context, kind, -1, -1));
  (void)kernel.insertArgument(index, ir::PtrType::get(context, pointee),
                              b.getDictionaryAttr({param}), kernel.getLoc());
  return kernel.getArgument(index);
}

/// The workspace of a kernel; the regions of its sums follow each other.
struct Workspace {
  Value bytes, counters; ///< pointers to i8 and i32
  int64_t bytesOfProgram = 0;
  int32_t sums = 0;
  int32_t programs = 1; ///< the launch has a multiple of this number
};

class SumWriter {
public:
  SumWriter(ir::GridSumOp sum, const Workspace &workspace, int64_t offset, int32_t number)
      : sum_(sum), workspace_(workspace), offset_(offset), number_(number), b_(sum),
        loc_(sum.getLoc()), tile_(cast<RankedTensorType>(sum.getInput().getType())) {}

  void write() {
    Value program = programNumber(b_, loc_);
    Value first = arith::SubIOp::create(
        b_, loc_, program, arith::RemUIOp::create(b_, loc_, program, i32(sum_.getPrograms())));
    gpu::WorkspaceStoreOp::create(b_, loc_, sum_.getInput(), placeOf(program));
    Value counter = counterOf(first);
    Value last = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, count(counter),
                                       i32(sum_.getPrograms() - 1));
    auto branch = scf::IfOp::create(b_, loc_, tile_, last, /*withElseRegion=*/true);
    b_ = OpBuilder::atBlockBegin(branch.thenBlock());
    gpu::setVariant(ir::StoreOp::create(b_, loc_, i32(0), counter, Value()),
                    gpu::StoreVariant::Scalar);
    scf::YieldOp::create(b_, loc_, addUp(first));
    b_ = OpBuilder::atBlockBegin(branch.elseBlock());
    scf::YieldOp::create(b_, loc_, sum_.getInput());
    sum_.getSum().replaceAllUsesWith(branch.getResult(0));
    sum_.getLast().replaceAllUsesWith(last);
    sum_.erase();
  }

private:
  Value i32(int64_t value) { return arith::ConstantIntOp::create(b_, loc_, value, 32); }

  // A program's region for this sum.
  Value placeOf(Value program) {
    auto i64 = [&](int64_t value) { return arith::ConstantIntOp::create(b_, loc_, value, 64); };
    Value wide = arith::ExtUIOp::create(b_, loc_, b_.getI64Type(), program);
    Value offset = arith::AddIOp::create(
        b_, loc_, arith::MulIOp::create(b_, loc_, wide, i64(workspace_.bytesOfProgram)),
        i64(offset_));
    return ir::AddPtrOp::create(b_, loc_, workspace_.bytes.getType(), workspace_.bytes, offset);
  }

  Value counterOf(Value program) {
    Value place = arith::AddIOp::create(
        b_, loc_, arith::MulIOp::create(b_, loc_, program, i32(workspace_.sums)), i32(number_));
    return ir::AddPtrOp::create(b_, loc_, workspace_.counters.getType(), workspace_.counters,
                                place);
  }

  // The number of programs that have arrived before.
  Value count(Value counter) {
    auto laid = [&](Type element) {
      auto plain = RankedTensorType::get({1}, element);
      return RankedTensorType::get({1}, element, gpu::defaultLayout(plain, ir::warpsOf(sum_)));
    };
    Value place = ir::SplatOp::create(b_, loc_, laid(counter.getType()), counter);
    Value one = ir::SplatOp::create(b_, loc_, laid(b_.getI32Type()), i32(1));
    Value old = ir::AtomicRmwOp::create(b_, loc_, one.getType(), ir::AtomicKind::Add,
                                        ir::MemoryOrder::AcqRel, ir::MemoryScope::Gpu, place, one,
                                        Value(), ir::Eviction::Normal);
    return ir::ItemOp::create(b_, loc_, b_.getI32Type(), old);
  }

  Value addUp(Value first) {
    Value sum = gpu::WorkspaceLoadOp::create(b_, loc_, tile_, placeOf(first));
    auto loop = scf::ForOp::create(b_, loc_, i32(1), i32(sum_.getPrograms()), i32(1), sum);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    Value program = arith::AddIOp::create(b_, loc_, first, loop.getInductionVar());
    Value next = gpu::WorkspaceAddOp::create(b_, loc_, loop.getRegionIterArg(0), placeOf(program));
    scf::YieldOp::create(b_, loc_, next);
    return loop.getResult(0);
  }

  ir::GridSumOp sum_;
  const Workspace &workspace_;
  int64_t offset_; ///< of this sum in a program's region
  int32_t number_; ///< of this sum in the kernel
  OpBuilder b_;
  Location loc_;
  RankedTensorType tile_;
};

struct ExpandGridSums : passes::impl::ExpandGridSumsBase<ExpandGridSums> {
  void runOnOperation() final {
    func::FuncOp kernel = getOperation();
    SmallVector<ir::GridSumOp> sums(kernel.getOps<ir::GridSumOp>());
    if (sums.empty())
      return;
    Workspace workspace;
    SmallVector<int64_t> offsets;
    for (ir::GridSumOp sum : sums) {
      offsets.push_back(workspace.bytesOfProgram);
      workspace.bytesOfProgram +=
          workspaceBytes(cast<RankedTensorType>(sum.getInput().getType()), ir::warpsOf(kernel));
      workspace.programs = std::lcm(workspace.programs, static_cast<int32_t>(sum.getPrograms()));
    }
    workspace.sums = static_cast<int32_t>(sums.size());
    Builder b(&getContext());
    workspace.bytes = appendPointer(kernel, b.getI8Type(), ir::ParamKind::Workspace);
    workspace.counters = appendPointer(kernel, b.getI32Type(), ir::ParamKind::Counters);
    gpu::setWorkspace(kernel, gpu::WorkspaceAttr::get(&getContext(), workspace.bytesOfProgram,
                                                      workspace.sums, workspace.programs));
    for (auto [number, sum] : llvm::enumerate(sums))
      SumWriter(sum, workspace, offsets[number], static_cast<int32_t>(number)).write();
  }
};

} // namespace

} // namespace tile::passes
