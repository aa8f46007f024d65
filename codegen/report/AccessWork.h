// What one access of global memory moves each time it is carried out.
#pragma once

#include "codegen/report/MakeReport.h"
#include "codegen/report/ScalarCode.h"

#include <map>

namespace tile::codegen {

class AccessWork {
public:
  /// In a kernel whose programs have so many blocks.
  AccessWork(const ScalarAccess &access, int64_t blocks);

  bool reads() const { return reads_; }
  bool writes() const { return writes_; }
  /// Does TMA fill memory for all teams?
  bool isByTma() const { return isByTma_; }
  double elementBytes() const { return elementBytes_; }
  /// The part of the elements that a block of a cluster asks for: another one each.
  double share() const { return share_; }
  /// How often an element is asked for: by each warp that needs it, and once for all lanes that need it at the same time. Along
  /// `sameDims` (bits) all elements are one.
  double requests(uint32_t sameDims);

private:
  mlir::Operation *op_;
  double elementBytes_ = 0, share_ = 1;
  bool reads_ = false, writes_ = false, isByTma_ = false;
  std::map<uint32_t, double> requests_; ///< what was worked out
};

} // namespace tile::codegen
