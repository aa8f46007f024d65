// CUDA C++ functions that a kernel calls: compiled to PTX, and made part of the kernel's. One text is what every
// assembler takes, and what the virtual GPU runs.
#pragma once

#include "codegen/compiled/CompiledKernel.h"

#include <string>

namespace tile::jit {

/// The kernel's PTX with the definitions of the functions it declares. Throws at the lines of the calls: ToolMissing
/// without NVRTC, LinkError for functions that are not there or have another type, InvalidArgument for sources that do
/// not compile or name headers they may not.
std::string linkCuda(std::string ptx, const std::vector<codegen::CudaFunction> &functions,
                     const std::string &target);

/// The version of NVRTC, "13.0"; empty if it cannot be loaded, `why` gets the loader's words.
std::string nvrtcVersion(std::string *why = nullptr);

} // namespace tile::jit
