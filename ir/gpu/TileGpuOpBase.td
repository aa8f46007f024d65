// Common to all files of operations of `tilegpu`.
#ifndef TILE_IR_TILEGPUOPBASE_TD
#define TILE_IR_TILEGPUOPBASE_TD

include "ir/gpu/TileGpuScope.td"

class TileGpu_Op<string opMnemonic, list<Trait> traits = []> : Op<TileGpuDialect, opMnemonic, traits>;

def TileGpu_SharedMemory : Resource<"::tile::gpu::SharedMemory">;
def TileGpu_Tile : RankedTensorOf<[AnyType], [HasStaticShapePred], "tile">;
def TileGpu_View : Type<CPred<"::llvm::isa<::tile::ir::ViewType>($_self)">, "view", "::tile::ir::ViewType">;

#endif // TILE_IR_TILEGPUOPBASE_TD
