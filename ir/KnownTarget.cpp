#include "ir/KnownTarget.h"

#include "ir/UserError.h"

namespace tile::ir {

mlir::FailureOr<Target> knownTarget(mlir::Operation *at, llvm::StringRef name) {
  if (std::optional<Target> found = findTarget(name))
    return *found;
  return userError(at->emitError("unknown target '"), ErrorCode::InvalidArgument)
         << name << "'; known: " << knownTargets();
}

} // namespace tile::ir
