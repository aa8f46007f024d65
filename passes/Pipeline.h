// The order of passes from the traced kernel to tiles laid out over threads.
#pragma once

#include "ir/target/Target.h"

#include <cstdint>
#include <limits>
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tile::passes {

/// The most iterations of a loop, this one included, that its loads may be in flight for.
inline constexpr int32_t kMostStages = 64;

/// No bound of its own on the shared memory of a change of layout.
inline constexpr int64_t kMostExchangeBytes = std::numeric_limits<int64_t>::max();

struct PipelineOptions {
  std::string target = ir::kDefaultTarget; ///< a name the target table knows
  int32_t mostStages = kMostStages;        ///< no loop's loads run further ahead
  /// A change of layout that needs more shared memory is made in parts.
  int64_t mostExchangeBytes = kMostExchangeBytes;
};

/// The first half: from dialect `tile` to tiles with layouts, and rings of one stage.
void buildLayoutPipeline(mlir::OpPassManager &manager, const PipelineOptions &options);

/// The second half: rings become shared memory. Fails with ResourceExceeded if the block's does not
/// suffice; with fewer stages it may.
void buildMemoryPipeline(mlir::OpPassManager &manager, const PipelineOptions &options);

/// What is refused of a kernel that the second half has finished: ResourceExceeded, where registers
/// do not suffice by far.
void buildChecks(mlir::OpPassManager &manager, const PipelineOptions &options);

/// Appends all passes that lead from dialect `tile` to dialect `tilegpu`, ready for code
/// generation.
void buildPipeline(mlir::OpPassManager &manager, const PipelineOptions &options);

/// Registers the pipeline as `--tile-pipeline` for tile-opt.
void registerPipeline();

} // namespace tile::passes
