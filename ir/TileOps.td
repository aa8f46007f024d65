// All operations of the dialect `tile`.
#ifndef TILE_IR_TILEOPS_TD
#define TILE_IR_TILEOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "ir/TileAtomicOps.td"
include "ir/TileBitOps.td"
include "ir/TileDebugOps.td"
include "ir/TileDotOps.td"
include "ir/TileFactOps.td"
include "ir/TileForeignOps.td"
include "ir/TileMemoryOps.td"
include "ir/TilePairOps.td"
include "ir/TileScanOps.td"
include "ir/TileShapeOps.td"

#endif // TILE_IR_TILEOPS_TD
