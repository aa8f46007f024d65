// Copies of whole tiles by the copy engine (TMA) of sm_90 and newer: one thread asks for them, a
// barrier in shared memory counts the bytes that have come.
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
    The thread belongs to the first warp: of each team with scope `team`, of all consumers with scope `consumers`. With scope
    `block` it belongs to the producer warp, if the kernel has one: only mbarriers order the body against what other warps do,
    as they order the fill of a stage. Nobody executes it if `predicate` is false, which is the same in all threads. It holds
    operations on mbarriers and TMA, which one thread issues.

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
}

def TileGpu_MbarrierInitOp : TileGpu_MbarrierOp<"init"> {
  let summary = "Make barriers that wait for arrivals and bytes";
  let description = [{
    Each element of the memory becomes a barrier. Each of its phases, the first of parity 0, ends when so
    many have arrived as `arrivals` says: by `tilegpu.mbarrier_arrive`, or by `tilegpu.mbarrier_expect`, which
    says how many bytes will come, and those have come. Other threads see the barrier behind a
    `tilegpu.barrier`, the copy engine behind a `tilegpu.proxy_fence`.

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
  let summary = "The memory of barriers may hold something else again";
  let description = [{
    All threads have come behind their last wait.

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
  let summary = "The phase of a barrier ends when so many bytes have come";
  let description = [{
    The barrier is the one `distance` bytes behind the first.

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
  let summary = "Each warp arrives at a barrier";
  let description = [{
    Once, at the barrier `distance` bytes behind the first. Who waits for the phase sees what the tensor core has
    read and written for the warp before, of products that were waited for; with `after_reads` also what each of
    its threads has. With a predicate, only where that holds, which is the same in all threads of a warp. With
    scope `cluster` it arrives at that barrier of each block of the cluster.

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
  let summary = "Wait until a phase of a barrier has ended";
  let description = [{
    It is the phase of parity `parity` (0 or 1) of the barrier `distance` bytes behind the first: the one under way or the
    one before. What came in it is seen by the threads that have waited.

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
  let summary = "Copy a tile of a view to shared memory by the copy engine";
  let description = [{
    As `tilegpu.ring_copy`, to memory laid out in boxes with a swizzle, by the thread that executes it
    alone. The bytes count at the barrier `distance` bytes behind the first of `barriers`; those
    outside the view, which arrive as zeros, count too. With `multicast` the thread copies its block's share of the
    tile, to the memory of all blocks of the cluster, of which each copies another share.

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
  let summary = "Begin to copy a tile in shared memory to a view by the copy engine";
  let description = [{
    By the thread that executes it alone; elements outside the view are dropped. The tile's place is not negative. What
    threads wrote to the memory is read if they have executed a `tilegpu.proxy_fence` and then met. The copy is under way
    until a `tilegpu.tensor_store_wait` of the same thread.

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
  let summary = "Wait for all but the youngest stores by the copy engine";
  let description = [{
    `pending` of the thread's `tilegpu.tensor_store`, those begun last, may still be under way; the others have written
    their tiles, or with `reads` have read them. They read `memories`, which may then be written again.

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
