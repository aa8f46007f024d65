// What a compile makes: PTX and what a launch must know. Programs that launch what others have compiled link this folder
// without the compiler.
#pragma once

#include "codegen/compiled/GridExpression.h"

#include <tile/Error.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tile::codegen {

/// The stages of a compile, in order; each has a text.
enum class Stage { Tile, TileGpu, Llvm, LlvmIr, Ptx };

/// One parameter of the kernel, in order.
struct Parameter {
  enum class Kind { Pointer, Extent, Stride, Scalar, Workspace, Counters };
  Kind kind = Kind::Scalar;
  int32_t arg = 0; ///< the argument of the source kernel it belongs to; -1: a pointer to Workspace
  int32_t dim = 0; ///< for extents and strides
  int32_t bytes = 0;

  /// Does the launch itself bring it along?
  bool isOfLaunch() const { return kind == Kind::Workspace || kind == Kind::Counters; }
};

/// A parameter behind the others: a tensor map, through which the copy engine reads an argument.
struct TensorMapRecipe {
  /// By size; `Rounded` is f32 that becomes tf32 as it is copied.
  enum class Element : uint8_t { Byte, Half, Word, Double, Rounded };
  int32_t arg = 0; ///< the argument of the source kernel
  Element element = Element::Byte;
  std::vector<int32_t> dims; ///< of the argument, from the fastest varying
  std::vector<int32_t> box;  ///< elements that a copy moves, in the same order
  int32_t swizzle = 0;       ///< bytes: 0, 32, 64 or 128
};

/// Memory that a launch gives its programs to hand each other what they have, behind two pointers.
struct Workspace {
  int64_t bytes = 0;    ///< a program's; undefined before the launch
  int32_t counters = 0; ///< a program's, of 32 bits, which are 0 before and after each launch
  int32_t programs = 1; ///< the launch has a multiple of so many
};

struct KernelReport; // codegen/report/KernelReport.h

/// What a diagnostic said, for whoever turns it into an error.
struct Diagnostic {
  enum class Severity { Error, Warning, Remark, Note };
  Severity severity = Severity::Error;
  std::string message, file;
  int line = 0;
  std::optional<ErrorCode> userError; ///< of errors: set where the author of the kernel can mend it
};

/// CUDA C++ that the PTX calls, to be compiled and linked into it.
struct CudaFunction {
  std::string symbol; ///< what the PTX calls
  std::string source, entry;
  std::vector<std::string> dtypes; ///< of the result, then of the parameters: "f32", "u8"
  std::string file;                ///< where the kernel names it
  int line = 0;
};

struct CompiledKernel {
  std::string name; ///< of the entry point
  std::string ptx;
  std::string target;
  std::vector<CudaFunction> cudaFunctions; ///< declared in `ptx`, and still missing there
  std::vector<Parameter> parameters;
  std::vector<TensorMapRecipe> tensorMaps; ///< one parameter each, behind those
  GridExpression grid;
  bool persistent = false; ///< the grid is cut to the programs that run at once
  int32_t threads = 0;     ///< of a block
  int32_t cluster = 1;     ///< blocks that carry out a program, a cluster where the target has them
  int64_t sharedBytes = 0; ///< dynamic shared memory of a block
  Workspace workspace;
  bool waits = false; ///< itself, for the launches before it: it may be a dependent launch
  std::vector<Diagnostic> remarks;
  std::vector<std::pair<Stage, std::string>> stages;
  std::vector<std::pair<std::string, double>> timings; ///< pass or step, milliseconds
  std::shared_ptr<const KernelReport> report;          ///< what was decided and what it costs
};

} // namespace tile::codegen
