// mbarriers, and copies of tiles by TMA (sm_90 and newer): one thread issues a copy, an mbarrier in
// shared memory counts the bytes that have arrived.
#ifndef TILE_IR_TILEGPUTMAOPS_TD
#define TILE_IR_TILEGPUTMAOPS_TD

include "ir/gpu/SharedAccessOp.td"
include "ir/gpu/TileGpuOpBase.td"

class TileGpu_MbarrierOp<string opMnemonic> : TileGpu_Op<"mbarrier_" # opMnemonic,
    [MemoryEffects<[MemRead<TileGpu_SharedMemory>, MemWrite<TileGpu_SharedMemory>]>,
     DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let hasVerifier = 1;
}

def TileGpu_ElectOp : TileGpu_Op<"elect", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "One thread of the scope executes the body";
  let description = [{
    The thread belongs to the first warp: of each team with scope `team`, of all consumers with
    scope `consumers`. With scope `block` it belongs to the producer warp, if the kernel has one:
    only mbarriers order the body against other warps, as they do for the fills of a stage. The body
    is skipped if `predicate` is false, which must be uniform over all threads. It holds operations
    on mbarriers and TMA, which one thread issues.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
    %m = tilegpu.smem_alloc : !tilegpu.smem<4xi64, #s>
    tilegpu.elect {
      tilegpu.mbarrier_init %m : !tilegpu.smem<4xi64, #s>
    }
    ```
  }];
  let arguments = (ins Optional<I1>:$predicate, DefaultValuedAttr<TileGpu_ScopeAttr, "::tile::gpu::Scope::Team">:$scope);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`if` $predicate^)? $body attr-dict";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$predicate, "::tile::gpu::Scope":$scope)>];
  let hasVerifier = 1;
}

def TileGpu_MbarrierInitOp : TileGpu_MbarrierOp<"init"> {
  let summary = "Initialize mbarriers, which count arrivals and bytes";
  let description = [{
    Each element of the memory becomes an mbarrier. Its phases alternate in parity, beginning with
    0. A phase ends after `arrivals` arrivals (`tilegpu.mbarrier_arrive` and
    `tilegpu.mbarrier_expect`) and when all bytes that `mbarrier_expect` announced have arrived.
    Other threads may use the mbarrier after a `tilegpu.barrier`, TMA after a `tilegpu.proxy_fence`.

    Example: see `tilegpu.elect`.
    ```mlir
    #s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
    %m = tilegpu.smem_alloc : !tilegpu.smem<4xi64, #s>
    tilegpu.elect {
      tilegpu.mbarrier_init %m : !tilegpu.smem<4xi64, #s>
    }
    ```
  }];
  let arguments = (ins TileGpu_SmemType:$barriers, DefaultValuedAttr<I32Attr, "1">:$arrivals);
  let assemblyFormat = "$barriers (`arrivals` $arrivals^)? attr-dict `:` type($barriers)";
}

def TileGpu_MbarrierInvalOp : TileGpu_MbarrierOp<"inval"> {
  let summary = "Invalidate mbarriers, so that their memory can be reused";
  let description = [{
    Precondition: every thread has passed its last wait on these mbarriers.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
    %m = tilegpu.smem_alloc : !tilegpu.smem<4xi64, #s>
    tilegpu.elect {
      tilegpu.mbarrier_inval %m : !tilegpu.smem<4xi64, #s>
    }
    ```
  }];
  let arguments = (ins TileGpu_SmemType:$barriers);
  let assemblyFormat = "$barriers attr-dict `:` type($barriers)";
}

