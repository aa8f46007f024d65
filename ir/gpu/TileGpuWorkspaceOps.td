// Operations on the workspace of a launch: global memory through which its programs exchange tiles.
#ifndef TILE_IR_TILEGPUWORKSPACEOPS_TD
#define TILE_IR_TILEGPUWORKSPACEOPS_TD

include "ir/gpu/TileGpuOpBase.td"

def TileGpu_BytePointer : Type<CPred<"::llvm::isa<::tile::ir::PtrType>($_self) && "
    "::llvm::cast<::tile::ir::PtrType>($_self).getPointeeType().isInteger(8)">, "pointer to i8", "::tile::ir::PtrType">;

def TileGpu_WorkspaceStoreOp : TileGpu_Op<"workspace_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Write a tile in the order in which threads hold it";
  let description = [{
    Each thread writes all of its registers, in pieces of 16 bytes if there are that many, the
    pieces of all threads adjacent. The order is that of the layout, which only
    `tilegpu.workspace_load` of a tile in the same layout undoes.

    Example:
    ```mlir
    #l = #tilegpu.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
    func.func @example(%x: tensor<16x8xf32, #l>, %p: !tile.ptr<i8>) attributes {tile.warps = 1 : i32} {
      tilegpu.workspace_store %x, %p : tensor<16x8xf32, #l>, !tile.ptr<i8>
      return
    }
    ```
  }];
  let arguments = (ins TileGpu_Tile:$value, TileGpu_BytePointer:$ptr);
  let assemblyFormat = "$value `,` $ptr attr-dict `:` type($value) `,` type($ptr)";
  let hasVerifier = 1;
}

def TileGpu_WorkspaceLoadOp : TileGpu_Op<"workspace_load", [MemoryEffects<[MemRead]>]> {
  let summary = "Read a tile in the order in which threads hold it";
  let description = [{
    The tile was written by `tilegpu.workspace_store` in the result's layout, by this program or
    another.

    Example:
    ```mlir
    #l = #tilegpu.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
    func.func @example(%p: !tile.ptr<i8>) -> tensor<16x8xf32, #l> attributes {tile.warps = 1 : i32} {
      %x = tilegpu.workspace_load %p : !tile.ptr<i8> -> tensor<16x8xf32, #l>
      return %x : tensor<16x8xf32, #l>
    }
    ```
  }];
  let arguments = (ins TileGpu_BytePointer:$ptr);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = "$ptr attr-dict `:` type($ptr) `->` type($result)";
  let hasVerifier = 1;
}

def TileGpu_WorkspaceAddOp : TileGpu_Op<"workspace_add", [MemoryEffects<[MemRead]>, AllTypesMatch<["value", "result"]>]> {
  let summary = "Add a stored tile to a tile";
  let description = [{
    It reads the stored tile piece by piece, so that a thread need not hold both tiles.

    Example:
    ```mlir
    #l = #tilegpu.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
    func.func @example(%x: tensor<16x8xf32, #l>, %p: !tile.ptr<i8>) -> tensor<16x8xf32, #l>
        attributes {tile.warps = 1 : i32} {
      %y = tilegpu.workspace_add %x, %p : tensor<16x8xf32, #l>, !tile.ptr<i8>
      return %y : tensor<16x8xf32, #l>
    }
    ```
  }];
  let arguments = (ins TileGpu_Tile:$value, TileGpu_BytePointer:$ptr);
  let results = (outs TileGpu_Tile:$result);
  let assemblyFormat = "$value `,` $ptr attr-dict `:` type($value) `,` type($ptr)";
  let hasVerifier = 1;
}

#endif // TILE_IR_TILEGPUWORKSPACEOPS_TD
