// Products by multiply-add: which elements of the result a thread computes, and what it multiplies
// for them.
#pragma once

#include "ir/layout/Fragments.h"

namespace tile::layout {

/// The accumulator, M x N or a batch of such: a thread computes runs of columns that fill a vector
/// of shared memory, in rows that repeat in registers.
Layout multiplyAddAccumulator(const Shape &shape, WarpGrid warps, int elementBytes);

/// What a thread needs of the left operand for `depth` steps of K: [batch x] M x depth.
Layout multiplyAddRows(const Layout &accumulator, int64_t depth);
/// What it needs of the right operand: [batch x] depth x N.
Layout multiplyAddColumns(const Layout &accumulator, int64_t depth);

/// Steps of K that are read at once: as many elements as a vector has, if they divide K.
int64_t multiplyAddDepth(int64_t k, int elementBytes);

} // namespace tile::layout
