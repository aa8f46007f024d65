// Random numbers without state: each is a function of a seed and an offset, so that any program can
// make its own part of a stream, and the backward pass of a kernel the same part again.
//
// The generator is Philox-4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as
// 1, 2, 3", 2011), bit for bit. Its key is the seed's low and high word; its counter is (the
// offset's low word, its high word or 0, 0, 0). Offsets that differ give independent numbers:
// `rand(seed, pid * B + arange(B))`.
//
// `seed` is a host integer or an integer scalar (narrower ones are extended to 64 bits), `offsets`
// an integer or a tile of integers of 32 or 64 bits. Errors: floats, offsets of 8 or 16 bits.
#pragma once

#include <tile/Ops.h>

#include <array>

namespace tile {

/// Four independent u32 at each offset.
std::array<Value, 4> randint4x(Arg seed, Arg offsets, Loc loc = Loc::here());
/// A uniform u32 at each offset: the first word of `randint4x`.
Value randint(Arg seed, Arg offsets, Loc loc = Loc::here());
/// A uniform f32 in [0, 1) at each offset: 2^-31 times the word without its sign, rounded.
Value rand(Arg seed, Arg offsets, Loc loc = Loc::here());
/// A normally distributed f32 (mean 0, variance 1) at each offset, by the Box-Muller transform of
/// the first two words.
Value randn(Arg seed, Arg offsets, Loc loc = Loc::here());

} // namespace tile
