// The interface of operations that touch shared memory: which bytes, so that barriers can be
// placed.
#ifndef TILE_IR_SHAREDACCESSOP_TD
#define TILE_IR_SHAREDACCESSOP_TD

include "mlir/IR/OpBase.td"

def TileGpu_SharedAccessOp : OpInterface<"SharedAccessOp"> {
  let cppNamespace = "::tile::gpu";
  let description = [{
    An operation that reads or writes shared memory says here which bytes of which tile, once per
    tile and direction. The pass that places barriers refuses operations that touch shared memory
    and do not.
  }];
  let methods = [InterfaceMethod<"All accesses of shared memory that the operation makes.",
                                 "::llvm::SmallVector<::tile::gpu::SharedAccess, 2>", "getSharedAccesses">];
}

#endif // TILE_IR_SHAREDACCESSOP_TD
