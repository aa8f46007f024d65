// All operations of the dialect `tile`.
#ifndef TILE_IR_TILEOPS_TD
#define TILE_IR_TILEOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "ir/tile/TileAtomicOps.td"
include "ir/tile/TileBitOps.td"
include "ir/tile/TileClusterOps.td"
include "ir/tile/TileDebugOps.td"
include "ir/tile/TileDotOps.td"
include "ir/tile/TileFactOps.td"
include "ir/tile/TileForeignOps.td"
include "ir/tile/TileGridOps.td"
include "ir/tile/TileMemoryOps.td"
include "ir/tile/TilePairOps.td"
include "ir/tile/TileScanOps.td"
include "ir/tile/TileShapeOps.td"

#endif // TILE_IR_TILEOPS_TD
