// The values of one thread: what has been lowered so far, and constants.
//
// Guarantees: a value of the kernel is looked up after it has been set, and has one register per
// element that the thread holds, in the register order of its layout; a scalar has one. New
// operations go to the insertion point of `b`.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::codegen {

/// A tile's elements in this thread, or a scalar alone.
using Registers = llvm::SmallVector<mlir::Value>;

class ThreadValues {
public:
  /// `source` is the function over tiles; what replaces it is built where `b` stands.
  ThreadValues(mlir::func::FuncOp source, mlir::OpBuilder b) : b(b), source_(source) {}
  ThreadValues(const ThreadValues &) = delete; // parts of a lowering refer to it
  ThreadValues &operator=(const ThreadValues &) = delete;

  mlir::OpBuilder b;

  /// The registers of an operand.
  const Registers &operator[](mlir::Value value) const;
  /// The one register of a scalar operand.
  mlir::Value scalar(mlir::Value value) const { return (*this)[value].front(); }
  void set(mlir::Value value, Registers registers) { map_[value] = std::move(registers); }

  /// A thread's elements of this type: one a register of the layout, or one for a scalar.
  static size_t countOf(mlir::Type type);
  /// The type of one register: the element type; pointers are `!llvm.ptr<1>`, 8-bit floats i8.
  static mlir::Type registerType(mlir::Type type);

  mlir::Value i32(int64_t value) { return integer(32, value); }
  mlir::Value integer(unsigned bits, int64_t value);
  /// A number in the type of its register.
  mlir::Value constant(mlir::Location loc, mlir::TypedAttr number);

  /// The function over tiles, whose attributes say what the passes decided.
  mlir::func::FuncOp source() const { return source_; }
  /// Where that function begins, for what belongs to no operation of it.
  mlir::Location loc() const { return source()->getLoc(); }

private:
  mlir::func::FuncOp source_;
  llvm::DenseMap<mlir::Value, Registers> map_;
};

} // namespace tile::codegen
