// What `tilec compile-worker` does: compiles and assembles what comes in lines, until there are no more. WorkerMessages.h has the
// lines.
#pragma once

#include <cstdint>

namespace tile::jit {

/// Returns an exit code. So many megabytes of addresses are all that this process may have from here on; without them it ends with
/// kWorkerNoMemory.
int runCompileWorker(int64_t megabytes);

} // namespace tile::jit
