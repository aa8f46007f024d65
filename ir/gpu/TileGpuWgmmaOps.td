// Products that the tensor core computes while the warps go on: of operands in shared memory, by
// wgmma.
#ifndef TILE_IR_TILEGPUWGMMAOPS_TD
#define TILE_IR_TILEGPUWGMMAOPS_TD

include "ir/gpu/SharedAccessOp.td"
include "ir/gpu/TileGpuOpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def TileGpu_InFlightType : TileGpu_Type<"InFlight", "in_flight"> {
  let summary = "A tile that a product is still being added to";
  let description = [{
    `!tilegpu.in_flight<tensor<64x64xf32, #layout>>`: the registers belong to the tensor core until a
    `tilegpu.dot_wait` gives the tile back. No operation on tiles takes this type, so that nothing can
    touch it before; loops and branches may carry it.
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
  let summary = "Begin a matrix product of operands in shared memory";
  let description = [{
    `a` is MxK, `b` is KxN, `acc` is MxN, laid out as the accumulator of wgmma over groups of four
    warps; `a` may be in registers, laid out as its left operand. Where `reset` is true, on which all
    threads agree, the product is added to zero. It is one group of instructions, which is under way
    when the operation ends: shared memory is read, and the result written, until a `tilegpu.dot_wait`
    for it. Several products that add to one accumulator need no wait between them.

    `over [k, end]` leaves out the operands' elements before k and from `end` on along K.

    `transposed` behind an operand: in shared memory lies the tile with rows for columns, so that one
    stage serves products that take it either way.

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
    /// Is `a` in registers?
    bool takesAFromRegisters() { return ::llvm::isa<::mlir::RankedTensorType>(getA().getType()); }
    /// The dimensions of the operands' tiles that are not K: M of `a`, N of `b`.
    int32_t getOuterDimOfA() { return getTransposedA() ? 1 : 0; }
    int32_t getOuterDimOfB() { return getTransposedB() ? 0 : 1; }
    int64_t getDepth() { return getB().getType().getShape()[1 - getOuterDimOfB()]; }
    int64_t getColumns() { return getB().getType().getShape()[getOuterDimOfB()]; }
    /// The first k that is multiplied, and the one behind the last.
    ::std::pair<int64_t, int64_t> getSpan() {
      auto range = getRange();
      return range ? ::std::pair((*range)[0], (*range)[1]) : ::std::pair(int64_t(0), getDepth());
    }
  }];
  let hasVerifier = 1;
}

def TileGpu_DotBeginOp : TileGpu_Op<"dot_begin", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "A tile that products are going to be added to";
  let description = [{
    The registers of the tile, in the type of one in flight: a loop that leaves a product under way from
    one iteration to the next begins with it.

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
  let summary = "Wait for all but the youngest products";
  let description = [{
    `pending` products, those begun last, may still be under way. The tile is there with 0, or if so
    many were begun behind its own product, in the same block. Else it stays in flight, and what is
    known to be done is the older products' reading of shared memory.

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
    /// The products that the tile may be waiting for.
    ::llvm::SmallVector<DotAsyncOp> getDots();
  }];
  let hasVerifier = 1;
}

def TileGpu_ProxyFenceOp : TileGpu_Op<"proxy_fence", [MemoryEffects<[MemRead<TileGpu_SharedMemory>,
                                                                    MemWrite<TileGpu_SharedMemory>]>,
                                                      DeclareOpInterfaceMethods<TileGpu_SharedAccessOp>]> {
  let summary = "What this thread wrote to shared memory is seen by the tensor core and the copy engine";
  let description = [{
    Behind the next barrier, that is: they read shared memory past the threads' own order of accesses.

    Example:
    ```mlir
    tilegpu.proxy_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILE_IR_TILEGPUWGMMAOPS_TD
