#include "ir/Callable.h"

#include "ir/tile/TileDialect.h"

using namespace mlir;

namespace tile::ir {

func::FuncOp callableOf(func::CallOp call) {
  auto module = call->getParentOfType<ModuleOp>();
  auto function = module ? module.lookupSymbol<func::FuncOp>(call.getCallee()) : func::FuncOp();
  return function && function->hasAttr(kCallableAttr) ? function : func::FuncOp();
}

namespace {

bool isNumbers(Type type) {
  Type element = elementTypeOf(type);
  return element.isIntOrFloat() && (type == element || isa<RankedTensorType>(type));
}

bool accessesMemory(Operation *op) {
  if (isa<InlinePtxOp, InlineCudaOp>(op))
    return !isMemoryEffectFree(op);
  return isa<ViewLoadOp, ViewStoreOp, LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp, PrefetchOp,
             PrintOp, AssertOp, AssumeOp, DebugBarrierOp>(op);
}

// The callable itself, or what stands before it.
LogicalResult verifyNotCalledIn(Operation *caller, func::FuncOp function) {
  WalkResult result = caller->walk([&](func::CallOp call) {
    if (call.getCallee() != function.getName())
      return WalkResult::advance();
    call.emitOpError("calls @") << function.getName()
                                << ", which must stand before its callers and not call itself";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

} // namespace

LogicalResult verifyCallable(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || function.isExternal())
    return op->emitOpError("tile.callable belongs on a function with a body");
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (!isNumbers(type))
      return op->emitOpError("takes and returns tiles and scalars, not ") << type;
  WalkResult body = function.walk([](Operation *inner) {
    if (!accessesMemory(inner))
      return WalkResult::advance();
    inner->emitOpError("stands in a function that is called, which computes with values alone");
    return WalkResult::interrupt();
  });
  if (body.wasInterrupted() || failed(verifyNotCalledIn(function, function)))
    return failure();
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
    if (failed(verifyNotCalledIn(before, function)))
      return failure();
  return success();
}

} // namespace tile::ir
