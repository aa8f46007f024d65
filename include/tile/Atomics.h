// Atomic operations on memory that several programs, or several elements of one tile, share.
//
// Each takes a pointer or a tile of pointers into an InOut view (`view.ptr() + offsets`), a value
// of the pointee's dtype (host numbers adapt) that broadcasts to the pointers' shape, and returns
// the old values in that shape. Where `mask` (i1) is false nothing is done and the result is
// undefined. Elements with the same address are serialised, in an unspecified order. A scalar
// pointer is one operation of the whole program.
//
// Order: a `release` comes after everything the program accessed before it, an `acquire` before
// everything it accesses after it; this is how programs pass data to each other. Counters need only
// `{.sem = MemorySem::relaxed}`, which is cheaper.
//
// Errors: a dtype the operation does not have (8-bit integers have none, 16-bit ones atomic_cas
// alone), a value of another dtype or of a shape that does not broadcast, a pointer into an In or
// Out view, an eviction priority where there is none.
#pragma once

#include <tile/Ops.h>
#include <tile/View.h>

namespace tile {

/// How an atomic operation orders the accesses around it.
enum class MemorySem : uint8_t { relaxed, acquire, release, acq_rel };
/// The scope in which it is atomic and ordered: the program; all programs of the device; the host
/// and other devices too.
enum class MemoryScope : uint8_t { cta, gpu, sys };

struct AtomicOptions {
  MemorySem sem = MemorySem::acq_rel;
  MemoryScope scope = MemoryScope::gpu;
  /// How long the L2 cache, where atomics execute, keeps the line: `Evict::last` for counters that
  /// are used again, `Evict::first` for sums that stream by. Not for atomic_cas, nor for atomic_add
  /// on bf16, which consists of it.
  Evict evict = Evict::normal;
};

/// old + value: 32- and 64-bit integers (they wrap), f16, bf16, f32, f64.
Value atomic_add(Arg pointer, Arg value, Arg mask, AtomicOptions options = {},
                 Loc loc = Loc::here());
Value atomic_add(Arg pointer, Arg value, AtomicOptions options = {}, Loc loc = Loc::here());
/// Adds a tile to one of an `InOut` view, each element atomically, relaxed, for the whole device:
/// `atomic_add(sums.tile({M, N})(i, j), x)`. Elements outside the tensor are dropped. Nothing is
/// returned, so that adjacent elements of a thread are added in one access where the GPU can (f32
/// on sm_90). The order of additions is open, and so is the rounding of float sums. Dtypes: as
/// above.
/// Errors: those of a store, a dtype without atomics, `.hints` on the access.
inline void atomic_add(detail::InOutRef &&place, Arg value) {
  std::move(place).addAtomically(value);
}
template <class T> void atomic_add(detail::StoreRef &&place, const T &value) {
  std::move(place) += value; // says why not
}
/// The smaller / larger of old and value: 32- and 64-bit integers, f32, f64. Floats are compared by
/// their bits: -0 is below +0, and a NaN is beyond the infinity of its sign.
Value atomic_min(Arg pointer, Arg value, Arg mask, AtomicOptions options = {},
                 Loc loc = Loc::here());
Value atomic_min(Arg pointer, Arg value, AtomicOptions options = {}, Loc loc = Loc::here());
Value atomic_max(Arg pointer, Arg value, Arg mask, AtomicOptions options = {},
                 Loc loc = Loc::here());
Value atomic_max(Arg pointer, Arg value, AtomicOptions options = {}, Loc loc = Loc::here());
/// old & value, old | value, old ^ value: 32- and 64-bit integers.
Value atomic_and(Arg pointer, Arg value, Arg mask, AtomicOptions options = {},
                 Loc loc = Loc::here());
Value atomic_and(Arg pointer, Arg value, AtomicOptions options = {}, Loc loc = Loc::here());
Value atomic_or(Arg pointer, Arg value, Arg mask, AtomicOptions options = {},
                Loc loc = Loc::here());
Value atomic_or(Arg pointer, Arg value, AtomicOptions options = {}, Loc loc = Loc::here());
Value atomic_xor(Arg pointer, Arg value, Arg mask, AtomicOptions options = {},
                 Loc loc = Loc::here());
Value atomic_xor(Arg pointer, Arg value, AtomicOptions options = {}, Loc loc = Loc::here());
/// value: any dtype of 32 or 64 bits.
Value atomic_xchg(Arg pointer, Arg value, Arg mask, AtomicOptions options = {},
                  Loc loc = Loc::here());
Value atomic_xchg(Arg pointer, Arg value, AtomicOptions options = {}, Loc loc = Loc::here());
/// `desired` if old has the bits of `expected`, else old: any dtype of 16, 32 or 64 bits.
Value atomic_cas(Arg pointer, Arg expected, Arg desired, Arg mask, AtomicOptions options = {},
                 Loc loc = Loc::here());
Value atomic_cas(Arg pointer, Arg expected, Arg desired, AtomicOptions options = {},
                 Loc loc = Loc::here());

} // namespace tile
