// Completes asynchronous operations, when the schedule says so.
#include "runtime/vgpu/machine/async/AsyncQueue.h"

#include "runtime/vgpu/machine/Launch.h"

namespace tile::vgpu {

void AsyncQueue::issue(Cluster &cluster, std::unique_ptr<AsyncOperation> operation) {
  pending_.push_back(std::move(operation));
  if (cluster.launch->setup().schedule == Schedule::Eager)
    complete(cluster, pending_.size() - 1);
}

bool AsyncQueue::completeOne(Cluster &cluster) {
  if (pending_.empty())
    return false;
  size_t index = cluster.choices.below(static_cast<uint32_t>(pending_.size()));
  if (cluster.launch->setup().schedule != Schedule::Random) {
    complete(cluster, index);
    return true;
  }
  ++*cluster.events, ++*cluster.effects;
  std::unique_ptr<AsyncOperation> operation = take(index);
  if (!operation->completePart(cluster.choices))
    pending_.push_back(std::move(operation));
  return true;
}

std::unique_ptr<AsyncOperation> AsyncQueue::take(size_t index) {
  std::unique_ptr<AsyncOperation> operation = std::move(pending_[index]);
  pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(index));
  return operation;
}

void AsyncQueue::complete(Cluster &cluster, size_t index) {
  std::unique_ptr<AsyncOperation> operation = take(index);
  ++*cluster.events, ++*cluster.effects;
  operation->complete();
}

} // namespace tile::vgpu
