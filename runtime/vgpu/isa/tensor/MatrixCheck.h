// The checks of a matrix in shared memory that wgmma reads.
#pragma once

#include "runtime/vgpu/isa/tensor/SharedMatrix.h"
#include "runtime/vgpu/machine/Warp.h"

#include <vector>

namespace tile::vgpu {

/// Bounds, races and initialisation, as of the issue: a read by `actor` at its `time`. Returns a mask of the rows along mn
/// that are not initialised in full; empty if all are.
std::vector<bool> checkMatrix(Warp &warp, const Op &op, const SharedMatrix &matrix,
                              const MatrixExtent &extent, unsigned actor, uint32_t time);

} // namespace tile::vgpu
