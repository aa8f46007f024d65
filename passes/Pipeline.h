// The order of passes from the traced kernel to tiles laid out over threads.
#pragma once

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tile::passes {

struct PipelineOptions {
  std::string target = "sm_80"; ///< a name the target table knows
};

/// Appends all passes that lead from dialect `tile` to dialect `tilegpu`, ready for code generation.
void buildPipeline(mlir::OpPassManager &manager, const PipelineOptions &options);

/// Registers the pipeline as `--tile-pipeline` for tile-opt.
void registerPipeline();

} // namespace tile::passes
