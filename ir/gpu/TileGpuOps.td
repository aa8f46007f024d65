// Operations of `tilegpu`: changes of layout, shared memory, rings, barriers.
#ifndef TILE_IR_TILEGPUOPS_TD
#define TILE_IR_TILEGPUOPS_TD

include "ir/gpu/SharedAccessOp.td"
include "ir/gpu/TileGpuAnnotations.td"
include "ir/gpu/TileGpuAsyncOps.td"
include "ir/gpu/TileGpuOpBase.td"
include "ir/gpu/TileGpuRingOps.td"
include "ir/gpu/TileGpuRoleOps.td"
include "ir/gpu/TileGpuScanOps.td"
include "ir/gpu/TileGpuTmaOps.td"
include "ir/gpu/TileGpuWgmmaOps.td"
include "ir/gpu/TileGpuWorkspaceOps.td"

def TileGpu_ConvertLayoutOp : TileGpu_Op<"convert_layout", [Pure]> {
  let summary = "The same tile in another layout";
  let description = [{
    Codegen chooses the cheapest way; with `by_shuffles` it uses no shared memory, even if that
    takes many shuffles.

    Example:
    ```mlir
    #a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
    #b = #tilegpu.layout<register = [], lane = [[16], [8], [4], [2], [1]], warp = []>
    func.func @example(%x: tensor<32xf32, #a>) -> tensor<32xf32, #b> {
      %y = tilegpu.convert_layout %x : tensor<32xf32, #a> -> tensor<32xf32, #b>
      return %y : tensor<32xf32, #b>
    }
    ```
  }];
  let arguments = (ins TileGpu_Tile:$input, UnitAttr:$by_shuffles);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = "$input (`by_shuffles` $by_shuffles^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TileGpu_SubtileOp : TileGpu_Op<"subtile", [Pure]> {
  let summary = "A subtile that has registers of its own";
  let description = [{
    The elements from position `start` on, one number per dimension, in the result's extents. No
    data moves: the extents of subtiles are powers of two, and only registers tell subtiles apart.

    Example:
    ```mlir
    #a = #tilegpu.layout<register = [[0, 1], [0, 64]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
    #b = #tilegpu.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
    func.func @example(%x: tensor<2x128xf32, #a>) -> tensor<2x64xf32, #b> {
      %y = tilegpu.subtile %x from [0, 64] : tensor<2x128xf32, #a> -> tensor<2x64xf32, #b>
      return %y : tensor<2x64xf32, #b>
    }
    ```
  }];
  let arguments = (ins TileGpu_Tile:$input, DenseI64ArrayAttr:$start);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = "$input `from` $start attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def TileGpu_FromSubtilesOp : TileGpu_Op<"from_subtiles", [Pure]> {
  let summary = "The tile that these subtiles make up";
  let description = [{
    The inverse of `tilegpu.subtile`: all subtiles, of one shape, in the order of their positions,
    the last dimension's varying fastest. No data moves.

    Example:
    ```mlir
    #a = #tilegpu.layout<register = [[0, 1], [0, 64]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
    #b = #tilegpu.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
    func.func @example(%l: tensor<2x64xf32, #b>, %r: tensor<2x64xf32, #b>) -> tensor<2x128xf32, #a> {
      %y = tilegpu.from_subtiles %l, %r : (tensor<2x64xf32, #b>, tensor<2x64xf32, #b>) -> tensor<2x128xf32, #a>
      return %y : tensor<2x128xf32, #a>
    }
    ```
  }];
  let arguments = (ins Variadic<TileGpu_Tile>:$subtiles);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = "$subtiles attr-dict `:` functional-type($subtiles, $result)";
  let hasVerifier = 1;
}

