// Which thread executes: its numbers in the warp, the team, the block and the cluster.
//
// Guarantees: numbers are computed once, at the top of the kernel, so that all loops and branches
// share them; those called uniform are in registers of the warp.
#pragma once

#include "codegen/thread/ThreadValues.h"

namespace tile::codegen {

class Threads {
public:
  /// Computes the numbers that every kernel needs, at the insertion point of `values`.
  explicit Threads(ThreadValues &values);

  /// The number within the team.
  mlir::Value id() const { return id_; }
  mlir::Value lane() const { return lane_; }
  /// The warp's number within the block.
  mlir::Value warp() const { return warp_; }
  /// The warp number, known to be the same in all threads of a warp.
  mlir::Value uniformWarp();
  /// How many teams execute the program, and the number of the thread's.
  int64_t teams() const;
  mlir::Value team();
  /// How many blocks of a cluster execute the program, and the number of this one.
  int64_t cluster() const;
  mlir::Value clusterRank();

  /// Makes `b` insert after the numbers of thread, lane and warp: at the top of the kernel.
  void setInsertionPointToTop(mlir::OpBuilder &b) const;

private:
  ThreadValues &values_;
  mlir::Value id_, lane_, warp_, uniformWarp_, team_;
};

} // namespace tile::codegen
