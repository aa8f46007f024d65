// The dialect `tile` in C++: generated types, attributes and operations.
#pragma once

#include "ir/LayoutOp.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/TileDialect.h.inc"
#include "ir/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "ir/TileOps.h.inc"

namespace tile::ir {

/// Attributes of a kernel function and of its arguments.
inline constexpr llvm::StringLiteral kKernelAttr = "tile.kernel";
/// On a function that kernels call: it has no memory but shared memory of its own.
inline constexpr llvm::StringLiteral kCallableAttr = "tile.callable";
inline constexpr llvm::StringLiteral kWarpsAttr = "tile.warps";
inline constexpr llvm::StringLiteral kGridAttr = "tile.grid";
inline constexpr llvm::StringLiteral kGridSymbolsAttr = "tile.grid_symbols";
/// How many teams of `tile.warps` warps carry out each program.
inline constexpr llvm::StringLiteral kTeamsAttr = "tile.teams";
/// How many blocks of a cluster carry out each program.
inline constexpr llvm::StringLiteral kClusterAttr = "tile.cluster";
inline constexpr llvm::StringLiteral kPersistentAttr = "tile.persistent";
inline constexpr llvm::StringLiteral kMaxRegistersAttr = "tile.maxnreg";
inline constexpr llvm::StringLiteral kOccupancyAttr = "tile.occupancy";
inline constexpr llvm::StringLiteral kNoFusionAttr = "tile.no_fp_fusion";
inline constexpr llvm::StringLiteral kFlushDenormalsAttr = "tile.ftz";
inline constexpr llvm::StringLiteral kAlignmentAttr = "tile.alignment";
inline constexpr llvm::StringLiteral kUnitStrideAttr = "tile.unit_stride";
inline constexpr llvm::StringLiteral kStrideBytesDivisibleAttr = "tile.stride_bytes_divisible";
inline constexpr llvm::StringLiteral kExtentDivisibleAttr = "tile.extent_divisible";
inline constexpr llvm::StringLiteral kExtentsAttr = "tile.extents"; ///< -1: known at launch alone
/// On a view or pointer: the arguments of the kernel, as it was written, that may overlap it.
inline constexpr llvm::StringLiteral kMayAliasAttr = "tile.may_alias";
inline constexpr llvm::StringLiteral kWideAttr = "tile.wide";
inline constexpr llvm::StringLiteral kAccessAttr = "tile.access";
inline constexpr llvm::StringLiteral kNameAttr = "tile.name";

/// On an argument of a compiled kernel: a ParamAttr, and a number that divides it.
inline constexpr llvm::StringLiteral kParamAttr = "tile.param";
inline constexpr llvm::StringLiteral kDivisibilityAttr = "tile.divisibility";

/// On a function of scalars: threads of a block.
inline constexpr llvm::StringLiteral kThreadsAttr = "tile.threads";

/// On a loop: how many iterations ahead loads run, how many copies its body gets; that nothing is
/// computed before it that an iteration computes; that it and the loop inside become one; that its
/// first products run an iteration ahead; that its loads are issued by a warp of their own; that
/// two teams carry its iterations out in turn.
inline constexpr llvm::StringLiteral kStagesAttr = "tile.stages";
inline constexpr llvm::StringLiteral kUnrollAttr = "tile.unroll";
inline constexpr llvm::StringLiteral kNoLicmAttr = "tile.no_licm";
inline constexpr llvm::StringLiteral kFlattenAttr = "tile.flatten";
inline constexpr llvm::StringLiteral kOverlapDotsAttr = "tile.overlap_dots";
inline constexpr llvm::StringLiteral kSpecializeAttr = "tile.warp_specialize";
inline constexpr llvm::StringLiteral kPingPongAttr = "tile.ping_pong";

/// On a load, store or product: the number of the `tilegpu` variant that it must be carried out by.
inline constexpr llvm::StringLiteral kVariantAttr = "tile.variant";

/// On an operation of `math` or a division: full accuracy instead of the fast form on f32.
inline constexpr llvm::StringLiteral kPreciseAttr = "tile.precise";

/// Most elements a tile may have.
inline constexpr int64_t kMaxTileElements = 1 << 20;

/// Checks extents of a tile: positive, rank at most 8, at most kMaxTileElements elements.
mlir::LogicalResult verifyTileShape(llvm::ArrayRef<int64_t> shape,
                                    llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Whether a type is a number that tiles and views may have for elements.
bool isNumber(mlir::Type type);

/// Whether a type is one of the 8-bit floats, which are converted but not computed with.
bool isFloat8(mlir::Type type);

/// The element type of a tile, the type itself of a scalar.
mlir::Type elementTypeOf(mlir::Type type);

/// The shape of a tile, empty for a scalar.
llvm::ArrayRef<int64_t> shapeOf(mlir::Type type);

} // namespace tile::ir
