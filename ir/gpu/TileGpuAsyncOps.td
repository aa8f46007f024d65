// Asynchronous copies from global to shared memory by cp.async, which are waited for in groups.
#ifndef TILE_IR_TILEGPUASYNCOPS_TD
#define TILE_IR_TILEGPUASYNCOPS_TD

include "ir/gpu/SharedAccessOp.td"
include "ir/gpu/TileGpuOpBase.td"

def TileGpu_CopyAsyncOp : TileGpu_Op<"copy_async", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite<TileGpu_SharedMemory>]>, DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "Copy a tile of a view to shared memory, asynchronously";
  let description = [{
    Like `tilegpu.ring_copy`, to memory. The bytes are visible to the thread that copied them after
    it has waited for their group, and to others after a barrier after that wait.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
    func.func @example(%v: !tile.view<2xf16>, %o: i32) {
      %m = tilegpu.smem_alloc : !tilegpu.smem<4x8xf16, #s>
      tilegpu.copy_async %v[%o, %o], %m shape [4, 8]
        {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>}
        : !tile.view<2xf16>, !tilegpu.smem<4x8xf16, #s>
      tilegpu.async_commit
      tilegpu.async_wait 0
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_View:$view, Variadic<I32>:$offsets, TileGpu_SmemType:$smem, Optional<I1>:$predicate,
                       DenseI64ArrayAttr:$shape);
  let assemblyFormat = [{
    $view `[` $offsets `]` `,` $smem `shape` $shape (`if` $predicate^)? attr-dict `:` type($view) `,` type($smem)
  }];
  let hasVerifier = 1;
}

def TileGpu_AsyncCommitOp : TileGpu_Op<"async_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The thread's copies since the last commit become a group";
  let description = [{
    Example: see `tilegpu.copy_async`.
    ```mlir
    tilegpu.async_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGpu_AsyncWaitOp : TileGpu_Op<"async_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait for all but the last groups of the thread's copies";
  let description = [{
    The last `pending` groups may stay in flight.

    Example: see `tilegpu.copy_async`.
    ```mlir
    tilegpu.async_wait 1
    ```
  }];
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
  let hasVerifier = 1;
}

#endif // TILE_IR_TILEGPUASYNCOPS_TD
