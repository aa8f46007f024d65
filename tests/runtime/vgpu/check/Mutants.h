// Mutants of correct kernels: PTX that lacks one synchronising instruction, or has one stage, phase, count or size wrong.
#pragma once

#include "tests/runtime/vgpu/Hopper.h"

#include <functional>

namespace tile::vgpu {

using Bytes = std::vector<uint8_t>;
// Runs one entry of a module on fixed inputs and returns all buffers.
using Runner = std::function<Bytes(Gpu &)>;

// A correct kernel.
struct Subject {
  std::string name, ptx, target;
  Runner run;
};

struct Mutant {
  std::string what; // the line, and what became of it
  std::string ptx;
};

/// All mutants of the entry that the subject is named for; of the whole text if it has none of that name.
std::vector<Mutant> mutantsOf(const Subject &subject);

/// Kernels of tests/runtime/vgpu/kernels/ that synchronise.
std::vector<Subject> compiledSubjects();
/// Pipelines written by hand, for sm_90a.
std::vector<Subject> pipelineSubjects();

} // namespace tile::vgpu
