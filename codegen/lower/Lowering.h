// Lowering to one thread: the state every operation's lowering works with.
//
// A kernel is rebuilt as a function over scalars. Each tile becomes a list of values, one an element that the thread holds,
// in the register order of its layout; each scalar becomes itself. An operation is lowered by looking at its own operands
// and layouts only.
#pragma once

#include "ir/LayoutAttr.h"
#include "ir/layout/Layout.h"
#include "ir/layout/SharedAccess.h"
#include "ir/target/Target.h"
#include "passes/analysis/AxisInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace tile::codegen {

/// A tile's elements in this thread, or a scalar alone.
using Registers = llvm::SmallVector<mlir::Value>;

class Lowering {
public:
  Lowering(mlir::func::FuncOp source, mlir::func::FuncOp function, const ir::Target &target);

  /// Checks what the passes before must have done to a kernel: layouts, arguments, bounds, structured control flow.
  static mlir::LogicalResult verify(mlir::func::FuncOp kernel);

  /// Lowers the whole body. Emits an error and fails at the first operation it cannot lower.
  mlir::LogicalResult run();

  mlir::OpBuilder b;
  const ir::Target target; ///< the machine that is compiled for

  // --- Values -----------------------------------------------------------------------------------------------------

  /// The registers of an operand.
  const Registers &operator[](mlir::Value value) const;
  /// The one register of a scalar operand.
  mlir::Value scalar(mlir::Value value) const { return (*this)[value].front(); }
  void set(mlir::Value value, Registers registers) { map_[value] = std::move(registers); }

  /// A thread's elements of this type: one a register of the layout, or one for a scalar.
  static size_t countOf(mlir::Type type);
  /// The type of one register: the element type; pointers are `!llvm.ptr<1>`, 8-bit floats i8.
  static mlir::Type registerType(mlir::Type type);
  /// The types in which values of these types are carried over branches and calls, one after the other: those of their
  /// registers, or 32-bit words of narrow elements that fill some. The assembler would keep each half of a word in a place of
  /// its own, and put them together again for every instruction that takes words.
  static llvm::SmallVector<mlir::Type> carriedTypes(mlir::TypeRange types);

  // --- Constants and thread numbers ---------------------------------------------------------------------------------

  mlir::Value i32(int64_t value) { return integer(32, value); }
  mlir::Value integer(unsigned bits, int64_t value);
  /// A number in the type of its register.
  mlir::Value constant(mlir::Location loc, mlir::TypedAttr number);
  mlir::Value threadId() const { return tid_; }
  mlir::Value lane() const { return laneId_; }
  mlir::Value warp() const { return warpId_; }
  /// The warp number, known to be the same in all threads of a warp.
  mlir::Value uniformWarp();
  /// How many teams carry out the program, and the number of the thread's. Thread numbers are within a team, those of warps
  /// within the block.
  int64_t teams() const;
  mlir::Value team();
  /// How many blocks of a cluster carry out the program, and the number of this one.
  int64_t cluster() const;
  mlir::Value clusterRank();

  /// Facts about the operands, which stay as they are until everything is lowered.
  passes::AxisInfoAnalysis axis;

  // --- Layouts ------------------------------------------------------------------------------------------------------

  /// XOR over the set bits of lane and warp of the given contributions, as an i32: a linear map of the thread number.
  mlir::Value threadLinear(llvm::ArrayRef<int64_t> laneBits, llvm::ArrayRef<int64_t> warpBits);
  /// XOR over the set bits of the warp number, as an i32 that is as uniform.
  mlir::Value groupLinear(llvm::ArrayRef<int64_t> warpBits);
  /// The same map of any number's low bits.
  mlir::Value linear(mlir::Value number, llvm::ArrayRef<int64_t> bits);
  /// What lane and warp contribute to a coordinate of the elements they hold.
  mlir::Value threadCoordinate(const layout::Layout &layout, int dim);
  /// What a register adds to it (the bits are disjoint from the thread's in the layouts the compiler makes; otherwise
  /// `isDisjoint` is false and the two are combined by XOR).
  struct RegisterCoordinate {
    int64_t linear, odd;
  };
  static RegisterCoordinate registerCoordinate(const layout::Layout &layout, int dim, int32_t reg);
  /// The coordinate itself, as an i32.
  mlir::Value coordinate(const layout::Layout &layout, int dim, int32_t reg);
  /// True in the threads that hold the elements first: those whose lanes and warps only duplicate are left out. Null if
  /// none duplicates.
  mlir::Value isFirstHolder(const layout::Layout &layout);

  // --- The module -----------------------------------------------------------------------------------------------------

  /// A function that is defined elsewhere, declared once; a conflicting declaration is null.
  mlir::LLVM::LLVMFuncOp externalFunction(llvm::StringRef name, mlir::LLVM::LLVMFunctionType type);
  /// The generic address of a text in global memory, ended by a NUL.
  mlir::Value textAddress(llvm::StringRef text);
  /// Space in local memory, as a generic pointer, made once at the top of the kernel.
  mlir::Value localBuffer(int64_t bytes);
  mlir::ModuleOp module() const;
  /// The address of a tensor map that the launch passes: a parameter of the function, one for each map.
  mlir::Value tensorMap(gpu::TensorMapAttr map);

  // --- Shared memory ------------------------------------------------------------------------------------------------

  /// The block's shared memory at a byte offset, as `!llvm.ptr<3>`.
  mlir::Value sharedPointer(mlir::Value byteOffset);
  /// Where a tile in shared memory starts.
  struct SharedPlace {
    int64_t offset = 0; ///< in bytes from the block's first
    mlir::Value moved;  ///< what is added to it, in bytes; null if nothing is
  };
  SharedPlace placeOf(mlir::Value smem);
  /// The address of a byte in a tile in shared memory, as a number: `byteOffset` and `moved`, unless it is null, from
  /// where the tile starts.
  mlir::Value sharedAddress(mlir::Value smem, int64_t byteOffset, mlir::Value moved = {});
  /// Is this memory of an allocation, so that it has a place?
  static bool hasPlace(mlir::Value smem);

  // --- Regions ------------------------------------------------------------------------------------------------------

  /// Lowers the operations of a block at the insertion point, the terminator left out.
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  /// Several operands as they are carried, one after the other.
  Registers flatten(mlir::ValueRange values);
  /// Gives values the registers that are carried one after the other in `flat`.
  void unflatten(mlir::ValueRange values, mlir::ValueRange flat);

private:
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerCall(mlir::func::CallOp call);
  void makeThreadNumbers();
  mlir::Value teamMemory();

  mlir::func::FuncOp source_, function_;
  mlir::Value tid_, laneId_, warpId_, uniformWarpId_, team_, teamMemory_;
  llvm::DenseMap<mlir::Value, Registers> map_;
  int numTexts_ = 0;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts_;
  llvm::StringMap<mlir::Value> threadLinears_; ///< made once, at the top of the kernel
};

/// Lowers one operation.
using LowerFunction = mlir::LogicalResult (*)(Lowering &, mlir::Operation *);

/// A row of a table: `on<ir::FlipOp, lowerFlip>`. The function takes the operation by its class, or as any.
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

/// The name of the array that stands for the block's shared memory.
inline constexpr llvm::StringLiteral kSharedSymbol = "tile_shared";

} // namespace tile::codegen
