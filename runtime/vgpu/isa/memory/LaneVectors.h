// The lanes of a load or store at once: what they hold as vectors in memory order, moved and compared as a whole.
#pragma once

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/access/Access.h"

namespace tile::vgpu {

/// Whether `place = address + shift` is in [0, last] and a multiple of `bytes`, a power of two, for the addresses in the
/// first `lanes` of `registers`; `lanes` is a multiple of 8. False also where only wrapping brings a place there.
template <class Lane>
bool arePlacesInside(const Lane *registers, unsigned lanes, Lane shift, Lane last, uint32_t bytes) {
  // Written as vectors: registers may be anything else to the compiler.
  using Vector __attribute__((vector_size(32))) = Lane;
  constexpr unsigned kWidth = sizeof(Vector) / sizeof(Lane);
  Vector faults = {}, low = {};
  for (unsigned lane = 0; lane < lanes; lane += kWidth) {
    Vector address;
    std::memcpy(&address, registers + lane, sizeof address);
    Vector place = address + shift;
    faults |= address | place | (last - place); // negative: outside
    low |= place;
  }
  Lane fault = 0, misaligned = 0;
  for (unsigned i = 0; i < kWidth; ++i) {
    fault |= faults[i];
    misaligned |= low[i];
  }
  return static_cast<std::make_signed_t<Lane>>(fault) >= 0 && (misaligned & (bytes - 1)) == 0;
}

// Whether all lanes take part and their bytes adjoin: in memory, since threads have the same addresses of local memory.
inline bool isConsecutive(const Access &access) {
  if (access.mask != kFullMask)
    return false;
  auto first = reinterpret_cast<uintptr_t>(access.host[0]);
  uintptr_t differs = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    differs |= reinterpret_cast<uintptr_t>(access.host[lane]) ^ (first + lane * access.bytes);
  return differs == 0;
}

// Vectors of all lanes: copied whole, then taken apart in one loop. Not for types that change their width.
template <class T, unsigned Elements> void loadVectors(Warp &warp, const Op &op, Access &access) {
  T vectors[kLanes][Elements];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    std::memcpy(vectors[lane], access.host[lane], sizeof vectors[lane]);
  T *targets[Elements];
  for (unsigned element = 0; element < Elements; ++element)
    targets[element] = warp.row<T>(op.rows[element]);
  TILE_LANE_LOOP
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned element = 0; element < Elements; ++element)
      targets[element][lane] = vectors[lane][element];
}

// Gathers the values that the lanes store, vector by vector.
template <class T, unsigned Elements>
void packVectors(Warp &warp, const Op &op, T (&vectors)[kLanes][Elements]) {
  const T *sources[Elements];
  for (unsigned element = 0; element < Elements; ++element)
    sources[element] = warp.row<T>(op.rows[element]);
  TILE_LANE_LOOP
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned element = 0; element < Elements; ++element)
      vectors[lane][element] = sources[element][lane];
}

template <class T, unsigned Elements>
void storeVectors(Warp &warp, const Op &op, const Access &access) {
  T vectors[kLanes][Elements];
  packVectors(warp, op, vectors);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    std::memcpy(access.host[lane], vectors[lane], sizeof vectors[lane]);
}

template <class T, unsigned Elements>
uint32_t unchangedVectors(Warp &warp, const Op &op, const Access &access) {
  T vectors[kLanes][Elements];
  packVectors(warp, op, vectors);
  uint32_t same = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    same |= uint32_t{std::memcmp(access.host[lane], vectors[lane], sizeof vectors[lane]) == 0}
            << lane;
  return same;
}

// True if it was a case for one of the fast ways.
template <class T> bool loadAllLanes(Warp &warp, const Op &op, Access &access) {
  if constexpr (sizeof(T) >= 4) {
    if (access.mask != kFullMask)
      return false;
    if (op.targets == 1 && isConsecutive(access))
      std::memcpy(warp.row<T>(op.rows[0]), access.host[0], kLanes * sizeof(T));
    else if (op.targets == 2)
      loadVectors<T, 2>(warp, op, access);
    else if (op.targets == 4)
      loadVectors<T, 4>(warp, op, access);
    else
      return false;
    return true;
  }
  return false;
}
template <class T> bool storeAllLanes(Warp &warp, const Op &op, const Access &access) {
  if constexpr (sizeof(T) >= 4) {
    unsigned elements = op.sources - 1u;
    if (access.mask != kFullMask)
      return false;
    if (elements == 1 && isConsecutive(access))
      std::memcpy(access.host[0], warp.row<T>(op.rows[0]), kLanes * sizeof(T));
    else if (elements == 2)
      storeVectors<T, 2>(warp, op, access);
    else if (elements == 4)
      storeVectors<T, 4>(warp, op, access);
    else
      return false;
    return true;
  }
  return false;
}

// The lanes of a store that change nothing.
template <class T> uint32_t unchangedLanes(Warp &warp, const Op &op, const Access &access) {
  unsigned elements = op.sources - 1u;
  if constexpr (sizeof(T) >= 4)
    if (access.mask == kFullMask) {
      if (elements == 1)
        return unchangedVectors<T, 1>(warp, op, access);
      if (elements == 2)
        return unchangedVectors<T, 2>(warp, op, access);
      if (elements == 4)
        return unchangedVectors<T, 4>(warp, op, access);
    }
  uint32_t same = access.mask;
  for (unsigned element = 0; element < elements; ++element) {
    const LaneOf<T> *source = warp.row<LaneOf<T>>(op.rows[element]);
    forLanes(access.mask, [&](unsigned lane) {
      T value = static_cast<T>(source[lane]);
      if (std::memcmp(access.host[lane] + element * sizeof(T), &value, sizeof(T)) != 0)
        same &= ~(1u << lane);
    });
  }
  return same;
}

} // namespace tile::vgpu
