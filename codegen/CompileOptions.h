// What a compile is asked for.
#pragma once

#include "codegen/compiled/CompiledKernel.h"
#include "codegen/report/LaunchFacts.h"
#include "ir/target/Target.h"
#include "passes/PassSwitches.h"

#include <functional>
#include <string>

namespace tile::codegen {

/// File name of a stage in a dump: "1-tile.mlir".
const char *fileNameOf(Stage stage);

struct CompileOptions {
  std::string target = ir::kDefaultTarget; ///< a name of the target table
  bool keepStages = false;                 ///< fill CompiledKernel::stages
  /// Called with the IR of each stage that is reached, also of kernels that are refused later: tile, tilegpu and llvm.
  std::function<void(Stage, const std::string &text)> onStage = nullptr;
  bool keepReport = false;                ///< fill CompiledKernel::report
  std::optional<LaunchFacts> launch = {}; ///< which the report is about
  bool timePasses = false;                ///< fill CompiledKernel::timings
#ifdef NDEBUG
  bool verifyEach = false;   ///< verify the IR after each pass
  bool verifyGroups = false; ///< and if not, after each group of them: layouts, memory, ...
#else
  bool verifyEach = true, verifyGroups = true;
#endif
  passes::PassSelection passes = {}; ///< optional passes to leave out
  /// A file that holds, while the compile runs, what is needed to see a fault of the step at work again; it stays if
  /// that step kills the process or fails by a fault of the compiler.
  std::string reproducer;
};

} // namespace tile::codegen
