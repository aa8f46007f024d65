// What all operations of the dialect `tile` share: their base class and type constraints.
#ifndef TILE_IR_TILEOPBASE_TD
#define TILE_IR_TILEOPBASE_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "ir/LayoutOp.td"
include "ir/tile/TileDialect.td"

class Tile_Op<string opMnemonic, list<Trait> traits = []> : Op<TileDialect, opMnemonic, traits>;

def Tile_Scalar : AnyTypeOf<[I1, I8, I16, I32, I64, F8E4M3FN, F8E5M2, F16, BF16, F32, F64], "supported number">;
def Tile_Tile : RankedTensorOf<[Tile_Scalar, Tile_PtrType], [HasStaticShapePred], "tile">;
def Tile_NumberTile : RankedTensorOf<[Tile_Scalar], [HasStaticShapePred], "tile of numbers">;
def Tile_Any : AnyTypeOf<[Tile_Scalar, Tile_PtrType, Tile_Tile], "scalar, pointer or tile">;
def Tile_Number : AnyTypeOf<[Tile_Scalar, Tile_NumberTile], "number or tile of numbers">;
def Tile_PtrLike : AnyTypeOf<[Tile_PtrType, RankedTensorOf<[Tile_PtrType], [HasStaticShapePred]>],
                             "pointer or tile of pointers">;
def Tile_Offset : AnyTypeOf<[I32, I64, RankedTensorOf<[I32, I64], [HasStaticShapePred]>],
                            "i32 or i64 offset or tile of offsets">;
def Tile_Mask : AnyTypeOf<[I1, RankedTensorOf<[I1], [HasStaticShapePred]>], "i1 or tile of i1">;

#endif // TILE_IR_TILEOPBASE_TD
