// The bytes of a page of global memory that a launch has touched, by what it did.
#pragma once

#include "runtime/vgpu/check/TouchedBytes.h"

#include <array>
#include <memory>

namespace tile::vgpu {

/// Few pages see strong accesses, so these have their
/// bits apart.
class TouchedPage {
public:
  PageBits &of(TouchKind kind) {
    if (!isStrong(kind))
      return weak_[static_cast<size_t>(kind)];
    if (!strong_)
      strong_ = std::make_unique<Pair>();
    return (*strong_)[isWrite(kind)];
  }
  void appendTo(TouchedBytes &all, uint64_t page) const {
    appendBits(all[TouchKind::Read], page, weak_[0]);
    appendBits(all[TouchKind::Write], page, weak_[1]);
    if (!strong_)
      return;
    appendBits(all[TouchKind::StrongRead], page, (*strong_)[0]);
    appendBits(all[TouchKind::StrongWrite], page, (*strong_)[1]);
  }

private:
  using Pair = std::array<PageBits, 2>; // of reads and writes
  Pair weak_{};
  std::unique_ptr<Pair> strong_;
};

} // namespace tile::vgpu
