#include "frontend/trace/Contexts.h"

#include "base/ForkLocks.h"
#include "ir/Context.h"

#include <mlir/IR/MLIRContext.h>

#include <mutex>
#include <vector>

namespace tile::frontend {
namespace {

constexpr int kMostKernels = 32;
constexpr size_t kMostIdle = 4; // as many threads as compile at once, as a rule

struct Idle {
  base::ForkMutex mutex;
  std::vector<KernelContext> contexts;
};

// Never destroyed: kernels of static variables give their contexts back to the very end of the process.
Idle &idle() {
  static auto &idle = *new Idle;
  return idle;
}

/// What a compile says of a context and not of a kernel is as in a new one.
void reset(mlir::MLIRContext &context) { context.printOpOnDiagnostic(true); }

} // namespace

void ContextReturn::operator()(mlir::MLIRContext *context) const {
  std::unique_ptr<mlir::MLIRContext> ended(context);
  if (kernels >= kMostKernels)
    return;
  reset(*context);
  std::lock_guard lock(idle().mutex);
  if (idle().contexts.size() < kMostIdle)
    idle().contexts.emplace_back(ended.release(), *this);
}

KernelContext takeContext() {
  KernelContext context;
  if (std::lock_guard lock(idle().mutex); !idle().contexts.empty()) {
    context = std::move(idle().contexts.back());
    idle().contexts.pop_back();
  }
  if (!context)
    context.reset(ir::makeContext().release());
  ++context.get_deleter().kernels;
  return context;
}

} // namespace tile::frontend
