// setmaxnreg: the registers that warps of a block hand to each other.
#pragma once

#include <cstdint>
#include <string>

namespace tile::vgpu {

struct Warp;
struct Op;

/// Registers are given and taken in multiples of this.
constexpr uint32_t kRegisterStep = 8;

struct RegisterChange {
  bool isIncrease = false; ///< .inc, else .dec
};
/// Op::imm: the registers a thread is to have.
void setRegisters(Warp &warp, const Op &op);
/// At the exit of a warp: the warps of its warpgroup that have exited must have executed setmaxnreg
/// as often.
void checkRegisterChanges(Warp &warp);
/// The words of what a warp at `op` waits for, if that is setmaxnreg.inc; else none.
std::string registerWaitText(const Warp &warp, const Op &op);

} // namespace tile::vgpu
