// Rings: tiles staged through shared memory, from a producer to consumers.
#ifndef TILE_IR_TILEGPURINGOPS_TD
#define TILE_IR_TILEGPURINGOPS_TD

include "ir/gpu/TileGpuOpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

// Passes ask the allocation how a ring is filled, so it must be known at compile time.
def TileGpu_OnKnownRing : PredOpTrait<"the ring is that of a tilegpu.ring_alloc",
    CPred<"::llvm::isa_and_present<::tile::gpu::RingAllocOp>($ring.getDefiningOp())">>;

class TileGpu_RingStep<string opMnemonic> : TileGpu_Op<opMnemonic, [TileGpu_OnKnownRing,
    MemoryEffects<[MemRead<TileGpu_SharedMemory>, MemWrite<TileGpu_SharedMemory>]>]> {
  let arguments = (ins TileGpu_RingType:$ring, I32:$fill);
  let assemblyFormat = "$ring `[` $fill `]` attr-dict `:` type($ring)";
}

def TileGpu_RingAllocOp : TileGpu_Op<"ring_alloc", [MemoryEffects<[MemAlloc<TileGpu_SharedMemory>]>]> {
  let summary = "Reserve the stages of a ring";
  let description = [{
    A ring is the one abstraction for tiles that are staged through shared memory. Its fills are
    numbered, from 0 again each time that the ring is empty; fill `i` of a ring of S stages has
    stage `i mod S`. The producer executes `producer_acquire`, copies or puts the tiles of the fill,
    and executes `producer_commit`; the consumer executes `consumer_wait`, reads, and executes
    `consumer_release`. A fill is waited for after its commit, and acquired after the release of the
    fill S before it. Passes that move these operations verify that this still holds.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
    %r = tilegpu.ring_alloc : !tilegpu.ring<3 x !tilegpu.smem<4x8xf16, #s>, !tilegpu.smem<4x8xf16, #s>>
    ```
  }];
  let results = (outs TileGpu_RingType:$ring);
  let assemblyFormat = "attr-dict `:` type($ring)";
}

def TileGpu_ProducerAcquireOp : TileGpu_RingStep<"producer_acquire"> {
  let summary = "The stage of a fill may be written";
  let description = [{
    All threads have released the previous fill of the stage.

    Example: see `tilegpu.consumer_wait`.
    ```mlir
    #s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
    func.func @example(%fill: i32) {
      %r = tilegpu.ring_alloc : !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
      tilegpu.producer_acquire %r[%fill] : !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
      return
    }
    ```
  }];
}

def TileGpu_RingCopyOp : TileGpu_Op<"ring_copy", [AttrSizedOperandSegments, TileGpu_OnKnownRing,
    MemoryEffects<[MemRead, MemWrite<TileGpu_SharedMemory>]>]> {
  let summary = "Copy a tile of a view into a fill of a ring, asynchronously";
  let description = [{
    The tile of `shape`, one extent per dimension of the view, starts at the given element offsets;
    elements outside of the view arrive as zeros. It becomes operand number `operand_index` of the
    stage, which has the same extents except for those of 1. Nothing is copied if `predicate` is
    false. The copy has no layout, since it does not pass through registers.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
    func.func @example(%v: !tile.view<3xf16>, %o: i32, %fill: i32, %p: i1) {
      %r = tilegpu.ring_alloc : !tilegpu.ring<2 x !tilegpu.smem<4x8xf16, #s>>
      tilegpu.ring_copy %v[%o, %o, %o], %r[%fill] operand 0 shape [1, 4, 8] if %p
        {tilegpu.access = #tilegpu.access<order = [2, 1, 0], vector = 8, bounds = [element, element, element]>}
        : !tile.view<3xf16>, !tilegpu.ring<2 x !tilegpu.smem<4x8xf16, #s>>
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_View:$view, Variadic<I32>:$offsets, TileGpu_RingType:$ring, I32:$fill,
                       Optional<I1>:$predicate, I32Attr:$operand_index, DenseI64ArrayAttr:$shape);
  let assemblyFormat = [{
    $view `[` $offsets `]` `,` $ring `[` $fill `]` `operand` $operand_index `shape` $shape (`if` $predicate^)? attr-dict
    `:` type($view) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def TileGpu_RingPutOp : TileGpu_Op<"ring_put", [TileGpu_OnKnownRing, MemoryEffects<[MemWrite<TileGpu_SharedMemory>]>]> {
  let summary = "Write a tile from registers into a fill of a ring";
  let description = [{
    The tile becomes operand number `operand_index` of the stage.

    Example:
    ```mlir
    #l = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>
    #s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
    func.func @example(%x: tensor<4x8xf16, #l>, %fill: i32) {
      %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      tilegpu.ring_put %x, %r[%fill] operand 0 : tensor<4x8xf16, #l>, !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_Tile:$value, TileGpu_RingType:$ring, I32:$fill, I32Attr:$operand_index);
  let assemblyFormat = "$value `,` $ring `[` $fill `]` `operand` $operand_index attr-dict `:` type($value) `,` type($ring)";
  let hasVerifier = 1;
}

def TileGpu_ProducerCommitOp : TileGpu_RingStep<"producer_commit"> {
  let summary = "All copies and puts of a fill have been issued";
  let description = [{
    Example: see `tilegpu.consumer_wait`.
    ```mlir
    #s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
    func.func @example(%fill: i32) {
      %r = tilegpu.ring_alloc : !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
      tilegpu.producer_commit %r[%fill] : !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
      return
    }
    ```
  }];
}

def TileGpu_ConsumerWaitOp : TileGpu_Op<"consumer_wait", [TileGpu_OnKnownRing,
    MemoryEffects<[MemRead<TileGpu_SharedMemory>, MemWrite<TileGpu_SharedMemory>]>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Wait for a fill to arrive, and name its tiles";
  let description = [{
    The fill's copies and puts are visible to all threads afterwards. The tiles of a ring have no
    other name, so nothing can read them before the wait.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
    func.func @example(%fill: i32) {
      %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      tilegpu.producer_acquire %r[%fill] : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      tilegpu.producer_commit %r[%fill] : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      %m = tilegpu.consumer_wait %r[%fill] : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      tilegpu.consumer_release %r[%fill] : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_RingType:$ring, I32:$fill);
  let results = (outs Variadic<TileGpu_SmemType>:$tiles);
  let assemblyFormat = "$ring `[` $fill `]` attr-dict `:` type($ring)";
}

def TileGpu_RingTilesOp : TileGpu_Op<"ring_tiles", [TileGpu_OnKnownRing, MemoryEffects<[MemRead<TileGpu_SharedMemory>]>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "The tiles of a fill that this thread has already waited for";
  let description = [{
    Names them again without waiting, for a loop that reads some tiles of a fill in one iteration
    and the others in the next. The fill must not have been released.

    Example:
    ```mlir
    #s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
    func.func @example(%fill: i32) {
      %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      tilegpu.producer_acquire %r[%fill] : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      tilegpu.producer_commit %r[%fill] : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      %m = tilegpu.consumer_wait %r[%fill] : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      %n = tilegpu.ring_tiles %r[%fill] : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      tilegpu.consumer_release %r[%fill] : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_RingType:$ring, I32:$fill);
  let results = (outs Variadic<TileGpu_SmemType>:$tiles);
  let assemblyFormat = "$ring `[` $fill `]` attr-dict `:` type($ring)";
}

def TileGpu_ConsumerReleaseOp : TileGpu_RingStep<"consumer_release"> {
  let summary = "This thread no longer reads a fill";
  let description = [{
    A release of a negative fill does nothing: if iterations release the fill before their own, the
    first one has none to release.

    Example: see `tilegpu.consumer_wait`.
    ```mlir
    #s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
    func.func @example(%fill: i32) {
      %r = tilegpu.ring_alloc : !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
      tilegpu.consumer_release %r[%fill] : !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
      return
    }
    ```
  }];
}

#endif // TILE_IR_TILEGPURINGOPS_TD
