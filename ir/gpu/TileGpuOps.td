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
    By the cheapest means; with `by_shuffles` not through shared memory, though that takes many shuffles.

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
  let summary = "A subtile that threads hold in registers of its own";
  let description = [{
    The elements from position `start` on, one number a dimension, as many as the result has. Nothing moves:
    the subtiles along a dimension are all powers of two long, and registers alone tell them apart.

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
  let summary = "The tile of which these are the subtiles";
  let description = [{
    The inverse of `tilegpu.subtile`: all subtiles of one shape in the order of their positions, the last dimension's varying fastest.
    Nothing moves.

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
  let summary = "Combine along an axis what each warp holds";
  let description = [{
    The first step of a reduction whose axis is spread over W warps: the axis shrinks to extent W,
    one element a warp. The second step is a change of layout and a `tile.reduce`.

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
  let summary = "Reserve shared memory for a tile, or for several stages of one form";
  let description = [{
    `offset`, in bytes from the start of the block's shared memory, is set by the pass that places
    allocations. The memory is free again after the last use of the result. With `stages` there is
    room for so many tiles, one after the other; the result is the first, `tilegpu.smem_stage` names
    the others. Each starts at a multiple of `alignment` bytes, a power of two.

    With scope `team` each team has such memory of its own, `tilegpu.team_bytes` (an attribute of the kernel) after that of
    the team before. With scope `block` all warps of the block share it.

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
    /// Bytes from one stage to the next: a stage starts where an allocation may.
    int64_t getStageStride();
    /// Bytes of all stages together.
    int64_t getTotalBytes();
  }];
  let hasVerifier = 1;
}

def TileGpu_SmemStageOp : TileGpu_Op<"smem_stage", [Pure, AllTypesMatch<["memory", "result"]>]> {
  let summary = "One stage of an allocation of several, or what begins at a part of one";
  let description = [{
    `distance` is how many bytes its first one lies behind that of stage 0: the stage's number times the allocation's
    stage stride, or of a tile whose parts lie one after the other a part's number times its bytes. It may be known at run time only. In bytes, so that a loop which carries it from stage to stage adds it to
    addresses, where each address would have to multiply a number.

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
    Of several threads with one element all write it, or, with `first_holder`, the first alone: for
    tiles whose other copies are undefined. A tile smaller than the memory is its leading part. With
    `by_matrices` eight threads together write each row of 16 bytes (stmatrix, from sm_90 on): of tiles of 16-bit
    elements that lie as accumulators do.

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
    A tile smaller than the memory is its leading part. With `rank` it is the memory of that block
    of the cluster, at the same offset as in this one's.

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
  let summary = "Matrix product by multiply-add, of operands in shared memory";
  let description = [{
    As `tile.dot`. A loop over K reads what each thread multiplies: only the accumulator is held as
    a whole. Narrow floating-point accumulators are summed in f32 and rounded once.

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
  let summary = "Read elements of a tile in shared memory picked by an index along one axis";
  let description = [{
    As `tile.gather`; an index outside the axis reads its last element.

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
  let summary = "Add one to the counter of each element";
  let description = [{
    The counters are i32 in shared memory; an element is the number of its counter. Elements without
    a counter and those where `mask` is false are ignored.

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
  let summary = "All threads of the scope wait for each other";
  let description = [{
    Memory accesses before it are visible to these threads after it. Only passes create it; `reason` is the first pair
    of accesses that it orders, as a sentence. Which named barrier it is follows from the scope (ir/gpu/NamedBarriers.h). With
    scope `block` and `cluster` the mbarriers that were initialised before it may be used after it, by the producer warp and by
    TMA; with `cluster` those of other blocks, too. At a barrier of a cluster those threads wait that have not ended.

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
}

#endif // TILE_IR_TILEGPUOPS_TD
