// The protocol between passes: what one writes on operations and arguments for those that follow,
// and how to read it. Nobody else names these attributes. Each is verified where it is attached, so
// that a reader meets none, or one that fits the operation.
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

/// Teams of so many warps that carry out a program of the kernel around an operation.
int64_t teamsOf(mlir::Operation *op);

/// Blocks of a cluster that carry out a program of the kernel around an operation.
int64_t clusterOf(mlir::Operation *op);

} // namespace tile::ir

namespace tile::gpu {

/// What is known of a load, store or prefetch of a tile; null if nothing.
AccessAttr accessOf(mlir::Operation *op);
void setAccess(mlir::Operation *op, llvm::ArrayRef<int32_t> order, int64_t vector,
               llvm::ArrayRef<Bounds> bounds = {});

/// How a copy or a product is carried out; `Undecided` before SelectVariants.
VariantKind variantOf(mlir::Operation *op);
/// Why better variants were refused, as sentences.
llvm::SmallVector<llvm::StringRef> refusalsOf(mlir::Operation *op);
/// The variant that the program demands of an operation; `Undecided` if it leaves the choice.
VariantKind demandedVariantOf(mlir::Operation *op);
/// Chooses a variant; adds a sentence to the refusals. Each keeps what the other has written.
void setVariant(mlir::Operation *op, VariantKind kind);
void addRefusal(mlir::Operation *op, llvm::StringRef sentence);

/// How the warps share a product's result; null before SelectVariants.
WarpGridAttr warpGridOf(mlir::Operation *dot);
void setWarpGrid(mlir::Operation *dot, int32_t rows, int32_t columns, int32_t batch);

/// Does a product by wgmma take A from registers? Else both operands lie in shared memory.
bool takesAFromRegisters(mlir::Operation *dot);
void setTakesAFromRegisters(mlir::Operation *dot);

/// Are neighbours of an operand of a product by wgmma in shared memory neighbours along K (or along
/// M or N)? Nothing before SelectVariants, which decides by the load that the operand comes from:
/// passes that stage loads replace it.
std::optional<bool> isKMajor(mlir::OpOperand &operand);
void setKMajor(mlir::Operation *dot, bool a, bool b);
/// For a product that reads its operands where they were put.
void removeKMajor(mlir::Operation *dot);

/// Elements along K that a lane has as neighbours of a product's factors, which it loads straight
/// into their fragments; 0 of others.
int64_t kWidthOf(mlir::Operation *dot);
void setKWidth(mlir::Operation *dot, int64_t elements);

/// How a loop is pipelined; null before ScheduleLoops, and on loops that neither ask for it nor can
/// be.
LoopPlanAttr loopPlanOf(mlir::Operation *loop);
void setLoopPlan(mlir::Operation *loop, LoopPlanAttr plan);
void removeLoopPlan(mlir::Operation *loop);

/// The step of each tile in which a branch in the body of a flattened loop executes. The branch of the
/// last step holds all that follows the steps of a tile. Nothing for other branches.
std::optional<TileStep> tileStepOf(mlir::Operation *branch);
void setTileStep(mlir::Operation *branch, TileStep step);

/// The argument that a view is of, as the kernel was written; null if it is none.
ViewOfAttr viewOf(ir::MakeViewOp view);
void setViewOf(ir::MakeViewOp view, int32_t arg, llvm::ArrayRef<int32_t> dims);

/// What a parameter of a function of scalars describes to the copy engine; null if it is another.
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
/// Bytes of it that each of several teams has for itself, behind what they have in common; 0
/// without teams.
int64_t teamBytesOf(mlir::Operation *function);
void setTeamBytes(mlir::Operation *function, int64_t bytes);
void setSharedBytes(mlir::Operation *function, int64_t bytes);

} // namespace tile::gpu
