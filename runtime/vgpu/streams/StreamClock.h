// Vector clocks of streams: which work of which streams something comes after.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tile::vgpu {

/// A vector clock with an entry for each stream: the work up to it is done before what the owner
/// does next. Pieces of work are numbered from 1 in each stream.
class StreamClock {
public:
  bool knows(uint32_t stream, uint64_t piece) const { return of(stream) >= piece; }
  uint64_t of(uint32_t stream) const { return stream < pieces_.size() ? pieces_[stream] : 0; }
  void acquire(uint32_t stream, uint64_t piece) {
    if (stream >= pieces_.size())
      pieces_.resize(stream + 1);
    pieces_[stream] = std::max(pieces_[stream], piece);
  }
  void acquire(const StreamClock &other) {
    if (other.pieces_.size() > pieces_.size())
      pieces_.resize(other.pieces_.size());
    for (size_t i = 0; i < other.pieces_.size(); ++i)
      pieces_[i] = std::max(pieces_[i], other.pieces_[i]);
  }

private:
  std::vector<uint64_t> pieces_;
};

} // namespace tile::vgpu
