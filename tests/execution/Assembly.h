// The second gate of every test program that launches kernels: whatever PTX was compiled while its
// tests ran must be accepted by NVIDIA's assembler for its target, some of sm_80 for sm_90a as well.
// Without ptxas the gate says that it was skipped.
#pragma once

namespace tile::test {

/// The rule for spilled registers in the kernels that the assembler sees.
enum class Spills { Allowed, Forbidden };

/// Switches the gate on, before main: `const bool gate = assembleEverything(Spills::Forbidden);`
bool assembleEverything(Spills spills);

} // namespace tile::test
