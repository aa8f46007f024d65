// Runs passes the way every compile does: timed, verified, some left out, and with the IR kept on disk for the case
// that a pass fails, where the options ask for that.
#pragma once

#include "codegen/CompileOptions.h"
#include "passes/PassSwitches.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class PassManager;
} // namespace mlir

namespace tile::codegen {

using Timings = std::vector<std::pair<std::string, double>>; ///< step, milliseconds

class PassRunner {
public:
  PassRunner(mlir::ModuleOp module, const CompileOptions &options, Timings &timings);
  ~PassRunner();
  PassRunner(const PassRunner &) = delete;
  PassRunner &operator=(const PassRunner &) = delete;

  /// Runs the passes that `build` adds.
  mlir::LogicalResult run(llvm::function_ref<void(mlir::PassManager &)> build);

  /// For steps that are no pass of MLIR: the same decisions and the same file.
  passes::PassSwitches &switches() { return passSwitches_; }
  void keepBeforePtx();

private:
  mlir::ModuleOp module_;
  const CompileOptions &options_;
  Timings &timings_;
  passes::PassSwitches passSwitches_;
};

} // namespace tile::codegen
