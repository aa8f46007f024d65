// The kernels of tensor cores for x86-64, by instruction set. Which of them the processor can run is asked in TensorCore.cpp.
#pragma once

#include "runtime/vgpu/isa/tensor/TensorCore.h"

namespace tile::vgpu {

extern const TensorKernels kAvx2Kernels;
extern const TensorKernels kAvx512Kernels;

} // namespace tile::vgpu