def TileGpu_ReducePartialOp : TileGpu_Op<"reduce_partial", [Pure, SingleBlock]> {
  let summary = "Reduce, along an axis, the elements of each warp";
  let description = [{
    The first step of a reduction whose axis is spread over W warps: the axis shrinks to extent W,
    one element per warp. The second step is a change of layout and a `tile.reduce`.

    Example:
    ```mlir
    #a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
    #b = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1], [2]]>
    func.func @example(%x: tensor<128xf32, #a>) -> tensor<4xf32, #b> {
      %y = tilegpu.reduce_partial %x axis 0 : tensor<128xf32, #a> -> tensor<4xf32, #b> {
      ^bb0(%l: f32, %r: f32):
        %s = arith.addf %l, %r : f32
        tilegpu.yield %s : f32
      }
      return %y : tensor<4xf32, #b>
    }
    ```
  }];
  let arguments = (ins Variadic<TileGpu_Tile>:$inputs, I32Attr:$axis);
  let results = (outs Variadic<TileGpu_Tile>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` type($inputs) `->` type($results) $combine";
  let hasVerifier = 1;
}

def TileGpu_YieldOp : TileGpu_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ReducePartialOp", "ScanCarryOp", "ScanPartialOp"]>]> {
  let summary = "Result of a combine region";
  let description = [{
    Example: see `tilegpu.reduce_partial`.
    ```mlir
    #a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
    #b = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1]]>
    func.func @example(%x: tensor<64xi32, #a>) -> tensor<2xi32, #b> {
      %y = tilegpu.reduce_partial %x axis 0 : tensor<64xi32, #a> -> tensor<2xi32, #b> {
      ^bb0(%l: i32, %r: i32):
        %s = arith.maxsi %l, %r : i32
        tilegpu.yield %s : i32
      }
      return %y : tensor<2xi32, #b>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def TileGpu_SmemAllocOp : TileGpu_Op<"smem_alloc", [MemoryEffects<[MemAlloc<TileGpu_SharedMemory>]>]> {
  let summary = "Allocate shared memory for a tile, or for several stages of one type";
  let description = [{
    `offset`, in bytes from the start of the block's shared memory, is set by AllocateShared. The
    memory is free again after the last use of the result. With `stages` the allocation holds that
    many tiles, one after the other; the result is the first, `tilegpu.smem_stage` names the others.
    Each starts at a multiple of `alignment` bytes, a power of two.

    With scope `team` each team has memory of its own, `tilegpu.team_bytes` (an attribute of the
    kernel) after that of the previous team. With scope `block` all warps of the block share it.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
    %a = tilegpu.smem_alloc : !tilegpu.smem<4x8xf16, #s>
    %b = tilegpu.smem_alloc stages 3 {offset = 1024 : i32} : !tilegpu.smem<4x8xf16, #s>
    ```
  }];
  let arguments = (ins OptionalAttr<I32Attr>:$offset, DefaultValuedAttr<I32Attr, "1">:$stages,
                       DefaultValuedAttr<I32Attr, "::tile::gpu::kSharedAlignment">:$alignment,
                       DefaultValuedAttr<TileGpu_ScopeAttr, "::tile::gpu::Scope::Team">:$scope);
  let results = (outs TileGpu_SmemType:$result);
  let assemblyFormat = "(`stages` $stages^)? attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "SmemType":$type, CArg<"int32_t", "1">:$stages, CArg<"int32_t", "kSharedAlignment">:$alignment)>];
  let extraClassDeclaration = [{
    /// Bytes from one stage to the next; every stage is aligned.
    int64_t getStageStride();
    int64_t getTotalBytes();
  }];
  let hasVerifier = 1;
}

def TileGpu_SmemStageOp : TileGpu_Op<"smem_stage", [Pure, AllTypesMatch<["memory", "result"]>]> {
  let summary = "One stage of an allocation, or a subtile of one";
  let description = [{
    `distance` is the byte offset from stage 0: the stage's index times the stage stride of the
    allocation, or, for a tile whose subtiles lie one after the other, the subtile's index times its
    bytes. It may be a run-time number. It is in bytes so that a loop can carry it from stage to
    stage and addresses only add it, while an index would have to be multiplied per address.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
    func.func @example(%distance: i32) {
      %m = tilegpu.smem_alloc stages 3 : !tilegpu.smem<4x8xf16, #s>
      %n = tilegpu.smem_stage %m at %distance : !tilegpu.smem<4x8xf16, #s>
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_SmemType:$memory, I32:$distance);
  let results = (outs TileGpu_SmemType:$result);
  let assemblyFormat = "$memory `at` $distance attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def TileGpu_SmemStoreOp : TileGpu_Op<"smem_store", [MemoryEffects<[MemWrite<TileGpu_SharedMemory>]>,
                                                    DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "Write a tile to shared memory";
  let description = [{
    If several threads hold one element, all of them write it, or with `first_holder` only the
    first, for tiles whose other copies are undefined. A tile that is smaller than the memory is its
    leading part. With `by_matrices` eight threads together write each row of 16 bytes (stmatrix,
    from sm_90 on); this requires 16-bit elements in the layout of an accumulator.

    Example:
    ```mlir
    #l = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>
    #s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
    func.func @example(%x: tensor<4x8xf16, #l>) {
      %m = tilegpu.smem_alloc : !tilegpu.smem<4x8xf16, #s>
      tilegpu.smem_store %x, %m : tensor<4x8xf16, #l>, !tilegpu.smem<4x8xf16, #s>
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_Tile:$value, TileGpu_SmemType:$smem, UnitAttr:$first_holder, UnitAttr:$by_matrices);
  let assemblyFormat = [{
    $value `,` $smem (`first_holder` $first_holder^)? (`by_matrices` $by_matrices^)? attr-dict
    `:` type($value) `,` type($smem)
  }];
  let hasVerifier = 1;
}

def TileGpu_SmemLoadOp : TileGpu_Op<"smem_load", [MemoryEffects<[MemRead<TileGpu_SharedMemory>]>,
                                                  DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "Read a tile from shared memory";
  let description = [{
    A tile that is smaller than the memory is its leading part. With `rank` the tile is read from
    the shared memory of that block of the cluster, at the same offset as in this block's.

    Example:
    ```mlir
    #l = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>
    #s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
    func.func @example(%m: !tilegpu.smem<4x8xf16, #s>) -> tensor<4x8xf16, #l> {
      %x = tilegpu.smem_load %m : !tilegpu.smem<4x8xf16, #s> -> tensor<4x8xf16, #l>
      %c1 = arith.constant 1 : i32
      %y = tilegpu.smem_load %m rank %c1 : !tilegpu.smem<4x8xf16, #s> -> tensor<4x8xf16, #l>
      return %x : tensor<4x8xf16, #l>
    }
    ```
  }];
  let arguments = (ins TileGpu_SmemType:$smem, Optional<I32>:$rank);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = "$smem (`rank` $rank^)? attr-dict `:` type($smem) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$smem), [{
    build($_builder, $_state, result, smem, /*rank=*/::mlir::Value());
  }]>];
  let hasVerifier = 1;
}

