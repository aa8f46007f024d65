// Products by multiply-add: a loop over K in which each thread reads its part of some rows and columns from shared memory
// and adds their outer products to the accumulator it holds.
#include "codegen/lower/SharedPointers.h"

#include "ir/layout/MultiplyAdd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::codegen {

namespace {

Value widened(Lowering &l, Location loc, Value value, Type wide, bool isUnsigned) {
  if (value.getType() == wide)
    return value;
  if (isa<FloatType>(wide))
    return arith::ExtFOp::create(l.b, loc, wide, value);
  return isUnsigned ? arith::ExtUIOp::create(l.b, loc, wide, value).getResult()
                    : arith::ExtSIOp::create(l.b, loc, wide, value).getResult();
}

Value multiplyAdd(Lowering &l, Location loc, Value a, Value b, Value sum) {
  if (isa<FloatType>(sum.getType()))
    return LLVM::FMAOp::create(l.b, loc, a, b, sum);
  return arith::AddIOp::create(l.b, loc, arith::MulIOp::create(l.b, loc, a, b), sum);
}

/// An operand in shared memory: what a thread reads of it for a few steps of K.
class Factor {
public:
  /// `chunk` holds the thread's part of those steps; K is the operand's dimension `kDim`.
  Factor(Lowering &l, Value smem, layout::Layout chunk, int kDim)
      : l_(l), smem_(smem), whole_(gpu::sharedOf(cast<gpu::SmemType>(smem.getType()))),
        chunk_(std::move(chunk)), kDim_(static_cast<size_t>(kDim)) {
    address_ = layout::sharedAddress(this->chunk_, whole_.leadingPart(this->chunk_.shape()));
    int panel = whole_.panelBits()[this->kDim_];
    for (int bit = 0; bit < panel; ++bit) {
      layout::Coords step(whole_.shape().size(), 0);
      step[this->kDim_] = 1 << bit;
      bool isInChunk = step[this->kDim_] < this->chunk_.shape()[this->kDim_];
      kToggles_.push_back(isInChunk ? 0 : whole_.offsetParts(step).toggle);
    }
  }
  bool isAddressable() const { return SharedSpace::hasPlace(smem_) && address_; }

  /// Reads the steps from `k` on, in the registers of the chunk.
  Registers load(Location loc, Value k) {
    Type element = cast<gpu::SmemType>(smem_.getType()).getElementType();
    int64_t bytes = gpu::bytesOf(element);
    SharedPointers pointers(l_, loc, smem_, bytes, partAt(loc, k));
    Registers registers(chunk_.numRegisters());
    for (const layout::VectorGroup &group :
         layout::vectorGroups(chunk_, whole_.leadingPart(chunk_.shape()), static_cast<int>(bytes),
                              vectorBytes(bytes))) {
      Value pointer = pointers.pointer(address_->registers[group.front()]);
      Registers elements = loadVector(l_, loc, pointer, element, group.size());
      for (auto [reg, value] : llvm::zip_equal(group, elements))
        registers[reg] = value;
    }
    return registers;
  }

  const layout::Layout &layout() const { return chunk_; }

private:
  // The thread's part moves with k: its low bits through the swizzle, its digit by a stride.
  ThreadPart partAt(Location loc, Value k) {
    ThreadPart part = threadPart(l_, address_->lanes, address_->warps);
    part.toggle =
        arith::XOrIOp::create(l_.b, loc, part.toggle, l_.coordinates.linear(k, kToggles_));
    for (int64_t toggle : kToggles_)
      part.toggleBits |= toggle;
    if (int64_t stride = whole_.digitStrides()[kDim_]) {
      Value digit = arith::ShRUIOp::create(l_.b, loc, k, l_.i32(whole_.panelBits()[kDim_]));
      Value moved = arith::MulIOp::create(l_.b, loc, digit, l_.i32(stride));
      part.addend =
          part.addend ? arith::AddIOp::create(l_.b, loc, part.addend, moved).getResult() : moved;
    }
    return part;
  }

  // No step of k may start within a vector.
  int vectorBytes(int64_t bytes) const {
    int64_t bits = whole_.digitStrides()[kDim_];
    for (int64_t toggle : kToggles_)
      bits |= toggle;
    int64_t aligned = bits ? (bits & -bits) * bytes : layout::kMaxVectorBytes;
    return static_cast<int>(std::min<int64_t>(aligned, layout::kMaxVectorBytes));
  }

