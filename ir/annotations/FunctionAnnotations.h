// What is known of a kernel and its arguments: warps, teams and roles, shared memory, and what a
// launch gives.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::ir {

/// What an argument of a compiled kernel is of the kernel as it was written; null before
/// LowerViews.
ParamAttr paramOf(mlir::func::FuncOp function, unsigned argument);

/// A number that divides an argument (a pointer's address in bytes); 1 if none is known.
int64_t divisorOf(mlir::func::FuncOp function, unsigned argument);

/// Warps of the kernel or callable that an operation is in, which share its tiles.
int64_t warpsOf(mlir::Operation *op);

/// Teams of that many warps each that execute a program of the kernel around an operation.
int64_t teamsOf(mlir::Operation *op);

/// Blocks of a cluster that execute a program of the kernel around an operation.
int64_t clusterOf(mlir::Operation *op);

} // namespace tile::ir

namespace tile::gpu {

/// What a parameter of a function of scalars describes to TMA; null if it is another.
TensorMapAttr tensorMapOf(mlir::FunctionOpInterface function, unsigned argument);
/// The attribute of a new parameter that does.
mlir::NamedAttribute tensorMapParameter(TensorMapAttr map);

/// The memory that a launch gives a kernel's programs; null if they hand each other nothing.
WorkspaceAttr workspaceOf(mlir::Operation *function);
void setWorkspace(mlir::Operation *function, WorkspaceAttr workspace);

/// The roles of a kernel's warps; null before SpecializeWarps, and in kernels whose warps all do
/// the same.
WarpSpecializeOp rolesOf(mlir::Operation *function);
/// Threads of a kernel's blocks.
int32_t threadsOf(mlir::Operation *function);

/// Bytes of shared memory up to the end of a function's own; nothing before AllocateShared.
std::optional<int64_t> sharedBytesOf(mlir::Operation *function);
/// The part of them that each of several teams has for itself, before what all share; 0 without
/// teams.
int64_t teamBytesOf(mlir::Operation *function);
void setTeamBytes(mlir::Operation *function, int64_t bytes);
void setSharedBytes(mlir::Operation *function, int64_t bytes);

} // namespace tile::gpu
