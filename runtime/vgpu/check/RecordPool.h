// Records of one kind, named by number, that are given back and used again. It grows by blocks, not
// by doubling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tile::vgpu {

template <class Record> class RecordPool {
public:
  /// The number of a record that holds anything.
  uint32_t take() {
    if (!free_.empty()) {
      uint32_t index = free_.back();
      free_.pop_back();
      return index;
    }
    if (used_ == blocks_.size() * kBlock)
      blocks_.push_back(std::make_unique<Record[]>(kBlock));
    return used_++;
  }
  void giveBack(uint32_t index) { free_.push_back(index); }
  Record &operator[](uint32_t index) { return blocks_[index / kBlock][index % kBlock]; }
  /// None is in use any more; the memory is kept.
  void reset() {
    used_ = 0;
    free_.clear();
  }
  size_t heldBytes() const {
    return blocks_.size() * kBlock * sizeof(Record) + blocks_.capacity() * sizeof(blocks_[0]) +
           free_.capacity() * sizeof(uint32_t);
  }

private:
  static constexpr uint32_t kBlock = 64;
  std::vector<std::unique_ptr<Record[]>> blocks_;
  std::vector<uint32_t> free_;
  uint32_t used_ = 0;
};

} // namespace tile::vgpu
