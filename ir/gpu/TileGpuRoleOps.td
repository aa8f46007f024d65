// Warp specialization: roles, and the ordered barrier of warpgroups.
#ifndef TILE_IR_TILEGPUROLEOPS_TD
#define TILE_IR_TILEGPUROLEOPS_TD

include "ir/gpu/TileGpuOpBase.td"

def TileGpu_RoleKind : I32Enum<"RoleKind", "what the warps of a role do", [
    I32EnumCase<"Consumers", 0, "consumers">, I32EnumCase<"Producer", 1, "producer">]> {
  let cppNamespace = "::tile::gpu";
}

def TileGpu_RoleAttr : TileGpu_Attr<"Role", "role"> {
  let summary = "A role: its warps and their registers";
  let description = [{
    Consumers compute, a producer fills rings. A role has whole warpgroups, since `setmaxnreg`
    applies to a whole warpgroup. The first `active` of its `warps` execute its region, the others
    end at once. `registers` is the number per thread; with 0 a thread keeps what it had at the
    launch.

    `#tilegpu.role<producer, warps = 4, active = 1, registers = 24>`
  }];
  let parameters = (ins EnumParameter<TileGpu_RoleKind>:$kind, "int32_t":$warps, "int32_t":$active,
                        DefaultValuedParameter<"int32_t", "0">:$registers);
  let assemblyFormat = "`<` $kind `,` struct($warps, $active, $registers) `>`";
  let genVerifyDecl = 1;
}

def TileGpu_WarpSpecializeOp : TileGpu_Op<"warp_specialize", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "The warps of a block execute different regions";
  let description = [{
    One region per role, in the order of their warps: the first role has the warps from 0 on. Any
    number of roles may be given. A kernel has at most one such operation, in its entry block. The
    scope of a `tilegpu.barrier` determines which of the roles wait at it.

    Example:
    ```mlir
    func.func @example() attributes {tile.kernel, tile.warps = 8 : i32} {
      tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 8, active = 8, registers = 240>,
                               #tilegpu.role<producer, warps = 4, active = 1, registers = 24>] {
        tilegpu.barrier {scope = #tilegpu.scope<block>}
      }, {
        tilegpu.barrier {scope = #tilegpu.scope<block>}
      }
      return
    }
    ```
  }];
  let arguments = (ins TypedArrayAttrBase<TileGpu_RoleAttr, "array of roles">:$roles);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let assemblyFormat = "$roles $bodies attr-dict";
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<RoleAttr>":$roles)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    RoleAttr getRole(unsigned number) { return ::llvm::cast<RoleAttr>(getRoles()[number]); }
    void setRole(unsigned number, RoleAttr role);
    /// The first warp of a role.
    int32_t getFirstWarp(unsigned number);
    int32_t getWarps();
    /// The index of the first role of this kind; nothing if there is none.
    ::std::optional<unsigned> find(RoleKind kind);
    ::mlir::Block &getBody(unsigned number) { return getBodies()[number].front(); }
  }];
  let hasVerifier = 1;
}

// Whole warpgroups of consumers execute it: neither a producer nor an elected thread.
class TileGpu_OrderOp<string opMnemonic, list<Trait> traits = []> : TileGpu_Op<opMnemonic, traits> {
  let hasVerifier = 1;
}

def TileGpu_OrderBeginOp : TileGpu_OrderOp<"order_begin"> {
  let summary = "The first warpgroup may issue its first dots";
  let description = [{
    The last warpgroup arrives at the first one's named barrier, before the first
    `tilegpu.order_wait`.

    Example: see `tilegpu.order_wait`.
    ```mlir
    tilegpu.order_begin
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGpu_OrderWaitOp : TileGpu_OrderOp<"order_wait"> {
  let summary = "A warpgroup waits until it may issue its dots";
  let description = [{
    An ordered barrier, as CUTLASS's OrderedSequenceBarrier: warpgroups issue dots in a fixed order,
    the first one first, so that one issues dots while another computes with the results of its own.
    All warpgroups execute `order_wait` and `tilegpu.order_arrive` equally often.

    Example:
    ```mlir
    tilegpu.order_begin
    tilegpu.order_wait
    tilegpu.order_arrive
    tilegpu.order_end
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TileGpu_OrderArriveOp : TileGpu_OrderOp<"order_arrive", [AttrSizedOperandSegments]> {
  let summary = "The next warpgroup may issue its dots";
  let description = [{
    In ping-pong it stands in the flattened loop and takes effect in the last step of a tile, where
    `predicate` is true; `trip_count` is the number of steps per tile, by which LowerRings skips the
    fills of the other team's tiles.

    Example: see `tilegpu.order_wait`.
    ```mlir
    func.func @example(%steps: i32, %isLast: i1) {
      tilegpu.order_begin
      tilegpu.order_wait
      tilegpu.order_arrive if %isLast trip_count %steps
      tilegpu.order_end
      return
    }
    ```
  }];
  let arguments = (ins Optional<I1>:$predicate, Optional<I32>:$trip_count);
  let assemblyFormat = "(`if` $predicate^)? (`trip_count` $trip_count^)? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::Value(), ::mlir::Value()); }]>];
}

def TileGpu_OrderEndOp : TileGpu_OrderOp<"order_end"> {
  let summary = "The first warpgroup waits for the last one's final arrival";
  let description = [{
    It stands after the last `tilegpu.order_arrive`, so that every `bar.arrive` has its `bar.sync`.

    Example: see `tilegpu.order_wait`.
    ```mlir
    tilegpu.order_end
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILE_IR_TILEGPUROLEOPS_TD
