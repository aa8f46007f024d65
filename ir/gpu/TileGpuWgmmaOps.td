// Asynchronous dots by wgmma: the tensor core reads operands in shared memory while the warps
// continue.
#ifndef TILE_IR_TILEGPUWGMMAOPS_TD
#define TILE_IR_TILEGPUWGMMAOPS_TD

include "ir/gpu/SharedAccessOp.td"
include "ir/gpu/TileGpuOpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def TileGpu_InFlightType : TileGpu_Type<"InFlight", "in_flight"> {
  let summary = "An accumulator of a dot that may still be in flight";
  let description = [{
    `!tilegpu.in_flight<tensor<64x64xf32, #layout>>`: the registers belong to the tensor core until
    a `tilegpu.dot_wait` gives the tile back. No operation on tiles takes this type, so that nothing
    can touch it before; loops and branches may carry it.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
  let genVerifyDecl = 1;
}

def TileGpu_Sums : AnyTypeOf<[TileGpu_Tile, TileGpu_InFlightType], "tile, or one in flight">;

def TileGpu_FactorOfRows : AnyTypeOf<[TileGpu_SmemType, TileGpu_Tile], "tile in shared memory or in registers">;

def TileGpu_DotAsyncOp : TileGpu_Op<"dot_async", [MemoryEffects<[MemRead<TileGpu_SharedMemory>,
                                                                MemWrite<TileGpu_SharedMemory>]>,
                                                  DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>,
                                                  DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Issue a dot by wgmma";
  let description = [{
    `a` is MxK, `b` is KxN, `acc` is MxN, laid out as the accumulator of wgmma over warpgroups; `a`
    may be in registers, laid out as operand A. If `reset` is true, which must be uniform over all
    threads, the dot starts from zero and not from `acc`. It is one group of instructions and in
    flight when the operation ends: it reads shared memory and writes the result until a
    `tilegpu.dot_wait` for it. Several dots that add to one accumulator need no wait between them.

    `over [k, end]` restricts the dot to the elements from k to before `end` along K.

    `transposed` after an operand: shared memory holds the transposed tile, so that one stage serves
    dots that take it either way.

    Example:
    ```mlir
    #l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                         warp = [[16, 0], [32, 0]]>
    #a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
    #b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>
    func.func @example(%a: !tilegpu.smem<64x16xf16, #a>, %b: !tilegpu.smem<16x8xf16, #b>,
                       %c: tensor<64x8xf32, #l>) -> tensor<64x8xf32, #l> {
      %d = tilegpu.dot_async %a, %b, %c
        : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
      %e = tilegpu.dot_wait %d pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> tensor<64x8xf32, #l>
      return %e : tensor<64x8xf32, #l>
    }
    ```
  }];
  let arguments = (ins TileGpu_FactorOfRows:$a, TileGpu_SmemType:$b, TileGpu_Sums:$acc, Optional<I1>:$reset,
                       UnitAttr:$operands_unsigned, OptionalAttr<DenseI64ArrayAttr>:$range,
                       UnitAttr:$transposed_a, UnitAttr:$transposed_b);
  let results = (outs TileGpu_InFlightType:$result);
  let assemblyFormat = [{
    $a (`transposed` $transposed_a^)? `,` $b (`transposed` $transposed_b^)? `,` $acc (`reset` `if` $reset^)? (`unsigned` $operands_unsigned^)? (`over` $range^)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let extraClassDeclaration = [{
    bool takesAFromRegisters() { return ::llvm::isa<::mlir::RankedTensorType>(getA().getType()); }
    /// The dimensions of the operands' tiles that are not K: M of `a`, N of `b`.
    int32_t getOuterDimOfA() { return getTransposedA() ? 1 : 0; }
    int32_t getOuterDimOfB() { return getTransposedB() ? 0 : 1; }
    int64_t getDepth() { return getB().getType().getShape()[1 - getOuterDimOfB()]; }
    int64_t getColumns() { return getB().getType().getShape()[getOuterDimOfB()]; }
    /// The first k of the dot, and the end of its range.
    ::std::pair<int64_t, int64_t> getSpan() {
      auto range = getRange();
      return range ? ::std::pair((*range)[0], (*range)[1]) : ::std::pair(int64_t(0), getDepth());
    }
  }];
  let hasVerifier = 1;
}

def TileGpu_DotBeginOp : TileGpu_Op<"dot_begin", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "A tile as the accumulator of dots in flight";
  let description = [{
    The same registers, in the type of a tile in flight: the initial accumulator of a loop that
    keeps a dot in flight across its back edge.

    Example:
    ```mlir
    #l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                         warp = [[16, 0], [32, 0]]>
    func.func @example(%c: tensor<64x8xf32, #l>) -> tensor<64x8xf32, #l> {
      %d = tilegpu.dot_begin %c : tensor<64x8xf32, #l>
      %e = tilegpu.dot_wait %d pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> tensor<64x8xf32, #l>
      return %e : tensor<64x8xf32, #l>
    }
    ```
  }];
  let arguments = (ins TileGpu_Tile:$tile);
  let results = (outs TileGpu_InFlightType:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile)";
}

def TileGpu_DotWaitOp : TileGpu_Op<"dot_wait", [MemoryEffects<[MemRead<TileGpu_SharedMemory>,
                                                              MemWrite<TileGpu_SharedMemory>]>,
                                                DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "Wait for all but the last dots";
  let description = [{
    The last `pending` dots issued may stay in flight. The result is a tile if `pending` is no more
    than the dots that were issued after its own, in the same block; else it stays in flight, and
    only older dots are known to have read shared memory.

    Example: see `tilegpu.dot_async`.
    ```mlir
    #l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                         warp = [[16, 0], [32, 0]]>
    func.func @example(%d: !tilegpu.in_flight<tensor<64x8xf32, #l>>) -> tensor<64x8xf32, #l> {
      %e = tilegpu.dot_wait %d pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> tensor<64x8xf32, #l>
      return %e : tensor<64x8xf32, #l>
    }
    ```
  }];
  let arguments = (ins TileGpu_InFlightType:$sums, I32Attr:$pending);
  let results = (outs TileGpu_Sums:$result);
  let assemblyFormat = "$sums `pending` $pending attr-dict `:` type($sums) `->` type($result)";
  let extraClassDeclaration = [{
    /// The dots whose result the tile may be.
    ::llvm::SmallVector<DotAsyncOp> getDots();
  }];
  let hasVerifier = 1;
}

def TileGpu_ProxyFenceOp : TileGpu_Op<"proxy_fence", [MemoryEffects<[MemRead<TileGpu_SharedMemory>,
                                                                    MemWrite<TileGpu_SharedMemory>]>,
                                                      DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "Make this thread's writes to shared memory visible to wgmma and TMA";
  let description = [{
    They are visible after the next barrier. wgmma and TMA access shared memory through the async
    proxy, which a barrier alone does not order after the threads' accesses.

    Example:
    ```mlir
    tilegpu.proxy_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILE_IR_TILEGPUWGMMAOPS_TD
