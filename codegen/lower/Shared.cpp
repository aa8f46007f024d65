// Tiles to and from shared memory: vectors as wide as layout and swizzle allow, ldmatrix where it delivers fragments.
#include "codegen/lower/Words.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::codegen {

namespace {

using Term = layout::SharedAddress::Term;

struct ThreadPart {
  Value toggle, addend; ///< element offsets; null where no thread bit contributes
  int64_t toggleBits = 0;
};

ThreadPart threadPart(Lowering &l, ArrayRef<Term> lanes, ArrayRef<Term> warps) {
  auto column = [](ArrayRef<Term> terms, int64_t Term::*member) {
    SmallVector<int64_t> bits;
    for (const Term &term : terms)
      bits.push_back(term.*member);
    return bits;
  };
  ThreadPart part;
  part.toggle = l.threadLinear(column(lanes, &Term::toggle), column(warps, &Term::toggle));
  bool anyAddend = llvm::any_of(lanes, [](const Term &t) { return t.addend != 0; }) ||
                   llvm::any_of(warps, [](const Term &t) { return t.addend != 0; });
  if (anyAddend) // digits of narrow panels: distinct bits, so the sum is the XOR
    part.addend = l.threadLinear(column(lanes, &Term::addend), column(warps, &Term::addend));
  for (const Term &term : llvm::concat<const Term>(lanes, warps))
    part.toggleBits |= term.toggle;
  return part;
}

/// Turns element offsets into pointers. The thread's part is one value; a register's is a constant, XOR-ed in where the
/// swizzle makes them overlap, else part of the address.
class SharedPointers {
public:
  SharedPointers(Lowering &l, Location loc, int64_t base, int64_t bytes, ThreadPart part)
      : l(l), loc(loc), base(base), bytes(bytes), part(part) {}

  Value pointer(const Term &term) {
    int64_t overlap = term.toggle & part.toggleBits, apart = term.toggle & ~part.toggleBits;
    Value &known = byOverlap[overlap];
    if (!known) {
      Value offset = part.toggle;
      if (overlap)
        offset = arith::XOrIOp::create(l.b, loc, offset, l.i32(overlap));
      if (part.addend)
        offset = arith::AddIOp::create(l.b, loc, offset, part.addend);
      known = l.sharedPointer(arith::MulIOp::create(l.b, loc, offset, l.i32(bytes)));
    }
    int64_t constant = base + (apart + term.addend) * bytes;
    return LLVM::GEPOp::create(l.b, loc, known.getType(), l.b.getI8Type(), known,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(constant)});
  }

private:
  Lowering &l;
  Location loc;
  int64_t base, bytes;
  ThreadPart part;
  std::map<int64_t, Value> byOverlap;
};

struct Transfer {
  layout::Layout layout;
  layout::SharedLayout shared;
  int64_t bytes;
  std::vector<layout::VectorGroup> groups;
  layout::SharedAddress address;
};

// The memory's place must be known: `Lowering::offsetOf` asks its allocation.
std::optional<Transfer> planTransfer(RankedTensorType tile, Value memory) {
  if (!memory.getDefiningOp<gpu::SmemAllocOp>())
    return std::nullopt;
  auto smem = cast<gpu::SmemType>(memory.getType());
  Transfer transfer{
      gpu::layoutOf(tile), gpu::sharedOf(smem), gpu::bytesOf(smem.getElementType()), {}, {}};
  auto address = layout::sharedAddress(transfer.layout, transfer.shared);
  if (!address)
    return std::nullopt;
  transfer.address = std::move(*address);
  transfer.groups =
      layout::vectorGroups(transfer.layout, transfer.shared, static_cast<int>(transfer.bytes));
  return transfer;
}

Type wordsType(Lowering &l, const Words &words) {
  Type word = l.b.getIntegerType(words.bits);
  auto count = static_cast<int64_t>(words.values.size());
  return count > 1 ? Type(VectorType::get({count}, word)) : word;
}

void storeVector(Lowering &l, Location loc, Value pointer, ValueRange elements) {
  Words words = packWords(l, loc, elements);
  Value value = words.values.front();
  if (words.values.size() > 1) {
    value = LLVM::PoisonOp::create(l.b, loc, wordsType(l, words));
    for (auto [i, word] : llvm::enumerate(words.values))
      value = LLVM::InsertElementOp::create(l.b, loc, value, word, l.i32(i));
  }
  LLVM::StoreOp::create(l.b, loc, value, pointer, words.values.size() * words.bits / 8);
}

Registers loadVector(Lowering &l, Location loc, Value pointer, Type element, size_t count) {
  Words words = wordsFor(l, element, count);
  Value value = LLVM::LoadOp::create(l.b, loc, wordsType(l, words), pointer,
                                     words.values.size() * words.bits / 8);
  for (auto [i, word] : llvm::enumerate(words.values))
    word = words.values.size() > 1
               ? LLVM::ExtractElementOp::create(l.b, loc, value, l.i32(i)).getResult()
               : value;
  return unpackWords(l, loc, words, element, count);
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
  if (Value isFirst = store.getFirstHolder() ? l.isFirstHolder(transfer->layout) : Value()) {
    auto branch = scf::IfOp::create(l.b, op->getLoc(), isFirst, /*withElseRegion=*/false);
    l.b.setInsertionPoint(branch.thenYield());
  }
  SharedPointers pointers(l, op->getLoc(), Lowering::offsetOf(store.getSmem()), transfer->bytes,
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
  SharedPointers pointers(l, loc, Lowering::offsetOf(load.getSmem()), gpu::bytesOf(element),
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
    Registers elements = unpackWords(l, loc, packed, element, count * access.elementsPerMatrix);
    llvm::copy(elements, registers.begin() + instruction.firstRegister);
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
  if (matrices) {
    loadMatrices(l, load, *matrices, registers);
  } else {
    SharedPointers pointers(l, op->getLoc(), Lowering::offsetOf(load.getSmem()), transfer->bytes,
                            threadPart(l, transfer->address.lanes, transfer->address.warps));
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

const std::pair<llvm::StringLiteral, LowerFunction> kLowerings[] = {
    {"tilegpu.smem_alloc", lowerSmemAlloc},
    {"tilegpu.smem_load", lowerSmemLoad},
    {"tilegpu.smem_store", lowerSmemStore},
};

} // namespace

LoweringTable sharedLowerings() { return kLowerings; }

} // namespace tile::codegen
