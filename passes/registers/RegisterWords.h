// Which registers of a thread the values of a kernel in dialect tilegpu are in, and how many words
// of 32 bits they take.
//
// Code generation gives each element of a tile that a thread holds a value of its own, so that an
// operation which only renames elements (a broadcast, a reshape, the wait of a product) costs
// nothing: its result is in its operand's registers. What follows from constants, numbers of
// elements and scalars alone is computed where it is used, and so is, element by element, what the
// next operation alone takes. All other values are roots: they have registers of their own, from
// where they are made to where their last user is.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::passes {

/// Words of registers, by what would happen if there were fewer.
struct Words {
  int64_t held = 0; ///< spilled
  int64_t kept = 0; ///< computed anew, which the assembler seldom does before it spills: addresses
  int64_t elastic = 0; ///< loaded later, or computed anew at once: taken only where there is room

  Words &operator+=(Words other) {
    held += other.held, kept += other.kept, elastic += other.elastic;
    return *this;
  }
  int64_t total() const { return held + kept + elastic; }
};

class RegisterWords {
public:
  /// The roots whose registers a value is in; none if it takes none. Valid until the next call.
  llvm::ArrayRef<mlir::Value> rootsOf(mlir::Value value);
  /// What a root takes.
  Words wordsOf(mlir::Value root);

private:
  using Roots = llvm::SmallVector<mlir::Value, 2>;

  Roots findRoots(mlir::Value value);
  Roots rootsOfOperands(mlir::Operation *op);
  bool isRecomputed(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, Roots> roots_;
  llvm::DenseMap<mlir::Value, Words> words_;
};

} // namespace tile::passes
