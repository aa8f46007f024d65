// Operations of `tile` by which a program says what is true of its values, for the compiler to rely
// on.
#ifndef TILE_IR_TILEFACTOPS_TD
#define TILE_IR_TILEFACTOPS_TD

include "ir/tile/TileOpBase.td"

def Tile_IndexLike : AnyTypeOf<[I8, I16, I32, I64, Tile_PtrType,
                                RankedTensorOf<[I8, I16, I32, I64, Tile_PtrType], [HasStaticShapePred]>],
                               "integer, pointer or tile of them">;

def Tile_FactsOp : Tile_Op<"facts", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "The operand, with what the program promises of it";
  let description = [{
    Each list has one positive number a dimension (one for a scalar). `multiple`: the first element
    of each run is divisible by it (of pointers: the address in bytes). `contiguous`: runs of that
    many elements grow by one. `constancy`: runs of that many elements are equal. Runs begin at
    multiples of their length along the dimension. A broken promise is undefined.

    Example:
    ```mlir
    func.func @example(%n: i32, %o: tensor<64xi32>) {
      %m = tile.facts %n multiple [16] : i32
      %p = tile.facts %o multiple [4] contiguous [4] : tensor<64xi32>
      return
    }
    ```
  }];
  let arguments = (ins Tile_IndexLike:$input, OptionalAttr<DenseI64ArrayAttr>:$multiple,
                       OptionalAttr<DenseI64ArrayAttr>:$contiguous, OptionalAttr<DenseI64ArrayAttr>:$constancy);
  let results = (outs Tile_IndexLike:$result);
  let assemblyFormat = [{
    $input (`multiple` $multiple^)? (`contiguous` $contiguous^)? (`constancy` $constancy^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_AssumeOp : Tile_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "Promise that a condition holds";
  let description = [{
    If it does not hold where the program reaches the operation, the program is undefined. Divisors
    are read from conditions `x % c == 0`, at the top of a kernel.

    Example:
    ```mlir
    func.func @example(%c: i1) {
      tile.assume %c
      return
    }
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

#endif // TILE_IR_TILEFACTOPS_TD
