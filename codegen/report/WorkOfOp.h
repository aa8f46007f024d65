// What one operation of a kernel computes and moves, each time it is carried out.
#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <map>
#include <string>

namespace tile::codegen {

struct OpWork {
  std::map<std::string, double> flops; ///< by unit, see Roofline.h
  int64_t bytesRead = 0, bytesWritten = 0;
  bool isNothing() const { return flops.empty() && bytesRead == 0 && bytesWritten == 0; }
};

/// Of one team of one block; regions are left out, but for those of reductions and scans. Elements outside a tensor count as if
/// they were inside.
OpWork workOf(mlir::Operation *op);

/// Is it inline PTX or CUDA that touches no memory? It counts as one operation an element.
bool isPureForeign(mlir::Operation *op);

/// Is it a reduction or scan, whose region says how two elements become one?
bool isCombination(mlir::Operation *op);

} // namespace tile::codegen
