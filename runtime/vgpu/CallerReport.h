// Findings of an op that a program in another language has called: told at that program's line, in the words of the op.
#pragma once

#include "runtime/device/Caller.h"
#include "runtime/vgpu/check/Checks.h"
#include "runtime/vgpu/machine/Memory.h"

#include <vector>

namespace tile::vgpu {

/// The same findings for the caller. Unwritten inputs are told once each, however many stores they have reached; what has one
/// message is told once.
std::vector<Finding> forCaller(const std::vector<Finding> &findings, const device::Caller &caller,
                               const GlobalMemory &memory);

} // namespace tile::vgpu