  Lowering &l_;
  Value smem_;
  layout::SharedLayout whole_;
  layout::Layout chunk_;
  size_t kDim_;
  std::optional<layout::SharedAddress> address_;
  SmallVector<int64_t> kToggles_; ///< per bit of k above the chunk's
};

/// Adds the products of one chunk of K.
class Accumulation {
public:
  Accumulation(Lowering &l, gpu::SmemDotOp dot, Type wide)
      : l_(l), dot_(dot), acc_(gpu::layoutOf(dot.getAcc().getType())), wide_(wide) {}

  LogicalResult add(const Factor &a, const Registers &left, const Factor &b, const Registers &right,
                    Registers &sums) {
    size_t row = acc_.shape().size() - 2, column = row + 1;
    Registers wideLeft = allWide(left), wideRight = allWide(right);
    for (int32_t k = 0; k < a.layout().shape()[column]; ++k)
      for (int32_t reg = 0; reg < acc_.numRegisters(); ++reg) {
        layout::Coords atA = acc_.apply(reg), atB = atA;
        atA[column] = k, atB[row] = k;
        std::optional<int32_t> regA = a.layout().registerAt(atA), regB = b.layout().registerAt(atB);
        if (!regA || !regB)
          return dot_.emitOpError("the accumulator's layout is not that of a multiply-add product");
        sums[reg] = multiplyAdd(l_, dot_.getLoc(), wideLeft[*regA], wideRight[*regB], sums[reg]);
      }
    return success();
  }

private:
  Registers allWide(const Registers &values) {
    Registers result;
    for (Value value : values)
      result.push_back(widened(l_, dot_.getLoc(), value, wide_, dot_.getOperandsUnsigned()));
    return result;
  }

  Lowering &l_;
  gpu::SmemDotOp dot_;
  layout::Layout acc_;
  Type wide_;
};

// Narrow floating-point accumulators are summed in f32 and rounded once.
LogicalResult lowerSmemDot(Lowering &l, Operation *op) {
  auto dot = cast<gpu::SmemDotOp>(op);
  Location loc = dot.getLoc();
  layout::Layout acc = gpu::layoutOf(dot.getAcc().getType());
  int rank = acc.rank();
  int64_t inner = dot.getA().getType().getShape()[rank - 1];
  int64_t depth = layout::multiplyAddDepth(
      inner, static_cast<int>(gpu::bytesOf(dot.getA().getType().getElementType())));
  Factor a(l, dot.getA(), layout::multiplyAddRows(acc, depth), rank - 1),
      b(l, dot.getB(), layout::multiplyAddColumns(acc, depth), rank - 2);
  if (!a.isAddressable() || !b.isAddressable())
    return dot.emitOpError("needs memory of tilegpu.smem_allocs that its threads can address");
  Type narrow = ir::elementTypeOf(dot.getAcc().getType()),
       wide = isa<FloatType>(narrow) && !narrow.isF64() ? Type(l.b.getF32Type()) : narrow;
  Registers sums;
  for (Value value : l[dot.getAcc()])
    sums.push_back(widened(l, loc, value, wide, false));
  auto loop = scf::ForOp::create(l.b, loc, l.i32(0), l.i32(inner), l.i32(depth), sums);
  {
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToStart(loop.getBody());
    Registers left = a.load(loc, loop.getInductionVar()),
              right = b.load(loc, loop.getInductionVar());
    Registers inLoop(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    if (failed(Accumulation(l, dot, wide).add(a, left, b, right, inLoop)))
      return failure();
    scf::YieldOp::create(l.b, loc, inLoop);
  }
  sums.assign(loop.getResults().begin(), loop.getResults().end());
  if (wide != narrow)
    for (Value &sum : sums)
      sum = arith::TruncFOp::create(l.b, loc, narrow, sum);
  l.set(dot.getResult(), std::move(sums));
  return success();
}

constexpr LoweringRow kLowerings[] = {on<gpu::SmemDotOp, lowerSmemDot>};

} // namespace

LoweringTable smemDotLowerings() { return kLowerings; }

} // namespace tile::codegen
