// What passes tell each other of loops: the plan by which one is pipelined, and the steps of tiles.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

namespace tile::gpu {

/// How a loop is pipelined; null before ScheduleLoops, and on loops that neither ask for it nor can
/// be.
LoopPlanAttr loopPlanOf(mlir::Operation *loop);
void setLoopPlan(mlir::Operation *loop, LoopPlanAttr plan);
void removeLoopPlan(mlir::Operation *loop);

/// The step of each tile in which a branch in the body of a flattened loop executes. The branch of
/// the last step holds all that follows the steps of a tile. Nothing for other branches.
std::optional<TileStep> tileStepOf(mlir::Operation *branch);
void setTileStep(mlir::Operation *branch, TileStep step);

} // namespace tile::gpu
