// An array whose size is known when it is made: on the stack, as most are small, else on the heap. For what every launch
// does, where an allocation would count.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace tile::base {

/// Elements have no value until they are assigned.
template <class T, size_t kUsual> class StackArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
  explicit StackArray(size_t size) : size_(size) {
    if (size > kUsual)
      heap_.reset(new std::byte[size * sizeof(T)]), data_ = reinterpret_cast<T *>(heap_.get());
  }
  StackArray(const StackArray &) = delete;
  StackArray &operator=(const StackArray &) = delete;

  T *data() { return data_; }
  size_t size() const { return size_; }
  T &operator[](size_t i) { return data_[i]; }
  operator std::span<const T>() const { return {data_, size_}; }

private:
  alignas(T) std::byte usual_[kUsual * sizeof(T)];
  std::unique_ptr<std::byte[]> heap_;
  T *data_ = reinterpret_cast<T *>(usual_);
  size_t size_;
};

} // namespace tile::base
