// Tiles to and from shared memory: vectors as wide as layout and swizzle allow, ldmatrix where it delivers fragments, stmatrix
// where it takes them.
#include "codegen/lower/SharedPointers.h"
#include "codegen/thread/Words.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::codegen {

namespace {

struct Transfer {
  layout::Layout layout;
  layout::SharedLayout shared;
  int64_t bytes;
  std::vector<layout::VectorGroup> groups;
  layout::SharedAddress address;
};

std::optional<Transfer> planTransfer(RankedTensorType tile, Value memory) {
  if (!SharedSpace::hasPlace(memory))
    return std::nullopt;
  auto smem = cast<gpu::SmemType>(memory.getType());
  layout::Layout layout = gpu::layoutOf(tile);
  layout::SharedLayout shared = gpu::sharedOf(smem).leadingPart(layout.shape());
  Transfer transfer{layout, shared, gpu::bytesOf(smem.getElementType()), {}, {}};
  auto address = layout::sharedAddress(transfer.layout, transfer.shared);
  if (!address)
    return std::nullopt;
  transfer.address = std::move(*address);
  transfer.groups =
      layout::vectorGroups(transfer.layout, transfer.shared, static_cast<int>(transfer.bytes));
  return transfer;
}

void storeMatrices(Lowering &l, gpu::SmemStoreOp store, const layout::MatrixAccess &access,
                   const Registers &values) {
  Location loc = store.getLoc();
  SharedPointers pointers(l, loc, store.getSmem(),
                          gpu::bytesOf(store.getSmem().getType().getElementType()),
                          threadPart(l, access.rows, access.warps));
  auto shape = NVVM::LdStMatrixShapeAttr::get(l.b.getContext(), 8, 8);
  auto perMatrix = static_cast<size_t>(access.elementsPerMatrix);
  for (const layout::MatrixAccess::Instruction &instruction : access.instructions) {
    Registers elements;
    for (int32_t first : access.matrixRegisters)
      elements.append(values.begin() + instruction.firstRegister + first,
                      values.begin() + instruction.firstRegister + first + perMatrix);
    NVVM::StMatrixOp::create(l.b, loc, pointers.pointer(instruction.term),
                             packWords(l, loc, elements).values,
                             access.transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
                             NVVM::LdStMatrixEltType::B16);
  }
}

LogicalResult lowerByMatrices(Lowering &l, gpu::SmemStoreOp store, const Transfer &transfer) {
  if (!l.target.hasTma)
    return store.emitOpError("needs stores of matrices, which ")
           << l.target.name << " does not have";
  auto matrices =
      layout::matchMatrixAccess(transfer.layout, transfer.shared, static_cast<int>(transfer.bytes));
  if (!matrices || matrices->elementsPerMatrix != 2)
    return store.emitOpError("threads do not hold the tile in matrices of 16-bit elements");
  storeMatrices(l, store, *matrices, l[store.getValue()]);
  return success();
}

// Several threads that hold the same element all write it: the value is the same, and no predicate is cheaper. Where only
// the first holder has it, the others go round the stores.
LogicalResult lowerSmemStore(Lowering &l, Operation *op) {
  auto store = cast<gpu::SmemStoreOp>(op);
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  std::optional<Transfer> transfer = planTransfer(tile, store.getSmem());
  if (!transfer)
    return op->emitOpError(
        "needs memory of a tilegpu.smem_alloc whose shared layout the tile's layout can address");
  const Registers &values = l[store.getValue()];
  uint32_t duplicates = transfer->layout.freeMask(layout::In::Register);
  OpBuilder::InsertionGuard guard(l.b);
  if (Value isFirst =
          store.getFirstHolder() ? l.coordinates.isFirstHolder(transfer->layout) : Value()) {
    auto branch = scf::IfOp::create(l.b, op->getLoc(), isFirst, /*withElseRegion=*/false);
    l.b.setInsertionPoint(branch.thenYield());
  }
  if (store.getByMatrices())
    return lowerByMatrices(l, store, *transfer);
  SharedPointers pointers(l, op->getLoc(), store.getSmem(), transfer->bytes,
                          threadPart(l, transfer->address.lanes, transfer->address.warps));
  for (const layout::VectorGroup &group : transfer->groups) {
    if (llvm::all_of(group, [&](int32_t reg) { return reg & duplicates; }))
      continue;
    SmallVector<Value> elements;
    for (int32_t reg : group)
      elements.push_back(values[reg]);
    storeVector(l, op->getLoc(), pointers.pointer(transfer->address.registers[group.front()]),
                elements);
  }
  return success();
}

void loadMatrices(Lowering &l, gpu::SmemLoadOp load, const layout::MatrixAccess &access,
                  Registers &registers) {
  Location loc = load.getLoc();
  Type element = Lowering::registerType(load.getResult().getType());
  SharedPointers pointers(l, loc, load.getSmem(), gpu::bytesOf(element),
                          threadPart(l, access.rows, access.warps));
  auto count = static_cast<unsigned>(access.matrices);
  Type result = l.b.getI32Type();
  if (count > 1)
    result = LLVM::LLVMStructType::getLiteral(l.b.getContext(),
                                              SmallVector<Type>(count, l.b.getI32Type()));
  auto shape = NVVM::LdStMatrixShapeAttr::get(l.b.getContext(), 8, 8);
  for (const layout::MatrixAccess::Instruction &instruction : access.instructions) {
    Value words =
        NVVM::LdMatrixOp::create(l.b, loc, result, pointers.pointer(instruction.term), count,
                                 access.transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                                 shape, NVVM::LdStMatrixEltType::B16);
    Words packed{32, SmallVector<Value>(count)};
    for (unsigned i = 0; i < count; ++i)
      packed.values[i] =
          count > 1 ? LLVM::ExtractValueOp::create(l.b, loc, words, i).getResult() : words;
    auto perMatrix = static_cast<size_t>(access.elementsPerMatrix);
    Registers elements = unpackWords(l, loc, packed, element, count * perMatrix);
    for (auto [matrix, first] : llvm::enumerate(access.matrixRegisters))
      std::copy_n(elements.begin() + matrix * perMatrix, perMatrix,
                  registers.begin() + instruction.firstRegister + first);
  }
}

LogicalResult lowerSmemLoad(Lowering &l, Operation *op) {
  auto load = cast<gpu::SmemLoadOp>(op);
  auto tile = cast<RankedTensorType>(load.getResult().getType());
  std::optional<Transfer> transfer = planTransfer(tile, load.getSmem());
  if (!transfer)
    return op->emitOpError(
        "needs memory of a tilegpu.smem_alloc whose shared layout the tile's layout can address");
  Registers registers(Lowering::countOf(tile));
  auto matrices = layout::matchMatrixAccess(transfer->layout, transfer->shared,
                                            static_cast<int>(transfer->bytes));
  if (load.getRank() && !l.target.hasClusters)
    return op->emitOpError("needs clusters of blocks, which ") << l.target.name << " does not have";
  if (matrices && !load.getRank()) {
    loadMatrices(l, load, *matrices, registers);
  } else {
    SharedPointers pointers(l, op->getLoc(), load.getSmem(), transfer->bytes,
                            threadPart(l, transfer->address.lanes, transfer->address.warps),
                            load.getRank() ? l.scalar(load.getRank()) : Value());
    for (const layout::VectorGroup &group : transfer->groups) {
      Value pointer = pointers.pointer(transfer->address.registers[group.front()]);
      Registers elements =
          loadVector(l, op->getLoc(), pointer, Lowering::registerType(tile), group.size());
      for (auto [reg, element] : llvm::zip_equal(group, elements))
        registers[reg] = element;
    }
  }
  l.set(load.getResult(), std::move(registers));
  return success();
}

// An allocation is an offset, which its users read.
LogicalResult lowerSmemAlloc(Lowering &, Operation *op) {
  if (!cast<gpu::SmemAllocOp>(op).getOffset())
    return op->emitOpError("has no offset; the pass that places allocations has not run");
  return success();
}

// A stage is its distance from the allocation, which its users read.
LogicalResult lowerSmemStage(Lowering &, gpu::SmemStageOp) { return success(); }

constexpr LoweringRow kLowerings[] = {
    on<gpu::SmemAllocOp, lowerSmemAlloc>,
    on<gpu::SmemLoadOp, lowerSmemLoad>,
    on<gpu::SmemStageOp, lowerSmemStage>,
    on<gpu::SmemStoreOp, lowerSmemStore>,
};

} // namespace

LoweringTable sharedLowerings() { return kLowerings; }

} // namespace tile::codegen
