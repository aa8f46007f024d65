// From element offsets in shared memory to pointers, and the vectors moved through them.
#pragma once

#include "codegen/lower/Lowering.h"

namespace tile::codegen {

/// What a thread adds to the offsets of its registers: one part is XOR-ed, the other added.
struct ThreadPart {
  mlir::Value toggle, addend; ///< element offsets; null where no thread bit contributes
  int64_t toggleBits = 0;     ///< bits that `toggle` may have
};

/// The part that follows from the thread number, given what each of its bits contributes.
ThreadPart threadPart(Lowering &l, const std::vector<layout::SharedAddress::Term> &lanes,
                      const std::vector<layout::SharedAddress::Term> &warps);

/// A pointer and what an instruction adds to it, in bytes.
struct SharedVector {
  mlir::Value pointer;
  int64_t offset;
};

/// Turns element offsets into pointers. The thread's part is one value; a register's is a constant, XOR-ed in where the
/// swizzle makes them overlap, else part of the address.
class SharedPointers {
public:
  /// With `block` the same places in the memory of the cluster's block of that rank.
  SharedPointers(Lowering &l, mlir::Location loc, mlir::Value smem, int64_t bytes, ThreadPart part,
                 mlir::Value block = {})
      : l_(l), loc_(loc), base_(l.shared.placeOf(smem)), bytes_(bytes), part_(part), block_(block) {
  }

  SharedVector vector(const layout::SharedAddress::Term &term);
  mlir::Value pointer(const layout::SharedAddress::Term &term);

private:
  Lowering &l_;
  mlir::Location loc_;
  SharedSpace::Place base_;
  int64_t bytes_;
  ThreadPart part_;
  mlir::Value block_; ///< null: this one
  std::map<int64_t, mlir::Value> byToggle_;
};

void storeVector(Lowering &l, mlir::Location loc, mlir::Value pointer, mlir::ValueRange elements);
Registers loadVector(Lowering &l, mlir::Location loc, mlir::Value pointer, mlir::Type element,
                     size_t count);

} // namespace tile::codegen
