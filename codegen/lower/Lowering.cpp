#include "codegen/lower/Lowering.h"

#include "codegen/lower/Words.h"

#include "codegen/EntryName.h"
#include "codegen/lower/Shuffle.h"

#include "ir/UserError.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/gpu/SharedAccesses.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::codegen {

Lowering::Lowering(func::FuncOp source, func::FuncOp function, const ir::Target &target)
    : b(OpBuilder::atBlockBegin(&function.getBody().front())), target(target), source_(source),
      function_(function) {
  makeThreadNumbers();
  SmallVector<Value> parameters(source.getArguments().begin(), source.getArguments().end());
  unflatten(parameters,
            SmallVector<Value>(function.getArguments().begin(), function.getArguments().end()));
}

void Lowering::makeThreadNumbers() {
  Location loc = source_.getLoc();
  tid_ = NVVM::ThreadIdXOp::create(b, loc, b.getI32Type());
  laneId_ = arith::AndIOp::create(b, loc, tid_, i32(ir::kWarpSize - 1));
  warpId_ = arith::ShRUIOp::create(b, loc, tid_, i32(5));
  if (teams() > 1) {
    int64_t threads = ir::warpsOf(source_) * ir::kWarpSize;
    tid_ = arith::AndIOp::create(b, loc, tid_, i32(threads - 1));
  }
}

int64_t Lowering::teams() const { return ir::teamsOf(source_); }

Value Lowering::team() {
  if (team_)
    return team_;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(uniformWarp().getDefiningOp());
  return team_ = arith::ShRUIOp::create(b, source_.getLoc(), uniformWarpId_,
                                        i32(llvm::Log2_64(ir::warpsOf(source_))));
}

int64_t Lowering::cluster() const { return ir::clusterOf(source_); }

Value Lowering::clusterRank() {
  Location loc = source_.getLoc();
  Value block = NVVM::BlockIdXOp::create(b, loc, b.getI32Type());
  return arith::AndIOp::create(b, loc, block, i32(static_cast<int32_t>(cluster()) - 1));
}

// How far a team's own shared memory is behind that of the first.
Value Lowering::teamMemory() {
  if (teamMemory_)
    return teamMemory_;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(team().getDefiningOp());
  return teamMemory_ =
             arith::MulIOp::create(b, source_.getLoc(), team_, i32(gpu::teamBytesOf(source_)));
}

static bool isPlace(Type type) { return isa<ir::ViewType, gpu::SmemType, gpu::RingType>(type); }

static bool isTileWithoutLayout(Type type) {
  return isa<RankedTensorType>(type) && !gpu::encodingOf(type);
}

// What the passes before guarantee, so that lowerings need not ask.
static LogicalResult verifyOperation(Operation *op) {
  bool isOurs = isa_and_present<ir::TileDialect, gpu::TileGpuDialect>(op->getDialect());
  if (!isOurs &&
      (llvm::any_of(op->getResultTypes(), isPlace) || llvm::any_of(op->getOperandTypes(), isPlace)))
    return op->emitOpError(
        "passes on a view or shared memory, whose place must be known at compile time");
  if (llvm::any_of(op->getResultTypes(), isTileWithoutLayout))
    return op->emitOpError(
        "makes a tile without a layout; the pass that assigns layouts has not run");
  if (isa<ir::ViewLoadOp, ir::ViewStoreOp, gpu::CopyAsyncOp, gpu::TensorCopyOp, gpu::TensorStoreOp>(
          op) &&
      !gpu::accessOf(op))
    return op->emitOpError("has no tilegpu.access; the pass that lowers views has not run");
  return success();
}

