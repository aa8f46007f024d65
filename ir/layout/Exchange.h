// Exchanges along an axis: where the element lies whose coordinate differs in given bits.
//
// In a linear layout, flipping bits of a coordinate is flipping bits of the place that holds it,
// the same ones for every element. If only register and lane bits flip, `result[i] = source[i ^
// mask]` is a renaming of registers and one shuffle a register. If a warp bit would flip, another
// layout of the tile does it without: one in which the whole mask is the basis vector of a single
// register (or lane) bit.
//
//   8 elements, 2 registers, 2 lanes, 2 warps; mask 7:
//     register [1], lane [2], warp [4]   the partner of 0 is in register 1, lane 1, warp 1
//     register [7], lane [2], warp [1]   the partner is the other register
#pragma once

#include "ir/layout/Layout.h"

namespace tile::layout {

/// Which bits of a place flip.
struct ExchangePlan {
  int32_t registers = 0, lanes = 0;
};

/// The plan for `coordinate[axis] ^= mask`, where mask lies in the linear part of the dimension;
/// nothing if the partner may be in another warp.
std::optional<ExchangePlan> planExchange(const Layout &source, int axis, int32_t mask);

/// The layout itself if there is a plan for it, else one with two basis vectors changed for which
/// there is.
Layout exchangeable(const Layout &source, int axis, int32_t mask);

} // namespace tile::layout
