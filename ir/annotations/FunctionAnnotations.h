// What is known about a kernel and its arguments: warps, teams and roles, shared memory, the
// workspace of a launch.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::ir {

/// What an argument of a compiled kernel is in the kernel as it was written; null before
/// LowerViews.
ParamAttr paramOf(mlir::func::FuncOp function, unsigned argument);

/// A number that divides an argument (for a pointer, its address in bytes); 1 if none is known.
int64_t divisorOf(mlir::func::FuncOp function, unsigned argument);

/// The number of warps that share the tiles of the kernel or callable around an operation.
int64_t warpsOf(mlir::Operation *op);

/// The number of teams, of `warpsOf` warps each, that execute a program of the kernel around an
/// operation.
int64_t teamsOf(mlir::Operation *op);

/// The number of blocks of a cluster that execute a program of the kernel around an operation.
int64_t clusterOf(mlir::Operation *op);

} // namespace tile::ir

namespace tile::gpu {

/// The tensor map that a parameter of a lowered function is; null for other parameters.
TensorMapAttr tensorMapOf(mlir::FunctionOpInterface function, unsigned argument);
/// The attribute that marks a new parameter as such.
mlir::NamedAttribute tensorMapParameter(TensorMapAttr map);

/// The memory of a launch through which a kernel's programs exchange data; null if they exchange
/// none.
WorkspaceAttr workspaceOf(mlir::Operation *function);
void setWorkspace(mlir::Operation *function, WorkspaceAttr workspace);

/// The roles of a kernel's warps; null before SpecializeWarps, and in kernels without roles.
WarpSpecializeOp rolesOf(mlir::Operation *function);
/// Threads per block of a kernel.
int32_t threadsOf(mlir::Operation *function);

/// The end, in bytes, of a function's own shared memory; nothing before AllocateShared.
std::optional<int64_t> sharedBytesOf(mlir::Operation *function);
/// Bytes of it per team, before the memory that all teams share; 0 without teams.
int64_t teamBytesOf(mlir::Operation *function);
void setTeamBytes(mlir::Operation *function, int64_t bytes);
void setSharedBytes(mlir::Operation *function, int64_t bytes);

} // namespace tile::gpu
