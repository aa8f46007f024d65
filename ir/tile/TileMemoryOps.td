// Operations of `tile` on memory: views, pointers, loads and stores, and where a program stands in
// its grid.
#ifndef TILE_IR_TILEMEMORYOPS_TD
#define TILE_IR_TILEMEMORYOPS_TD

include "ir/tile/TileOpBase.td"

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "Index of this program in the launch grid";
  let description = [{
    `axis` is 0, 1 or 2. The result lies in [0, num_programs(axis)).

    Example:
    ```mlir
    %pid = tile.program_id 0 : i32
    ```
  }];
  let arguments = (ins I32Attr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "int32_t":$axis), [{ build($_builder, $_state, $_builder.getI32Type(), axis); }]>];
  let hasVerifier = 1;
}

def Tile_NumProgramsOp : Tile_Op<"num_programs", [Pure]> {
  let summary = "Number of programs along an axis of the launch grid";
  let description = [{
    Example:
    ```mlir
    %n = tile.num_programs 0 : i32
    ```
  }];
  let arguments = (ins I32Attr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "int32_t":$axis), [{ build($_builder, $_state, $_builder.getI32Type(), axis); }]>];
  let hasVerifier = 1;
}

def Tile_TeamIdOp : Tile_Op<"team_id", [Pure]> {
  let summary = "Number of this team among those that carry out the program";
  let description = [{
    In [0, n), n as the attribute `tile.teams` of the kernel says. Each team carries out the whole kernel.

    Example:
    ```mlir
    %team = tile.team_id : i32
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_ByRoleOp : Tile_Op<"by_role", [Pure, AllTypesMatch<["all", "own", "result"]>]> {
  let summary = "A number that depends on who asks: the warp that loads for all teams, or a team";
  let description = [{
    `all` for a warp that loads for all teams, and in a kernel without one; `own` for the teams. So a loop over the
    tiles of all teams, for the warp that loads, is one over a team's own tiles for the team.

    Example:
    ```mlir
    func.func @example(%step: i32, %twice: i32) -> i32 {
      %own = tile.by_role %step, %twice : i32
      return %own : i32
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[I1, I32, I64]>:$all, AnyTypeOf<[I1, I32, I64]>:$own);
  let results = (outs AnyTypeOf<[I1, I32, I64]>:$result);
  let assemblyFormat = "$all `,` $own attr-dict `:` type($result)";
}

def Tile_MakeViewOp : Tile_Op<"make_view", [Pure, SameVariadicOperandSize]> {
  let summary = "A view from a pointer, extents and strides";
  let description = [{
    Extents and strides are in elements; one of each a dimension, all i32 or all i64.

    Example:
    ```mlir
    func.func @example(%p: !tile.ptr<f16>, %m: i32, %n: i32, %one: i32) {
      %v = tile.make_view %p, extents [%m, %n], strides [%n, %one] : i32 -> !tile.view<2xf16>
      return
    }
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<AnyTypeOf<[I32, I64]>>:$extents,
                       Variadic<AnyTypeOf<[I32, I64]>>:$strides);
  let results = (outs Tile_ViewType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_DimOp : Tile_Op<"dim", [Pure]> {
  let summary = "Extent of a dimension of a view";
  let description = [{
    Example:
    ```mlir
    func.func @example(%v: !tile.view<2xf16>) -> i32 {
      %m = tile.dim %v, 0 : !tile.view<2xf16> -> i32
      return %m : i32
    }
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, I32Attr:$dim);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StrideOp : Tile_Op<"stride", [Pure]> {
  let summary = "Stride of a dimension of a view, in elements";
  let description = [{
    Example:
    ```mlir
    func.func @example(%v: !tile.view<2xf16>) -> i32 {
      %s = tile.stride %v, 0 : !tile.view<2xf16> -> i32
      return %s : i32
    }
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, I32Attr:$dim);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$view `,` $dim attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BaseOp : Tile_Op<"base", [Pure]> {
  let summary = "Pointer to a view's first element";
  let description = [{
    Example:
    ```mlir
    func.func @example(%v: !tile.view<1xf32>) {
      %p = tile.base %v : !tile.view<1xf32> -> !tile.ptr<f32>
      return
    }
    ```
  }];
  let arguments = (ins Tile_ViewType:$view);
  let results = (outs Tile_PtrType:$result);
  let assemblyFormat = "$view attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_PermuteViewOp : Tile_Op<"permute_view", [Pure, AllTypesMatch<["view", "result"]>]> {
  let summary = "A view with its dimensions in another order";
  let description = [{
    Dimension i of the result is dimension `order[i]` of the operand. No data moves.

    Example:
    ```mlir
    func.func @example(%v: !tile.view<2xf16>) {
      %t = tile.permute_view %v, [1, 0] : !tile.view<2xf16>
      return
    }
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, DenseI32ArrayAttr:$order);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = "$view `,` $order attr-dict `:` type($view)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ static bool isPermutation(::llvm::ArrayRef<int32_t> order); }];
}

def Tile_ViewLoadOp : Tile_Op<"view_load", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getLayoutSources", "getWantedLayout"]>]> {
  let summary = "Load a tile from a view";
  let description = [{
    The tile's first element is at the given element offsets (one a dimension of the view). The
    tile's rank equals the view's. Elements outside the view's extents, on either side, read as
    zero, or as NaN with `padding = nan` (float types). With `unchecked` the program promises that
    the whole tile is inside.

    `cache` says which caches the access goes through (ca, cg, cs, cv), `evict` how long the first
    level keeps the line (first, last); both change speed alone, and not both may be given. A
    `volatile` access happens as often as the program says, in order; it takes no hints.

    Example:
    ```mlir
    func.func @example(%v: !tile.view<2xf16>, %i: i32, %j: i32) {
      %t = tile.view_load %v[%i, %j] : !tile.view<2xf16> -> tensor<128x64xf16>
      %n = tile.view_load %v[%i, %j] pad nan : !tile.view<2xf16> -> tensor<128x64xf16>
      %c = tile.view_load %v[%i, %j] cache cg : !tile.view<2xf16> -> tensor<128x64xf16>
      return
    }
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<I32>:$offsets,
                       DefaultValuedAttr<Tile_Padding, "::tile::ir::Padding::Zero">:$padding, UnitAttr:$unchecked,
                       DefaultValuedAttr<Tile_CacheMode, "::tile::ir::CacheMode::Default">:$cache,
                       DefaultValuedAttr<Tile_Eviction, "::tile::ir::Eviction::Normal">:$evict, UnitAttr:$isVolatile);
  let results = (outs Tile_NumberTile:$result);
  let assemblyFormat = [{
    $view `[` $offsets `]` (`pad` $padding^)? (`unchecked` $unchecked^)? (`cache` $cache^)? (`evict` $evict^)? (`volatile` $isVolatile^)?
    attr-dict `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ViewStoreOp : Tile_Op<"view_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Store a tile into a view";
  let description = [{
    As `tile.view_load`; elements outside the view's extents are dropped. Cache modes of stores are wb,
    cg, cs and wt.

    With `add` each element is added to what is there, in one indivisible step that orders nothing else
    (as `tile.atomic_rmw add relaxed gpu` without a result); it takes no hints.

    Example:
    ```mlir
    func.func @example(%v: !tile.view<1xf32>, %i: i32, %x: tensor<256xf32>) {
      tile.view_store %x, %v[%i] : tensor<256xf32>, !tile.view<1xf32>
      tile.view_store %x, %v[%i] add : tensor<256xf32>, !tile.view<1xf32>
      return
    }
    ```
  }];
  let arguments = (ins Tile_NumberTile:$value, Tile_ViewType:$view, Variadic<I32>:$offsets, UnitAttr:$adds,
                       UnitAttr:$unchecked, DefaultValuedAttr<Tile_CacheMode, "::tile::ir::CacheMode::Default">:$cache,
                       DefaultValuedAttr<Tile_Eviction, "::tile::ir::Eviction::Normal">:$evict, UnitAttr:$isVolatile);
  let assemblyFormat = [{
    $value `,` $view `[` $offsets `]` (`add` $adds^)? (`unchecked` $unchecked^)? (`cache` $cache^)? (`evict` $evict^)? (`volatile` $isVolatile^)?
    attr-dict `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_AddPtrOp : Tile_Op<"addptr", [Pure, AllTypesMatch<["ptr", "result"]>]> {
  let summary = "Pointer arithmetic in elements";
  let description = [{
    `ptr` and `offset` are both scalars or both tiles of one shape. Offsets are signed.

    Example:
    ```mlir
    func.func @example(%p: tensor<64x!tile.ptr<f32>>, %o: tensor<64xi32>) {
      %q = tile.addptr %p, %o : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
      return
    }
    ```
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Tile_Offset:$offset);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset)";
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getLayoutSources", "getWantedLayout", "getOperandLayout"]>]> {
  let summary = "Load through a pointer or a tile of pointers";
  let description = [{
    Where `mask` is false nothing is accessed and the result is `other`, or undefined without it.
    `other` needs a mask. Hints are as in `tile.view_load`.

    Example:
    ```mlir
    func.func @example(%p: tensor<64x!tile.ptr<f32>>, %m: tensor<64xi1>, %o: tensor<64xf32>) {
      %a = tile.load %p : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
      %b = tile.load %p mask %m other %o
          : tensor<64x!tile.ptr<f32>>, tensor<64xi1>, tensor<64xf32> -> tensor<64xf32>
      return
    }
    ```
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Optional<Tile_Mask>:$mask, Optional<Tile_Number>:$other,
                       DefaultValuedAttr<Tile_CacheMode, "::tile::ir::CacheMode::Default">:$cache,
                       DefaultValuedAttr<Tile_Eviction, "::tile::ir::Eviction::Normal">:$evict, UnitAttr:$isVolatile);
  let results = (outs Tile_Number:$result);
  let assemblyFormat = [{
    $ptr (`mask` $mask^)? (`other` $other^)? (`cache` $cache^)? (`evict` $evict^)? (`volatile` $isVolatile^)? attr-dict
    `:` type($ptr) (`,` type($mask)^)? (`,` type($other)^)? `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr, CArg<"::mlir::Value", "{}">:$mask,
                                 CArg<"::mlir::Value", "{}">:$other)>];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Store through a pointer or a tile of pointers";
  let description = [{
    Where `mask` is false nothing is written. Of two lanes with one address one wins; which is open.
    Hints are as in `tile.view_store`.

    Example:
    ```mlir
    func.func @example(%p: tensor<64x!tile.ptr<f32>>, %v: tensor<64xf32>, %m: tensor<64xi1>) {
      tile.store %v, %p mask %m : tensor<64xf32>, tensor<64x!tile.ptr<f32>>, tensor<64xi1>
      return
    }
    ```
  }];
  let arguments = (ins Tile_Number:$value, Tile_PtrLike:$ptr, Optional<Tile_Mask>:$mask,
                       DefaultValuedAttr<Tile_CacheMode, "::tile::ir::CacheMode::Default">:$cache,
                       DefaultValuedAttr<Tile_Eviction, "::tile::ir::Eviction::Normal">:$evict, UnitAttr:$isVolatile);
  let assemblyFormat = [{
    $value `,` $ptr (`mask` $mask^)? (`cache` $cache^)? (`evict` $evict^)? (`volatile` $isVolatile^)? attr-dict `:` type($value) `,` type($ptr) (`,` type($mask)^)?
  }];
  let hasVerifier = 1;
}

def Tile_PrefetchOp : Tile_Op<"prefetch", [MemoryEffects<[MemWrite]>]> {
  let summary = "Bring memory into a cache";
  let description = [{
    Asks for the lines that the pointers point at, where `mask` holds, to be brought into the cache of
    `level` 1 or 2. It changes speed alone, and never faults.

    Example:
    ```mlir
    func.func @example(%p: tensor<64x!tile.ptr<f32>>, %m: tensor<64xi1>) {
      tile.prefetch %p level 2 : tensor<64x!tile.ptr<f32>>
      tile.prefetch %p mask %m level 1 : tensor<64x!tile.ptr<f32>>, tensor<64xi1>
      return
    }
    ```
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Optional<Tile_Mask>:$mask, I32Attr:$level);
  let assemblyFormat = [{
    $ptr (`mask` $mask^)? `level` $level attr-dict `:` type($ptr) (`,` type($mask)^)?
  }];
  let hasVerifier = 1;
}

#endif // TILE_IR_TILEMEMORYOPS_TD
