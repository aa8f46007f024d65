// Where kernels are compiled: in the process that launches them, or in worker processes, so that
// nothing a compile does wrong ends the program.
//
//   setCompileMode(CompileMode::Isolated);   // or TILE_COMPILE=isolated in the environment
//
// Kernels are the same, and so are the errors of kernels, with their lines. A compile that crashes
// is an InternalCompilerError with the path of a reproducer, one that takes longer than
// TILE_COMPILE_SECONDS (60) a Timeout, one that wants more than TILE_COMPILE_MB (16384) of memory
// OutOfMemory; the next compile has another worker. Other errors: ToolMissing where the program
// `tilec`, which is the worker, cannot be found; TILE_COMPILE_WORKER names it.
// docs/robustness.md has the rest.
#pragma once

namespace tile {

enum class CompileMode { InProcess, Isolated };

/// Where kernels are compiled from here on, by all threads, whatever TILE_COMPILE says.
void setCompileMode(CompileMode mode);
/// What was set last, else what TILE_COMPILE says: in the process unless it is `isolated`.
CompileMode compileMode();

} // namespace tile