def TileGpu_SmemDotOp : TileGpu_Op<"smem_dot", [AllTypesMatch<["acc", "result"]>,
                                                MemoryEffects<[MemRead<TileGpu_SharedMemory>]>,
                                                DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "Dot by multiply-add, of operands in shared memory";
  let description = [{
    Like `tile.dot`. A loop over K loads the operands of each thread; only the accumulator is in
    registers as a whole. Narrow floating-point accumulators are accumulated in f32 and rounded
    once.

    Example:
    ```mlir
    #l = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>
    #s = #tilegpu.shared<panel = [2, 2], linear = [1, 2, 4, 8], digits = [16, 16]>
    #t = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
    func.func @example(%a: !tilegpu.smem<4x4xf32, #s>, %b: !tilegpu.smem<4x8xf32, #t>,
                       %c: tensor<4x8xf32, #l>) -> tensor<4x8xf32, #l> {
      %d = tilegpu.smem_dot %a, %b, %c
        : !tilegpu.smem<4x4xf32, #s>, !tilegpu.smem<4x8xf32, #t>, tensor<4x8xf32, #l>
      return %d : tensor<4x8xf32, #l>
    }
    ```
  }];
  let arguments = (ins TileGpu_SmemType:$a, TileGpu_SmemType:$b, TileGpu_Tile:$acc,
                       UnitAttr:$operands_unsigned);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`unsigned` $operands_unsigned^)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def TileGpu_SmemGatherOp : TileGpu_Op<"smem_gather", [MemoryEffects<[MemRead<TileGpu_SharedMemory>]>,
                                                      DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "Read elements of a tile in shared memory, selected by an index along one axis";
  let description = [{
    Like `tile.gather`; an index outside of the axis reads its last element.

    Example:
    ```mlir
    #l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
    #s = #tilegpu.shared<panel = [6], linear = [1, 2, 4, 8, 16, 32], digits = [64]>
    func.func @example(%m: !tilegpu.smem<64xf32, #s>, %i: tensor<32xi32, #l>) -> tensor<32xf32, #l> {
      %x = tilegpu.smem_gather %m[%i] axis 0 : !tilegpu.smem<64xf32, #s>, tensor<32xi32, #l> -> tensor<32xf32, #l>
      return %x : tensor<32xf32, #l>
    }
    ```
  }];
  let arguments = (ins TileGpu_SmemType:$smem, TileGpu_Tile:$indices, I32Attr:$axis);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = [{
    $smem `[` $indices `]` `axis` $axis attr-dict `:` type($smem) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGpu_SmemCountOp : TileGpu_Op<"smem_count", [MemoryEffects<[MemRead<TileGpu_SharedMemory>,
                                                                  MemWrite<TileGpu_SharedMemory>]>,
                                                    DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "Increment the counter of each element";
  let description = [{
    The counters are i32 in shared memory; each element is the index of its counter. Elements out of
    range, and those whose `mask` is false, are ignored.

    Example:
    ```mlir
    #l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
    #s = #tilegpu.shared<panel = [4], linear = [1, 2, 4, 8], digits = [16]>
    func.func @example(%m: !tilegpu.smem<16xi32, #s>, %x: tensor<32xi32, #l>) {
      tilegpu.smem_count %x, %m : tensor<32xi32, #l>, !tilegpu.smem<16xi32, #s>
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_Tile:$input, TileGpu_SmemType:$smem, Optional<TileGpu_Tile>:$mask);
  let assemblyFormat = "$input `,` $smem (`mask` $mask^)? attr-dict `:` type($input) `,` type($smem) (`,` type($mask)^)?";
  let hasVerifier = 1;
}

def TileGpu_BarrierOp : TileGpu_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Synchronize all threads of the scope";
  let description = [{
    Memory accesses before it are visible to these threads after it. Only passes create it; `reason`
    is the first pair of accesses that it orders, as a sentence. The scope determines the named
    barrier (ir/gpu/NamedBarriers.h). With scope `block` and `cluster` the mbarriers that were
    initialized before it may be used after it, by the producer warp and by TMA; with `cluster` also
    those of other blocks. A barrier of a cluster does not wait for threads that have ended.

    Example:
    ```mlir
    tilegpu.barrier
    tilegpu.barrier {reason = "read after write of shared memory bytes 0 to 127"}
    tilegpu.barrier {scope = #tilegpu.scope<block>}
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$reason, DefaultValuedAttr<TileGpu_ScopeAttr, "::tile::gpu::Scope::Team">:$scope);
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins CArg<"::llvm::StringRef", "{}">:$reason, CArg<"::tile::gpu::Scope", "::tile::gpu::Scope::Team">:$scope)>];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

#endif // TILE_IR_TILEGPUOPS_TD
