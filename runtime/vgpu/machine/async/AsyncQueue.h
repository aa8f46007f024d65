// Asynchronous operations between their issue and their completion: bulk and tensor copies,
// st.async, and the arrivals that follow cp.async.
//
// Nothing moves at issue, except under the eager schedule, which completes at once. Otherwise an
// operation completes when a wait demands it, or when every warp of the cluster waits, or, under
// the random schedule, at any time before.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tile::vgpu {

class Choices;
struct Cluster;
struct Cta;
struct Op;
struct Warp;

class AsyncOperation {
public:
  AsyncOperation(Warp &issuer, const Op &op, unsigned lane)
      : issuer(&issuer), op(&op), lane(lane) {}
  virtual ~AsyncOperation() = default;
  /// Moves the data, or what is left of them, and tells whoever waits. Called once.
  virtual void complete() = 0;
  /// True if it writes, or reads, the shared memory of `cta`.
  virtual bool writes(const Cta &) const { return false; }
  virtual bool reads(const Cta &) const { return false; }
  /// Completes a part of the operation if it has parts; true if nothing is left.
  virtual bool completePart(Choices &) {
    complete();
    return true;
  }

  Warp *issuer;
  const Op *op;
  unsigned lane;
  uint32_t groupTime =
      0; // copies that are waited for by group: their number among the warp's, from 1
};

class AsyncQueue {
public:
  void issue(Cluster &cluster, std::unique_ptr<AsyncOperation> operation);
  /// Completes one, chosen by the schedule, or under the random schedule a part of one. False if
  /// none is pending.
  bool completeOne(Cluster &cluster);
  /// Completes those for which `wanted(operation)`.
  template <class Wanted> void completeWhere(Cluster &cluster, Wanted wanted) {
    for (size_t i = 0; i < pending_.size();) {
      if (wanted(*pending_[i]))
        complete(cluster, i);
      else
        ++i;
    }
  }
  bool empty() const { return pending_.empty(); }
  const std::vector<std::unique_ptr<AsyncOperation>> &pending() const { return pending_; }
  void clear() { pending_.clear(); }

private:
  void complete(Cluster &cluster, size_t index);
  std::unique_ptr<AsyncOperation> take(size_t index);

  std::vector<std::unique_ptr<AsyncOperation>> pending_;
};

} // namespace tile::vgpu
