// Operations of `tile` whose meaning is written in another language.
#ifndef TILE_IR_TILEFOREIGNOPS_TD
#define TILE_IR_TILEFOREIGNOPS_TD

include "ir/tile/TileOpBase.td"

def Tile_InlinePtxOp : Tile_Op<"inline_ptx", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getWantedLayout", "getResultLayout", "getOperandLayout"]>]> {
  let summary = "PTX applied element by element";
  let description = [{
    `text` is executed once for each `pack` elements; which elements stand together is open. Operands
    and results are scalars or tiles of one shape. `$0`, `$1`, ... are first the results, then the
    operands; `constraints` names a register class each, results with `=`: `h` 16, `r` 32, `l` 64 bits,
    `f` f32, `d` f64. With `pack` elements a call, elements below 32 bits share 32-bit registers and
    others take one register each, so there are as many constraints as registers. Unless `pure` it is
    executed as often as the program says, in order with accesses of memory.

    Example:
    ```mlir
    func.func @example(%x: tensor<64xi32>, %y: tensor<64xi32>, %h: tensor<64xf16>) {
      %a = tile.inline_ptx "lop3.b32 $0, $1, $2, $1, 0x96;" "=r,r,r" pure %x, %y
          : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
      %b = tile.inline_ptx "neg.f16x2 $0, $1;" "=r,r" pack 2 pure %h : (tensor<64xf16>) -> tensor<64xf16>
      return
    }
    ```
  }];
  let arguments = (ins StrAttr:$text, StrAttr:$constraints, DefaultValuedAttr<I32Attr, "1">:$pack, UnitAttr:$pure,
                       Variadic<Tile_Number>:$operands);
  let results = (outs Variadic<Tile_Number>:$results);
  let assemblyFormat = [{
    $text $constraints (`pack` $pack^)? (`pure` $pure^)? ($operands^)? attr-dict `:` functional-type($operands, $results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// 32-bit (or wider) registers that `pack` elements of a type take.
    static int64_t registersOf(::mlir::Type type, int64_t pack);
  }];
}

def Tile_InlineCudaOp : Tile_Op<"inline_cuda", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getWantedLayout", "getResultLayout", "getOperandLayout"]>]> {
  let summary = "A CUDA C++ function applied element by element";
  let description = [{
    Calls the device function `entry` of the CUDA C++ text `source` for each element. Operands and the
    result are scalars or tiles of one shape. `signature` says the C++ types, as dtypes: the result's,
    then the operands' in parentheses; integers are signless in the IR. Unless `pure` the function is
    called as often as the program says, in order with accesses of memory.

    Example:
    ```mlir
    func.func @example(%x: tensor<64xf32>, %n: tensor<64xi32>) {
      %a = tile.inline_cuda "__device__ float f(float x, unsigned n) { return x * n; }" "f" "f32(f32,u32)" pure %x, %n
          : (tensor<64xf32>, tensor<64xi32>) -> tensor<64xf32>
      return
    }
    ```
  }];
  let arguments = (ins StrAttr:$source, StrAttr:$entry, StrAttr:$signature, UnitAttr:$pure,
                       Variadic<Tile_Number>:$operands);
  let results = (outs Tile_Number:$result);
  let assemblyFormat = [{
    $source $entry $signature (`pure` $pure^)? ($operands^)? attr-dict `:` functional-type($operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The dtypes that a signature names, the result's first; empty if it is malformed.
    static ::llvm::SmallVector<::llvm::StringRef> dtypesOf(::llvm::StringRef signature);
  }];
}

#endif // TILE_IR_TILEFOREIGNOPS_TD