LogicalResult Lowering::verify(func::FuncOp kernel) {
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitOpError("has branches between blocks; a kernel's control flow is structured");
  if (llvm::any_of(kernel.getArgumentTypes(), isPlace))
    return kernel.emitOpError("has a view for an argument; the pass that lowers views has not run");
  WalkResult result = kernel.walk([](Operation *op) {
    return failed(verifyOperation(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Lowering::run() {
  if (failed(lowerBlock(source_.getBody().front())))
    return failure();
  func::ReturnOp::create(b, source_.getLoc(),
                         flatten(source_.getBody().front().getTerminator()->getOperands()));
  return success();
}

LogicalResult Lowering::lowerBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(lower(&op)))
      return failure();
  return success();
}

LogicalResult Lowering::lower(Operation *op) {
  if (LowerFunction function = findLowering(op->getName().getStringRef()))
    return function(*this, op);
  if (isa_and_present<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return lowerElementwise(*this, op);
  if (auto call = dyn_cast<func::CallOp>(op))
    return lowerCall(call);
  return op->emitOpError("has no lowering");
}

// Calls of callables stay, and were lowered before their callers; all others were inlined.
LogicalResult Lowering::lowerCall(func::CallOp call) {
  std::string name = entryNameOf(call.getCallee());
  auto callee = module().lookupSymbol<func::FuncOp>(name);
  if (!callee || !callee->hasAttr(ir::kCallableAttr))
    return ir::userError(call->emitOpError(), ErrorCode::Unsupported)
           << "calls a function that calls itself or has no body; use a loop";
  auto flat = func::CallOp::create(b, call.getLoc(), name, carriedTypes(call.getResultTypes()),
                                   flatten(call.getOperands()));
  unflatten(call.getResults(), flat.getResults());
  return success();
}

const Registers &Lowering::operator[](Value value) const {
  auto it = map_.find(value);
  assert(it != map_.end() && "operands are lowered before their users");
  return it->second;
}

size_t Lowering::countOf(Type type) {
  type = gpu::tileOf(type); // what is in flight is in the registers of its tile
  return isa<RankedTensorType>(type) ? gpu::layoutOf(type).numRegisters() : 1;
}

Type Lowering::registerType(Type type) {
  Type element = ir::elementTypeOf(gpu::tileOf(type));
  if (isa<ir::PtrType>(element))
    return LLVM::LLVMPointerType::get(type.getContext(),
                                      static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  if (ir::isFloat8(element))
    return IntegerType::get(type.getContext(), 8);
  return element;
}

// How many words hold a tile of narrow elements; 0 of others, and of tiles that fill no whole words.
static size_t wordsOf(Type type) {
  constexpr size_t kWordBits = 32, kNarrowest = 8;
  Type element = Lowering::registerType(type);
  size_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : kWordBits;
  size_t all = Lowering::countOf(type) * bits;
  return bits >= kNarrowest && bits < kWordBits && all % kWordBits == 0 ? all / kWordBits : 0;
}

SmallVector<Type> Lowering::carriedTypes(TypeRange types) {
  SmallVector<Type> carried;
  for (Type type : types)
    if (size_t words = wordsOf(type))
      carried.append(words, IntegerType::get(type.getContext(), 32));
    else
      carried.append(countOf(type), registerType(type));
  return carried;
}

Value Lowering::integer(unsigned bits, int64_t value) {
  return arith::ConstantOp::create(b, source_.getLoc(),
                                   b.getIntegerAttr(b.getIntegerType(bits), value));
}

Value Lowering::constant(Location loc, TypedAttr number) {
  if (ir::isFloat8(number.getType()))
    number = b.getIntegerAttr(b.getI8Type(), cast<FloatAttr>(number).getValue().bitcastToAPInt());
  return arith::ConstantOp::create(b, loc, number);
}

// Bits that move by the same distance move together: (number & mask) << distance, then XOR (no two overlap in layouts the
// compiler makes, but swizzles do).
Value Lowering::linear(Value number, ArrayRef<int64_t> bits) {
  Location loc = source_.getLoc();
  std::map<int, int64_t> maskByDistance;
  for (auto [bit, contribution] : llvm::enumerate(bits))
    for (int out = 0; out < 63; ++out)
      if (contribution >> out & 1)
        maskByDistance[out - static_cast<int>(bit)] |= int64_t(1) << bit;
  Value result;
  for (auto [distance, mask] : maskByDistance) {
    Value term = arith::AndIOp::create(b, loc, number, i32(mask));
    if (distance > 0)
      term = arith::ShLIOp::create(b, loc, term, i32(distance));
    else if (distance < 0)
      term = arith::ShRUIOp::create(b, loc, term, i32(-distance));
    result = result ? arith::XOrIOp::create(b, loc, result, term).getResult() : term;
  }
  return result ? result : i32(0);
}

Value Lowering::threadLinear(ArrayRef<int64_t> laneBits, ArrayRef<int64_t> warpBits) {
  std::string key;
  llvm::raw_string_ostream os(key);
  llvm::interleaveComma(laneBits, os);
  os << '|';
  llvm::interleaveComma(warpBits, os);
  Value &known = threadLinears_[key];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(
      warpId_.getDefiningOp()); // at the top: one computation for all loops and branches
  Value value = arith::XOrIOp::create(b, source_.getLoc(), linear(laneId_, laneBits),
                                      linear(warpId_, warpBits));
  return known = value;
}

// One lane tells the others: then the assembler keeps what follows from it in registers of the warp.
Value Lowering::uniformWarp() {
  if (uniformWarpId_)
    return uniformWarpId_;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(warpId_.getDefiningOp());
  return uniformWarpId_ = shuffleFrom(*this, source_.getLoc(), warpId_, i32(0));
}

Value Lowering::groupLinear(ArrayRef<int64_t> warpBits) {
  if (llvm::all_of(warpBits, [](int64_t bits) { return bits == 0; }))
    return i32(0);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(uniformWarp().getDefiningOp());
  return linear(uniformWarpId_, warpBits);
}

static SmallVector<int64_t> columnOf(const layout::Layout &layout, layout::In in, int dim) {
  SmallVector<int64_t> bits;
  for (const layout::Coords &vector : layout.bases(in))
    bits.push_back(vector[dim]);
  return bits;
}

Value Lowering::threadCoordinate(const layout::Layout &layout, int dim) {
  return threadLinear(columnOf(layout, layout::In::Lane, dim),
                      columnOf(layout, layout::In::Warp, dim));
}

Lowering::RegisterCoordinate Lowering::registerCoordinate(const layout::Layout &layout, int dim,
                                                          int32_t reg) {
  int32_t low = reg & ((1 << layout.registerBits()) - 1);
  return {layout.applyLinear(layout::In::Register, low)[dim], layout.oddOffset(reg)[dim]};
}

Value Lowering::coordinate(const layout::Layout &layout, int dim, int32_t reg) {
  RegisterCoordinate part = registerCoordinate(layout, dim, reg);
  Value value = threadCoordinate(layout, dim);
  if (part.linear)
    value = arith::XOrIOp::create(b, source_.getLoc(), value, i32(part.linear));
  if (part.odd)
    value = arith::AddIOp::create(b, source_.getLoc(), value, i32(part.odd));
  return value;
}

Value Lowering::isFirstHolder(const layout::Layout &layout) {
  uint32_t lanes = layout.freeMask(layout::In::Lane), warps = layout.freeMask(layout::In::Warp);
  uint32_t threads = lanes | warps << layout::kLaneBits;
  if (threads == 0)
    return {};
  Location loc = source_.getLoc();
  Value bits = arith::AndIOp::create(b, loc, tid_, i32(threads));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bits, i32(0));
}

Value Lowering::tensorMap(gpu::TensorMapAttr map) {
  for (unsigned i = source_.getNumArguments(); i < function_.getNumArguments(); ++i)
    if (gpu::tensorMapOf(function_, i) == map)
      return function_.getArgument(i);
  unsigned index = function_.getNumArguments();
  (void)function_.insertArgument(index, LLVM::LLVMPointerType::get(b.getContext()),
                                 b.getDictionaryAttr(gpu::tensorMapParameter(map)),
                                 source_.getLoc());
  return function_.getArgument(index);
}

Value Lowering::sharedPointer(Value byteOffset) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(),
                                         static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  Value base = LLVM::AddressOfOp::create(b, source_.getLoc(), type, kSharedSymbol);
  return LLVM::GEPOp::create(b, source_.getLoc(), type, b.getI8Type(), base,
                             ValueRange{byteOffset});
}

bool Lowering::hasPlace(Value smem) { return gpu::allocationOf(smem) != nullptr; }

// The distance of a stage that is known is part of the offset.
Lowering::SharedPlace Lowering::placeOf(Value smem) {
  auto stage = smem.getDefiningOp<gpu::SmemStageOp>();
  gpu::SmemAllocOp memory = gpu::allocationOf(smem);
  SharedPlace place{static_cast<int64_t>(memory.getOffset().value_or(0)), {}};
  APInt distance;
  if (stage && matchPattern(stage.getDistance(), m_ConstantInt(&distance)))
    place.offset += distance.getSExtValue();
  else if (stage)
    place.moved = scalar(stage.getDistance());
  if (teams() > 1 && memory.getScope() == gpu::Scope::Team)
    place.moved =
        place.moved
            ? arith::AddIOp::create(b, source_.getLoc(), place.moved, teamMemory()).getResult()
            : teamMemory();
  return place;
}

Value Lowering::sharedAddress(Value smem, int64_t byteOffset, Value moved) {
  Location loc = source_.getLoc();
  SharedPlace place = placeOf(smem);
  Value offset = i32(place.offset + byteOffset);
  for (Value part : {place.moved, moved})
    if (part)
      offset = arith::AddIOp::create(b, loc, offset, part);
  return LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), sharedPointer(offset));
}

Registers Lowering::flatten(ValueRange values) {
  Registers flat;
  for (Value value : values) {
    const Registers &registers = (*this)[value];
    if (wordsOf(value.getType()))
      llvm::append_range(flat, packWords(*this, value.getLoc(), registers).values);
    else
      llvm::append_range(flat, registers);
  }
  return flat;
}

void Lowering::unflatten(ValueRange values, ValueRange flat) {
  for (Value value : values) {
    size_t words = wordsOf(value.getType()), count = countOf(value.getType());
    ValueRange part = flat.take_front(words ? words : count);
    Registers registers(part.begin(), part.end());
    if (words)
      registers =
          unpackWords(*this, value.getLoc(), {32, registers}, registerType(value.getType()), count);
    set(value, std::move(registers));
    flat = flat.drop_front(part.size());
  }
}

LowerFunction findLowering(StringRef name) {
  static const llvm::StringMap<LowerFunction> table = [] {
    llvm::StringMap<LowerFunction> all;
    for (LoweringTable part :
         {asyncCopyLowerings(),     atomicLowerings(),         controlLowerings(),
          convertLowerings(),       debugLowerings(),          dotLowerings(),
          elementwiseLowerings(),   foreignCudaLowerings(),    foreignLowerings(),
          gridControlLowerings(),   layoutLowerings(),         mbarrierLowerings(),
          memoryLowerings(),        pairLowerings(),           reduceLowerings(),
          scanLowerings(),          shapeLowerings(),          sharedLowerings(),
          sharedIndexedLowerings(), roleLowerings(),           smemDotLowerings(),
          tensorCopyLowerings(),    orderedBarrierLowerings(), wgmmaLowerings(),
          workspaceLowerings()})
      for (auto [op, function] : part)
        all[op] = function;
    return all;
  }();
  return table.lookup(name);
}

} // namespace tile::codegen
