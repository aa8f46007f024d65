#include "base/Fork.h"

#include <atomic>
#include <pthread.h>

namespace tile::base {

// Without a destructor, so that it can be read to the very end.
static std::atomic<uint64_t> forks = 0;

[[maybe_unused]] static const int registered =
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

uint64_t forkCount() { return forks.load(std::memory_order_relaxed); }

} // namespace tile::base
