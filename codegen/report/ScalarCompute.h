// What a step of ScalarCode computes, for one of those who run a program.
#pragma once

#include "codegen/report/ScalarCode.h"

#include <array>

namespace tile::codegen {

/// One of those who carry out a program: the warps of a team, or the one that fills rings for all, of a block.
struct Runner {
  std::array<Scalar, 3> program, programs; ///< its number along each axis, and how many there are
  int64_t rank = 0, team = 0;
  bool isProducer = false;
};

/// Unknown where it follows from an unknown number, or is undefined.
Scalar compute(const ScalarStep &step, llvm::ArrayRef<Scalar> values, const Runner &runner);

} // namespace tile::codegen
