// Where in a tile the elements are that a thread holds.
//
// Guarantees: coordinates follow from a layout and the thread's numbers alone. What only these
// decide is computed once, at the top of the kernel.
#pragma once

#include "codegen/thread/Threads.h"
#include "ir/layout/Layout.h"
#include "llvm/ADT/StringMap.h"

namespace tile::codegen {

class Coordinates {
public:
  Coordinates(ThreadValues &values, Threads &threads) : values_(values), threads_(threads) {}

  /// The coordinate of an element, as an i32.
  mlir::Value of(const layout::Layout &layout, int dim, int32_t reg);
  /// What lane and warp contribute to a coordinate of the elements they hold.
  mlir::Value ofThread(const layout::Layout &layout, int dim);
  /// What a register adds to it: `linear` by exclusive or with the thread's part, then `odd`.
  struct OfRegister {
    int64_t linear, odd;
  };
  static OfRegister ofRegister(const layout::Layout &layout, int dim, int32_t reg);
  /// True in the threads that hold the elements first: those whose lanes and warps only duplicate
  /// are left out. Null if none duplicates.
  mlir::Value isFirstHolder(const layout::Layout &layout);

  /// XOR over the set bits of lane and warp of the given contributions, as an i32: a linear map of
  /// the thread number.
  mlir::Value threadLinear(llvm::ArrayRef<int64_t> laneBits, llvm::ArrayRef<int64_t> warpBits);
  /// XOR over the set bits of the warp number, as an i32 that is as uniform.
  mlir::Value warpLinear(llvm::ArrayRef<int64_t> warpBits);
  /// The same map of any number's low bits.
  mlir::Value linear(mlir::Value number, llvm::ArrayRef<int64_t> bits);

private:
  ThreadValues &values_;
  Threads &threads_;
  llvm::StringMap<mlir::Value> threadLinears_; ///< what has been computed, by its bits
};

} // namespace tile::codegen
