// A table of live objects behind generation-checked handles.
//
// A slot's generation grows when its object is destroyed, so an old handle no longer matches: using it is reported as
// InvalidHandle instead of touching the successor.
#pragma once

#include "runtime/device/Device.h"

#include <deque>
#include <mutex>

namespace tile::device {

template <class Tag, class T> class HandleTable {
public:
  /// `noun` is how messages call the object: "stream", "event", ...
  explicit HandleTable(const char *noun) : noun_(noun) {}

  Handle<Tag> insert(std::shared_ptr<T> object) {
    std::lock_guard lock(mutex_);
    uint32_t index = static_cast<uint32_t>(slots_.size());
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else {
      slots_.emplace_back();
    }
    slots_[index].object = std::move(object);
    return {index, slots_[index].generation};
  }

  /// The object, or InvalidHandle. Shared ownership keeps it alive if another thread destroys the handle meanwhile.
  std::shared_ptr<T> get(Handle<Tag> handle) const {
    std::lock_guard lock(mutex_);
    return find(handle);
  }

  /// What `read` says of the object, which lives that long: cheaper than a share of it. Or InvalidHandle.
  template <class Read> auto read(Handle<Tag> handle, const Read &read) const {
    std::lock_guard lock(mutex_);
    return read(*find(handle));
  }

  /// Removes and returns the object; InvalidHandle if it is gone already.
  std::shared_ptr<T> remove(Handle<Tag> handle) {
    std::lock_guard lock(mutex_);
    std::shared_ptr<T> object = find(handle);
    Slot &slot = slots_[handle.index];
    slot.object.reset();
    ++slot.generation;
    free_.push_back(handle.index);
    return object;
  }

  /// All live objects.
  std::vector<std::shared_ptr<T>> all() const {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> objects;
    for (const Slot &slot : slots_)
      if (slot.object)
        objects.push_back(slot.object);
    return objects;
  }

private:
  struct Slot {
    std::shared_ptr<T> object;
    uint32_t generation = 1;
  };

  const std::shared_ptr<T> &find(Handle<Tag> handle) const {
    if (handle.generation == 0)
      throw Error(Fault::User, ErrorCode::InvalidHandle,
                  std::string("null ") + noun_ + " handle: create the " + noun_ + " first");
    const Slot *slot = handle.index < slots_.size() ? &slots_[handle.index] : nullptr;
    if (!slot || slot->generation != handle.generation || !slot->object)
      throw Error(Fault::User, ErrorCode::InvalidHandle,
                  std::string(noun_) +
                      " handle is no longer valid: it was destroyed or belongs to another device");
    return slot->object;
  }

  const char *noun_;
  mutable std::mutex mutex_;
  std::deque<Slot> slots_;
  std::vector<uint32_t> free_;
};

} // namespace tile::device
