// Kernels of the language in FILE.cpp or LIB.so: loading the file, choosing a kernel, binding its constants.
#pragma once

#include <tile/Registry.h>

#include <memory>
#include <string>
#include <vector>

namespace tile::tilec {

/// Whether a file of this name holds kernels in C++: FILE.cpp, .cc, .cxx or LIB.so.
bool isKernelFile(const std::string &file);

/// Whether constants that are not tuned must be given, or may stay open, to be given later.
enum class Constants { AreGiven, MayBeOpen };

/// A kernel with its constants; the arguments are still to be given.
struct BoundKernel {
  std::shared_ptr<const detail::KernelRecord> record;
  std::vector<std::string> names; ///< of all parameters
  std::vector<int64_t> constants;
  std::vector<std::string> open; ///< names of the constants that were not given, and are 0
  int warps = 4;
};

using KernelRecords = std::vector<std::shared_ptr<const detail::KernelRecord>>;

/// Loads the file, once, and returns its kernels: those in static variables, which are made while it is loaded. Errors:
/// InvalidArgument if it has none; see HostCompiler.h.
KernelRecords loadKernels(const std::string &file);

/// Takes the kernel of a file called `name`, or the only one. Constants are settings of their names, or
/// `consts=128,128,64`; `warps=8`. Errors: InvalidArgument listing the kernels or constants there are.
BoundKernel bindKernel(const KernelRecords &records, const std::string &file,
                       const std::string &name, const OpSettings &settings,
                       Constants constants = Constants::AreGiven);

/// Both.
BoundKernel loadKernel(const std::string &file, const std::string &name, const OpSettings &settings,
                       Constants constants = Constants::AreGiven);

/// The kernel with example arguments: 1024 in each dimension, unless a setting of the argument's name says
/// `A=f16[1000x777]` or `A=1000x777`. f32 where the kernel takes any dtype.
KernelRequest exampleRequest(const BoundKernel &kernel, const OpSettings &settings);

} // namespace tile::tilec
