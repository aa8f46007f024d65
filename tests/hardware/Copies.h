// What kernels of asynchronous copies have in common: blocks of 128 threads with some KiB of shared memory at
// %tile, whose bytes are 0xcd at first, and an mbarrier at %full.
#pragma once

#include "tests/hardware/Probe.h"

#include <string>
#include <string_view>

namespace tile::hardware {

/// Declarations and the fill. Thread, block and whether it is thread 0: %t, %w, %one; free: the predicates %p
/// and %q, words %c0 to %c4 and %u0 to %u3, %x and %y of 64 bits.
std::string beginCopies(size_t tileBytes);
/// %done becomes whether the first phase of %full ends before so many tries.
std::string waitForPhase(std::string_view label, size_t tries);
/// Thread 0 stores %done to word `word` of the block's `words` in output `parameter`.
std::string storeDone(size_t parameter, size_t words = 1, size_t word = 0);
/// All of the tile to the block's part of output `parameter`.
std::string dumpTile(size_t tileBytes, size_t parameter);
/// Words of the block's part of input `parameter` into the tile.
std::string loadTile(size_t tileBytes, size_t parameter);
/// Thread 0 prepares %full for one arrival and these bytes.
std::string expectBytes(size_t bytes);

/// Numbers for the elements of a tensor map's type: f32, s64, tf32.ftz, ...
Buffer drawElements(std::string_view type, uint64_t seed, size_t count);

/// A tensor in an input, and the box that is copied. Extents and strides (in bytes) are given slowest dimension
/// first.
struct BoxedTensor {
  std::string type;
  std::vector<uint64_t> shape;
  std::vector<uint32_t> box;
  unsigned swizzle = 0; // bytes of the span
  bool fillNaN = false;
  uint64_t padding = 0;               // elements after each row
  std::vector<uint64_t> strides = {}; // where they do not follow from shape and padding

  size_t elementBytes() const;
  size_t elements() const; // with padding
  size_t boxBytes() const;
  device::TensorMapParams params() const;
};

/// Coordinates of boxes, slowest dimension first; block i copies box i.
using Places = std::vector<std::vector<int32_t>>;
/// The input from which loadCoordinates takes them.
Buffer packPlaces(const Places &places);
/// %c0, %c1, ... become the coordinates of the block.
std::string loadCoordinates(size_t rank, size_t parameter);
/// %map becomes the address of the tensor map.
std::string takeMap();
/// "{%c0, %c1}".
std::string coordinates(size_t rank);

} // namespace tile::hardware
