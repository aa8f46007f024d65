// The interface of operations on tiles that know how their operands and results lie over threads.
#ifndef TILE_IR_LAYOUTOP_TD
#define TILE_IR_LAYOUTOP_TD

include "mlir/IR/OpBase.td"

def TileGpu_LayoutOp : OpInterface<"LayoutOp"> {
  let cppNamespace = "::tile::gpu";
  let description = [{
    An operation that makes tiles out of tiles says here how layouts go through it: forwards to its
    results, and backwards to what it needs of each operand. The pass that assigns layouts refuses
    operations that do not; elementwise ones need not, since all their tiles lie alike.
  }];
  let methods = [
    InterfaceMethod<[{
        The operands whose layouts the results follow, the strongest claim of them; none if the
        results do not follow their operands.
      }], "::llvm::SmallVector<::mlir::Value>", "getLayoutSources", (ins), "",
      "return ::llvm::SmallVector<::mlir::Value>($_op->getOperands());">,
    InterfaceMethod<[{
        What the operation asks for its results where they follow no operand with a claim; nothing
        if it is made anew in each layout that is needed.
      }], "::tile::gpu::LayoutClaim", "getWantedLayout", (ins "int64_t":$warps), "", "return {};">,
    InterfaceMethod<[{
        The layout of the tile results when the sources have this one and nothing moves; null if
        there is none.
      }], "::tile::gpu::LayoutAttr", "getResultLayout", (ins "::tile::gpu::LayoutAttr":$source), "", "return {};">,
    InterfaceMethod<[{
        The layout a tile operand must have for the results to have this one; null if there is none.
      }], "::tile::gpu::LayoutAttr", "getOperandLayout",
      (ins "::mlir::OpOperand &":$operand, "::tile::gpu::LayoutAttr":$result), "", "return {};">,
    InterfaceMethod<"May a tile operand lie anyhow, whatever the layout of the results?", "bool", "takesAnyLayout",
      (ins "::mlir::OpOperand &":$operand), "", "return false;">
  ];
}

#endif // TILE_IR_LAYOUTOP_TD
