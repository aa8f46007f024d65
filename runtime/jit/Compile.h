// Kernel to PTX with errors as tile::Error: tracing, compilation, and what the environment asks to
// see of it.
//
//   TILE_DUMP=dir        writes the stages of each kernel to
//                        dir/<kernel>-<hash>/1-tile.mlir ... 5-kernel.ptx; with TILE_DUMP_STAGES=ptx the last alone
//   TILE_TIME_PASSES=1   prints milliseconds per pass to stderr
//   TILE_DISABLE_PASSES, TILE_BISECT, TILE_REPRODUCER   see docs/switches.md
#pragma once

#include "codegen/CompileOptions.h"
#include "frontend/trace/Binding.h"

#include <tile/Ops.h>
#include <tile/Registry.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tile::frontend {
struct TracedKernel;
} // namespace tile::frontend

namespace tile::jit {

class Call;
struct CallFacts;

/// Runs the kernel's lambda for a call, of whose tiles nothing is known yet. Throws tile::Error: the user's mistakes at
/// their line.
std::shared_ptr<frontend::TracedKernel> traceCall(const Call &call, const TargetInfo &target);

/// The trace of one specialisation. `traced`, of a call of the same signature and values, is used up; null, or a trace that
/// does not stand for these facts, means another trace.
std::shared_ptr<frontend::TracedKernel> traceFor(const Call &call, const CallFacts &facts,
                                                 std::shared_ptr<frontend::TracedKernel> traced,
                                                 const TargetInfo &target);

/// Compiles a trace, which is used up. Thread-safe. Throws tile::Error: the user's mistakes at their line, ResourceExceeded
/// where the kernel needs more than the target has, InternalCompilerError for all that is ours.
codegen::CompiledKernel compileTraced(const Call &call, frontend::TracedKernel &traced,
                                      const codegen::CompileOptions &options);

/// What TILE_DISABLE_PASSES and TILE_BISECT leave out.
const passes::PassSelection &passesOfEnvironment();

/// Compiles what a launch with the request's arguments would compile; `isDependent`, on a stream that overlaps launches.
codegen::CompiledKernel compileRequest(const KernelRequest &request,
                                       const codegen::CompileOptions &options,
                                       bool isDependent = false);

/// What code may take for granted of the arguments of later calls, by those of a request.
enum class Assumed {
  LikeExample,  ///< alignments and divisibilities are as good
  NothingSmall, ///< none, but offsets stay below 2^31 elements
  Nothing
};

/// A kernel compiled for calls to come, and what it takes for granted of them.
struct Specialisation {
  codegen::CompiledKernel compiled;
  std::vector<frontend::ArgFacts> args;
  frontend::ArgumentUses uses;
  std::vector<uint64_t> values; ///< of uses.values, in their order
};

/// Compiles a kernel ahead of calls. Values that the kernel asks for while it is traced are those of the request. The code of one
/// whose arguments are marked as one view (HostArg::sameAs) is right for those that are not, too.
Specialisation specialise(const KernelRequest &request, const codegen::CompileOptions &options,
                          Assumed assumed, bool isDependent = false);

/// Parses and compiles the text of a module in the tile dialect; `name` is what messages call it,
/// `where` the place of errors that have none. Without it somebody wrote the text: errors name its
/// own places, and are Verify where a pass refuses what no trace makes. Throws Parse for text that
/// is not a valid module, else as compileTraced. Give it no hostile text in a process that must
/// live: MLIR's parser overflows its stack on deeply nested input.
codegen::CompiledKernel compileText(std::string_view text, const std::string &name,
                                    const codegen::CompileOptions &options, Loc where = {});

/// The version of LLVM and MLIR in this library.
std::string llvmVersion();

/// The target of that name, which must be in the table. Error: InvalidArgument naming the known ones.
TargetInfo knownTarget(std::string_view target);

} // namespace tile::jit
