// The interface by which operations on shared memory report which bytes they access, so that
// barriers can be placed.
#ifndef TILE_IR_SHAREDACCESSOP_TD
#define TILE_IR_SHAREDACCESSOP_TD

include "mlir/IR/OpBase.td"

def TileGpu_SharedAccessOp : OpInterface<"SharedAccessOp"> {
  let cppNamespace = "::tile::gpu";
  let description = [{
    An operation that reads or writes shared memory implements this: one access per tile and
    direction, with the range of bytes. PlaceBarriers refuses operations that touch shared memory
    without it.
  }];
  let methods = [InterfaceMethod<"All accesses of shared memory that the operation makes.",
                                 "::llvm::SmallVector<::tile::gpu::SharedAccess, 2>", "getSharedAccesses">];
}

#endif // TILE_IR_SHAREDACCESSOP_TD
