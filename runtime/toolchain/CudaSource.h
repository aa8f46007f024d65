// The text that NVRTC compiles for a function of CUDA C++: the user's source, and behind it the function that the kernel's
// PTX calls, which takes words and calls the user's.
#pragma once

#include "codegen/compiled/CompiledKernel.h"

#include <tile/Error.h>

#include <string>

namespace tile::jit {

/// Lines of the user's source are numbered from 1 in a file "source", lines of ours are in a file "call".
std::string programOf(const codegen::CudaFunction &function);

/// "float (*)(int, __half)": the type that the user's function must have.
std::string cppTypeOf(const codegen::CudaFunction &function);

/// Throws InvalidArgument where the source includes what it may not: headers come from CUDA alone. NVRTC would open any
/// path, and quote the file in its messages.
void checkIncludes(const codegen::CudaFunction &function);

/// Throws at the line of the call.
[[noreturn]] void failCuda(const codegen::CudaFunction &function, ErrorCode code,
                           const std::string &what, std::vector<std::string> notes = {});

} // namespace tile::jit
