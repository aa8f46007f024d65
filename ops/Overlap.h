// Whether tensors share memory.
#pragma once

#include <tile/ops/Operand.h>

namespace tile::ops {

/// The bytes from the first to past the last element, in either direction of each stride.
struct Bytes {
  intptr_t first = 0, last = 0;
};
Bytes bytesOf(const Operand &operand);
inline bool meet(const Bytes &a, const Bytes &b) { return a.first < b.last && b.first < a.last; }

/// False if no byte belongs to both, however they lie between one another. It may be true of tensors that share none where
/// neither a period of their strides nor some thousand comparisons of their parts tell: then they count as one.
bool overlap(const Operand &first, const Operand &second);

} // namespace tile::ops
