// Operations of `tile` that help to find mistakes in programs.
#ifndef TILE_IR_TILEDEBUGOPS_TD
#define TILE_IR_TILEDEBUGOPS_TD

include "ir/tile/TileOpBase.td"

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "Stop the launch where a condition does not hold";
  let description = [{
    An element that is false ends the launch with an error that names the operation's line and the
    message. It is never left out: whether a program asserts is decided where it is traced.

    Example:
    ```mlir
    func.func @example(%c: tensor<64xi1>, %s: i1) {
      tile.assert %c, "offsets are inside" : tensor<64xi1>
      tile.assert %s, "n is positive" : i1
      return
    }
    ```
  }];
  let arguments = (ins Tile_Mask:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Print values while a program runs";
  let description = [{
    Prints one line an element: the program's indices, the element's indices, the prefix, and the
    values, which are scalars or tiles of one shape. Integers are printed with `hex` in base 16,
    those whose place in `unsigned` is true without a sign. The order of lines is open.

    Example:
    ```mlir
    func.func @example(%x: tensor<64xi32>, %y: tensor<64xf32>, %s: i64) {
      tile.print "x and y", %x, %y unsigned [false, false] : tensor<64xi32>, tensor<64xf32>
      tile.print "s" hex, %s unsigned [true] : i64
      tile.print "here" unsigned []
      return
    }
    ```
  }];
  let arguments = (ins StrAttr:$prefix, Variadic<Tile_Number>:$values, DenseBoolArrayAttr:$unsignedValues,
                       UnitAttr:$hex);
  let assemblyFormat = [{
    $prefix (`hex` $hex^)? (`,` $values^)? `unsigned` $unsignedValues attr-dict (`:` type($values)^)?
  }];
  let hasVerifier = 1;
}

def Tile_DebugBarrierOp : Tile_Op<"debug_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait for all threads of the program";
  let description = [{
    No access moves across it. Programs need none: accesses of one tensor are ordered already.

    Example:
    ```mlir
    func.func @example() {
      tile.debug_barrier
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILE_IR_TILEDEBUGOPS_TD