def TileGpu_MbarrierExpectOp : TileGpu_MbarrierOp<"expect"> {
  let summary = "Arrive at an mbarrier and announce bytes that its phase waits for";
  let description = [{
    The mbarrier is the one `distance` bytes after the first.

    Example: see `tilegpu.tensor_copy`.
    ```mlir
    #s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
    func.func @example(%distance: i32) {
      %m = tilegpu.smem_alloc : !tilegpu.smem<4xi64, #s>
      tilegpu.elect {
        tilegpu.mbarrier_expect 4096 at %m[%distance] : !tilegpu.smem<4xi64, #s>
      }
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_SmemType:$barriers, I32:$distance, I32Attr:$bytes);
  let assemblyFormat = "$bytes `at` $barriers `[` $distance `]` attr-dict `:` type($barriers)";
}

def TileGpu_MbarrierArriveOp : TileGpu_MbarrierOp<"arrive"> {
  let summary = "Each warp arrives at an mbarrier";
  let description = [{
    One arrival per warp, at the mbarrier `distance` bytes after the first. It orders what wgmma has
    read and written for the warp, in dots that were waited for, before the end of the phase; with
    `after_reads` also what each of the warp's threads has read and written. The arrival is skipped
    if `predicate` is false, which must be uniform over a warp. With scope `cluster` the warp
    arrives at that mbarrier of each block of the cluster.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
    func.func @example(%distance: i32, %isSecond: i1) {
      %m = tilegpu.smem_alloc : !tilegpu.smem<4xi64, #s>
      tilegpu.mbarrier_arrive %m[%distance] : !tilegpu.smem<4xi64, #s>
      tilegpu.mbarrier_arrive %m[%distance] if %isSecond : !tilegpu.smem<4xi64, #s>
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_SmemType:$barriers, I32:$distance, Optional<I1>:$predicate, UnitAttr:$after_reads,
                       DefaultValuedAttr<TileGpu_ScopeAttr, "::tile::gpu::Scope::Block">:$scope);
  let assemblyFormat = [{
    $barriers `[` $distance `]` (`if` $predicate^)? (`after_reads` $after_reads^)? attr-dict
    `:` type($barriers)
  }];
}

def TileGpu_MbarrierWaitOp : TileGpu_MbarrierOp<"wait"> {
  let summary = "Wait until a phase of an mbarrier has ended";
  let description = [{
    The phase is that of parity `parity` (0 or 1) of the mbarrier `distance` bytes after the first:
    the current phase or the one before it. The bytes that arrived in it are visible to the threads
    that have waited.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [2], linear = [1, 2], digits = [4]>
    func.func @example(%distance: i32, %parity: i32) {
      %m = tilegpu.smem_alloc : !tilegpu.smem<4xi64, #s>
      tilegpu.mbarrier_wait %m[%distance] parity %parity : !tilegpu.smem<4xi64, #s>
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_SmemType:$barriers, I32:$distance, I32:$parity);
  let assemblyFormat = "$barriers `[` $distance `]` `parity` $parity attr-dict `:` type($barriers)";
}

def TileGpu_TensorCopyOp : TileGpu_Op<"tensor_copy", [MemoryEffects<[MemRead, MemRead<TileGpu_SharedMemory>,
                                                                     MemWrite<TileGpu_SharedMemory>]>,
                                                      DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "Copy a tile of a view to shared memory by TMA";
  let description = [{
    Like `tilegpu.ring_copy`, to memory that is laid out in boxes with a swizzle, issued by the
    thread that executes it. The mbarrier `distance` bytes after the first of `barriers` counts the
    bytes; those outside of the view arrive as zeros and count, too. With `multicast` the thread
    copies its block's share of the tile to the memory of all blocks of the cluster, each of which
    copies another share.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [3, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288], digits = [512, 512]>
    #b = #tilegpu.shared<panel = [0], linear = [], digits = [1]>
    func.func @example(%v: !tile.view<2xf16>, %o: i32, %distance: i32) {
      %m = tilegpu.smem_alloc {alignment = 1024 : i32} : !tilegpu.smem<8x64xf16, #s>
      %b = tilegpu.smem_alloc : !tilegpu.smem<1xi64, #b>
      tilegpu.elect {
        tilegpu.mbarrier_expect 1024 at %b[%distance] : !tilegpu.smem<1xi64, #b>
        tilegpu.tensor_copy %v[%o, %o], %m, %b[%distance] shape [8, 64]
          {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>}
          : !tile.view<2xf16>, !tilegpu.smem<8x64xf16, #s>, !tilegpu.smem<1xi64, #b>
      }
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_View:$view, Variadic<I32>:$offsets, TileGpu_SmemType:$smem, TileGpu_SmemType:$barriers,
                       I32:$distance, DenseI64ArrayAttr:$shape, UnitAttr:$multicast);
  let assemblyFormat = [{
    $view `[` $offsets `]` `,` $smem `,` $barriers `[` $distance `]` `shape` $shape (`multicast` $multicast^)? attr-dict
    `:` type($view) `,` type($smem) `,` type($barriers)
  }];
  let hasVerifier = 1;
}

def TileGpu_TensorStoreOp : TileGpu_Op<"tensor_store", [MemoryEffects<[MemWrite, MemRead<TileGpu_SharedMemory>,
                                                                       MemWrite<TileGpu_SharedMemory>]>,
                                                        DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "Issue a copy of a tile in shared memory to a view by TMA";
  let description = [{
    The thread that executes it issues the copy; elements outside of the view are dropped. The
    offsets must not be negative. The copy reads what threads have written to the memory if they
    have executed a `tilegpu.proxy_fence` and synchronized after that. It is in flight until a
    `tilegpu.tensor_store_wait` of the same thread.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [3, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288], digits = [512, 512]>
    func.func @example(%v: !tile.view<2xf16>, %o: i32) {
      %m = tilegpu.smem_alloc {alignment = 1024 : i32} : !tilegpu.smem<8x64xf16, #s>
      tilegpu.elect {
        tilegpu.tensor_store %m, %v[%o, %o] shape [8, 64]
          {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>}
          : !tilegpu.smem<8x64xf16, #s>, !tile.view<2xf16>
      }
      tilegpu.elect {
        tilegpu.tensor_store_wait %m pending 0 : !tilegpu.smem<8x64xf16, #s>
      }
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_SmemType:$smem, TileGpu_View:$view, Variadic<I32>:$offsets, DenseI64ArrayAttr:$shape);
  let assemblyFormat = [{
    $smem `,` $view `[` $offsets `]` `shape` $shape attr-dict `:` type($smem) `,` type($view)
  }];
  let hasVerifier = 1;
}

def TileGpu_TensorStoreWaitOp : TileGpu_Op<"tensor_store_wait", [MemoryEffects<[MemRead<TileGpu_SharedMemory>,
                                                                               MemWrite<TileGpu_SharedMemory>]>,
                                                                DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "Wait for all but the last TMA stores";
  let description = [{
    The last `pending` stores that the thread has issued (`tilegpu.tensor_store`) may stay in
    flight; the others have written their tiles, or with `reads` have only read them. Their tiles
    are `memories`, which may then be overwritten.

    Example: see `tilegpu.tensor_store`.
    ```mlir
    #s = #tilegpu.shared<panel = [3, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288], digits = [512, 512]>
    %m = tilegpu.smem_alloc {alignment = 1024 : i32} : !tilegpu.smem<8x64xf16, #s>
    tilegpu.elect {
      tilegpu.tensor_store_wait %m pending 1 reads : !tilegpu.smem<8x64xf16, #s>
    }
    ```
  }];
  let arguments = (ins Variadic<TileGpu_SmemType>:$memories, ConfinedAttr<I32Attr, [IntMinValue<0>]>:$pending, UnitAttr:$reads);
  let assemblyFormat = "$memories `pending` $pending (`reads` $reads^)? attr-dict `:` type($memories)";
}

#endif // TILE_IR_TILEGPUTMAOPS_TD
