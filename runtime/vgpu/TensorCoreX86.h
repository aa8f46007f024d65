// The kernels of tensor cores for x86-64, by instruction set. Which of them the processor can run is asked in TensorCore.cpp.
#pragma once

#include "runtime/vgpu/TensorCore.h"

namespace tile::vgpu {

extern const TensorKernels kAvx2Kernels;
/// Its multiplication; the rest is AVX2's.
void multiplyAvx512(const ProductShape &shape, const float *a, const float *b, ConstRegisters c,
                    Registers d);

} // namespace tile::vgpu
