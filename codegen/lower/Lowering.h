// Lowering to one thread: what every operation's lowering works with.
//
// A kernel is rebuilt as a function over scalars. Each tile becomes a list of values, one an
// element that the thread holds, in the register order of its layout; each scalar becomes itself.
// An operation is lowered by looking at its own operands and layouts only. What it may touch beside
// these are the parts of `Lowering`, each of which has a header of its own.
#pragma once

#include "codegen/thread/Coordinates.h"
#include "codegen/thread/ModuleParts.h"
#include "codegen/thread/SharedSpace.h"
#include "codegen/thread/ThreadValues.h"
#include "codegen/thread/Threads.h"
#include "ir/LayoutAttr.h"
#include "ir/layout/SharedAccess.h"
#include "ir/target/Target.h"
#include "passes/analysis/AxisInfo.h"

namespace tile::codegen {

class Lowering : public ThreadValues {
public:
  Lowering(mlir::func::FuncOp source, mlir::func::FuncOp function, const ir::Target &target);

  /// Checks what the passes before must have done to a kernel: layouts, arguments, bounds,
  /// structured control flow.
  static mlir::LogicalResult verify(mlir::func::FuncOp kernel);

  /// Lowers the whole body. Emits an error and fails at the first operation it cannot lower.
  mlir::LogicalResult run();

  const ir::Target target; ///< the machine that is compiled for

  Threads threads;         ///< which thread executes
  Coordinates coordinates; ///< where in a tile its elements are
  SharedSpace shared;      ///< addresses in shared memory
  ModuleParts module;      ///< declarations, texts, local memory, parameters

  /// Facts about the operands, which stay as they are until everything is lowered.
  passes::AxisInfoAnalysis axis;

  // --- Regions -------------------------------------------------------------------------

  /// Lowers the operations of a block at the insertion point, the terminator left out.
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  /// The types in which values of these types are carried over branches and calls, one after the
  /// other: those of their registers, or 32-bit words of narrow elements that fill some. The
  /// assembler would keep each half of a word in a place of its own, and put them together again
  /// for every instruction that takes words.
  static llvm::SmallVector<mlir::Type> carriedTypes(mlir::TypeRange types);
  /// Several operands as they are carried, one after the other.
  Registers flatten(mlir::ValueRange values);
  /// Gives values the registers that are carried one after the other in `flat`.
  void unflatten(mlir::ValueRange values, mlir::ValueRange flat);

private:
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerCall(mlir::func::CallOp call);
};

/// Lowers one operation.
using LowerFunction = mlir::LogicalResult (*)(Lowering &, mlir::Operation *);

/// A row of a table: `on<ir::FlipOp, lowerFlip>`. The function takes the operation by its class, or
/// as any.
using LoweringRow = std::pair<llvm::StringLiteral, LowerFunction>;
template <class Op, auto lowerOp>
inline constexpr LoweringRow on{Op::getOperationName(), [](Lowering &l, mlir::Operation *op) {
                                  return lowerOp(l, llvm::cast<Op>(op));
                                }};

/// The lowering of an operation by its full name; null if there is none.
LowerFunction findLowering(llvm::StringRef name);

// The tables of each topic.
using LoweringTable = llvm::ArrayRef<LoweringRow>;
LoweringTable asyncCopyLowerings();
LoweringTable atomicLowerings();
LoweringTable controlLowerings();
LoweringTable convertLowerings();
LoweringTable debugLowerings();
LoweringTable dotLowerings();
LoweringTable elementwiseLowerings();
LoweringTable foreignCudaLowerings();
LoweringTable foreignLowerings();
LoweringTable gridControlLowerings();
LoweringTable layoutLowerings();
LoweringTable mbarrierLowerings();
LoweringTable memoryLowerings();
LoweringTable pairLowerings();
LoweringTable reduceLowerings();
LoweringTable scanLowerings();
LoweringTable shapeLowerings();
LoweringTable sharedIndexedLowerings();
LoweringTable sharedLowerings();
LoweringTable smemDotLowerings();
LoweringTable tensorCopyLowerings();
LoweringTable roleLowerings();
LoweringTable orderedBarrierLowerings();
LoweringTable wgmmaLowerings();
LoweringTable workspaceLowerings();

/// Elementwise operations of `arith` and `math`: the same operation on each register.
mlir::LogicalResult lowerElementwise(Lowering &l, mlir::Operation *op);

} // namespace tile::codegen
