// The bytes of global memory that a piece of work, such as a launch or a copy, touches: races
// between streams are found by them.
#pragma once

#include "runtime/vgpu/check/ByteRanges.h"

#include <optional>

namespace tile::vgpu {

/// A way to touch bytes. Strong accesses (atomics, and those that are volatile, relaxed, acquire or
/// release) have no race with each other.
enum class TouchKind : uint8_t { Read, Write, StrongRead, StrongWrite };
constexpr TouchKind kTouchKinds[] = {TouchKind::Read, TouchKind::Write, TouchKind::StrongRead,
                                     TouchKind::StrongWrite};
constexpr bool isWrite(TouchKind kind) {
  return kind == TouchKind::Write || kind == TouchKind::StrongWrite;
}
constexpr bool isStrong(TouchKind kind) { return kind >= TouchKind::StrongRead; }

struct TouchedBytes {
  ByteRanges of[4];
  ByteRanges &operator[](TouchKind kind) { return of[static_cast<size_t>(kind)]; }
  const ByteRanges &operator[](TouchKind kind) const { return of[static_cast<size_t>(kind)]; }
  bool empty() const { return of[0].empty() && of[1].empty() && of[2].empty() && of[3].empty(); }
  bool operator==(const TouchedBytes &) const = default;
};

/// Bytes of which at least one side writes, not both by strong accesses.
struct Conflict {
  ByteRange bytes;
  TouchKind first, second;
};
std::optional<Conflict> firstConflict(const TouchedBytes &first, const TouchedBytes &second);

/// Takes out of `earlier` whatever conflicts with the later work as well wherever it conflicts with
/// anything: bytes that that one writes weakly too, reads that it repeats. Both are of one stream.
void supersede(TouchedBytes &earlier, const TouchedBytes &later);

} // namespace tile::vgpu
