#include "codegen/lower/Lowering.h"

#include "codegen/EntryName.h"
#include "codegen/thread/Words.h"
#include "ir/UserError.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tile::codegen {

Lowering::Lowering(func::FuncOp source, func::FuncOp function, const ir::Target &target)
    : ThreadValues(source, OpBuilder::atBlockBegin(&function.getBody().front())), target(target),
      threads(*this), coordinates(*this, threads), shared(*this, threads),
      module(*this, threads, function) {
  SmallVector<Value> parameters(source.getArguments().begin(), source.getArguments().end());
  unflatten(parameters,
            SmallVector<Value>(function.getArguments().begin(), function.getArguments().end()));
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
  if (failed(lowerBlock(source().getBody().front())))
    return failure();
  func::ReturnOp::create(b, loc(),
                         flatten(source().getBody().front().getTerminator()->getOperands()));
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
  auto callee = module.op().lookupSymbol<func::FuncOp>(name);
  if (!callee || !callee->hasAttr(ir::kCallableAttr))
    return ir::userError(call->emitOpError(), ErrorCode::Unsupported)
           << "calls a function that calls itself or has no body; use a loop";
  auto flat = func::CallOp::create(b, call.getLoc(), name, carriedTypes(call.getResultTypes()),
                                   flatten(call.getOperands()));
  unflatten(call.getResults(), flat.getResults());
  return success();
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
