// Kernel to PTX with errors as tile::Error: tracing, compilation, and what the environment asks to
// see of it.
//
//   TILE_DUMP=dir        writes the stages of each kernel to
//                        dir/<kernel>-<hash>/1-tile.mlir ... 5-kernel.ptx
//   TILE_TIME_PASSES=1   prints milliseconds per pass to stderr
//   TILE_DISABLE_PASSES, TILE_BISECT, TILE_REPRODUCER   see docs/switches.md
#pragma once

#include "codegen/CompiledKernel.h"
#include "frontend/trace/Binding.h"

#include <tile/Registry.h>

#include <string>
#include <string_view>

namespace tile::jit {

/// Traces and compiles one specialisation. Thread-safe. Throws tile::Error: the user's mistakes at
/// their line, ResourceExceeded where the kernel needs more than the target has,
/// InternalCompilerError for all that is ours.
codegen::CompiledKernel compileKernel(const detail::KernelRecord &record,
                                      const frontend::Binding &binding,
                                      const codegen::CompileOptions &options);

/// Compiles what a launch with the request's arguments would compile.
codegen::CompiledKernel compileRequest(const KernelRequest &request,
                                       const codegen::CompileOptions &options);

/// Parses and compiles the text of a module in the tile dialect; `name` is what messages call it.
/// Throws Parse for text that is not a valid module, else as compileKernel. Give it no hostile text
/// in a process that must live: MLIR's parser overflows its stack on deeply nested input.
codegen::CompiledKernel compileText(std::string_view text, const std::string &name,
                                    const codegen::CompileOptions &options);

/// What a kernel does with its arguments, from a trace of its own.
frontend::ArgumentUses usesOf(const detail::KernelRecord &record, const frontend::Binding &binding);

/// The version of LLVM and MLIR in this library.
std::string llvmVersion();

/// What a kernel may ask of a target: limits for `tile::target()`. Error: InvalidArgument naming
/// the known targets.
TargetInfo targetInfo(std::string_view target);

} // namespace tile::jit
