// The second gate of every test program that launches kernels: whatever PTX was compiled while its
// tests ran must be accepted by NVIDIA's assembler for its target, some of sm_80 for sm_90a as well.
// Without ptxas the gate says that it was skipped.
#pragma once

namespace tile::test {

/// The rule for spilled registers in the kernels that the assembler sees.
enum class Spills { Allowed, Forbidden };

/// How many of the kernels the assembler sees: all where each has instructions that no other has, half of them where they are of a
/// few programs in many dtypes and sizes, always the same ones. With TILE_ASSEMBLE=all it sees all of them.
enum class Share { All, Half };

/// Switches the gate on, before main: `const bool gate = assembleEverything(Spills::Forbidden);`
bool assembleEverything(Spills spills, Share share = Share::All);

} // namespace tile::test
