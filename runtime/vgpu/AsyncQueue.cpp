// When asynchronous operations complete.
#include "runtime/vgpu/AsyncQueue.h"

#include "runtime/vgpu/Launch.h"

namespace tile::vgpu {

void AsyncQueue::issue(Cluster &cluster, std::unique_ptr<AsyncOperation> operation) {
  pending_.push_back(std::move(operation));
  if (cluster.launch->setup().schedule == Schedule::Eager)
    complete(cluster, pending_.size() - 1);
}

bool AsyncQueue::completeOne(Cluster &cluster) {
  if (pending_.empty())
    return false;
  complete(cluster, cluster.choices.below(static_cast<uint32_t>(pending_.size())));
  return true;
}

void AsyncQueue::complete(Cluster &cluster, size_t index) {
  std::unique_ptr<AsyncOperation> operation = std::move(pending_[index]);
  pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(index));
  ++*cluster.events;
  operation->complete();
}

} // namespace tile::vgpu
