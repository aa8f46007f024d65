// Operations of `tile` that read and write a place in one step: atomics.
#ifndef TILE_IR_TILEATOMICOPS_TD
#define TILE_IR_TILEATOMICOPS_TD

include "ir/tile/TileOpBase.td"

def Tile_AtomicKind : I32EnumAttr<"AtomicKind", "what an atomic operation computes", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Min", 1, "min">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"UMin", 3, "umin">, I32EnumAttrCase<"UMax", 4, "umax">, I32EnumAttrCase<"And", 5, "and">,
    I32EnumAttrCase<"Or", 6, "or">, I32EnumAttrCase<"Xor", 7, "xor">, I32EnumAttrCase<"Xchg", 8, "xchg">]> {
  let cppNamespace = "::tile::ir";
}
def Tile_MemoryOrder : I32EnumAttr<"MemoryOrder", "how an atomic operation orders the accesses around it", [
    I32EnumAttrCase<"Relaxed", 0, "relaxed">, I32EnumAttrCase<"Acquire", 1, "acquire">,
    I32EnumAttrCase<"Release", 2, "release">, I32EnumAttrCase<"AcqRel", 3, "acq_rel">]> {
  let cppNamespace = "::tile::ir";
}
def Tile_MemoryScope : I32EnumAttr<"MemoryScope", "which threads an atomic operation is atomic and ordered for", [
    I32EnumAttrCase<"Cta", 0, "cta">, I32EnumAttrCase<"Gpu", 1, "gpu">, I32EnumAttrCase<"Sys", 2, "sys">]> {
  let cppNamespace = "::tile::ir";
}

def Tile_PtrTile : RankedTensorOf<[Tile_PtrType], [HasStaticShapePred], "tile of pointers">;
def Tile_MaskTile : RankedTensorOf<[I1], [HasStaticShapePred], "tile of i1">;
def Tile_AtomicTile : RankedTensorOf<[I32, I64, F16, BF16, F32, F64], [HasStaticShapePred],
                                     "tile of i32, i64, f16, bf16, f32 or f64">;
def Tile_CasTile : RankedTensorOf<[I16, F16, BF16, I32, I64, F32, F64], [HasStaticShapePred],
                                  "tile of 16, 32 or 64 bits">;

def Tile_AtomicRmwOp : Tile_Op<"atomic_rmw", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["value", "result"]>,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getWantedLayout", "getResultLayout", "getOperandLayout"]>]> {
  let summary = "Combine values with memory, each in one indivisible step";
  let description = [{
    Each element's step is old = *ptr, *ptr = kind(old, value); the result is old. Where `mask` is
    false nothing is done and the result is undefined. Elements with one address are combined one
    after the other, in any order. The order of memory holds for the whole program: with `release`
    what any of its threads accessed before is done before the first step, with `acquire` what
    follows begins after the last.

    `add` is for integers and floats, and rounds to nearest even; `min` and `max` are for signed
    integers and for f32 and f64, by the order of their bits (-0 < +0, and NaN lies beyond the
    infinity of its sign); `umin` and `umax` for unsigned integers, `and`, `or`, `xor` for integers,
    `xchg` for 32 and 64 bits. A scalar place is a tile of one element. `evict` says how long the
    second-level cache, where the steps are done, keeps the line; bf16, which is compared and
    swapped, has no such hint.

    Example:
    ```mlir
    func.func @example(%p: tensor<64x!tile.ptr<i32>>, %v: tensor<64xi32>, %m: tensor<64xi1>) {
      %a = tile.atomic_rmw add acq_rel gpu %p, %v : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
      %b = tile.atomic_rmw umax relaxed cta %p, %v mask %m : tensor<64x!tile.ptr<i32>>, tensor<64xi32>, tensor<64xi1>
      %c = tile.atomic_rmw add relaxed gpu %p, %v evict last : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
      return
    }
    ```
  }];
  let arguments = (ins Tile_AtomicKind:$kind, Tile_MemoryOrder:$order, Tile_MemoryScope:$scope, Tile_PtrTile:$ptr,
                       Tile_AtomicTile:$value, Optional<Tile_MaskTile>:$mask,
                       DefaultValuedAttr<Tile_Eviction, "::tile::ir::Eviction::Normal">:$evict);
  let results = (outs Tile_AtomicTile:$result);
  let assemblyFormat = [{
    $kind $order $scope $ptr `,` $value (`mask` $mask^)? (`evict` $evict^)? attr-dict `:` type($ptr) `,` type($value) (`,` type($mask)^)?
  }];
  let hasVerifier = 1;
}

def Tile_AtomicCasOp : Tile_Op<"atomic_cas", [MemoryEffects<[MemRead, MemWrite]>,
                                              AllTypesMatch<["expected", "desired", "result"]>,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getWantedLayout", "getResultLayout", "getOperandLayout"]>]> {
  let summary = "Replace values in memory if they are the expected ones, each in one indivisible step";
  let description = [{
    Each element's step is old = *ptr, and *ptr = desired if old and expected have the same bits;
    the result is old. Mask, order and scope are as in `tile.atomic_rmw`.

    Example:
    ```mlir
    func.func @example(%p: tensor<1x!tile.ptr<i32>>, %e: tensor<1xi32>, %d: tensor<1xi32>) {
      %a = tile.atomic_cas acquire gpu %p, %e, %d : tensor<1x!tile.ptr<i32>>, tensor<1xi32>
      return
    }
    ```
  }];
  let arguments = (ins Tile_MemoryOrder:$order, Tile_MemoryScope:$scope, Tile_PtrTile:$ptr, Tile_CasTile:$expected,
                       Tile_CasTile:$desired, Optional<Tile_MaskTile>:$mask);
  let results = (outs Tile_CasTile:$result);
  let assemblyFormat = [{
    $order $scope $ptr `,` $expected `,` $desired (`mask` $mask^)? attr-dict
    `:` type($ptr) `,` type($expected) (`,` type($mask)^)?
  }];
  let hasVerifier = 1;
}

#endif // TILE_IR_TILEATOMICOPS_TD
