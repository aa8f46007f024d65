// Checkpointing: less memory for more work. What is inside a segment is not kept but computed again
// when gradients need it.
//
// T. Chen, B. Xu, C. Zhang, C. Guestrin: Training Deep Nets with Sublinear Memory Cost, 2016.
#pragma once

#include <tile/autograd/Variable.h>

namespace tile::autograd {

/// f of the inputs, of which only the inputs are kept: backward() runs f again to take its
/// gradients. f may use trained variables that are not among the inputs; they get their gradients
/// too. It must do the same both times; random numbers that functions of variables draw are the
/// same again by themselves, if their generator still lives.
///
/// Errors: those of f; InvalidHandle without inputs, or if one of them or what f returned is no
/// variable; InvalidArgument for an empty f. When backward() runs: Aliasing if an input was changed
/// in place since, InvalidShape if f returned another shape the second time.
using Segment = std::function<Variable(std::span<const Variable>)>;
Variable checkpoint(Segment f, std::vector<Variable> inputs, Loc loc = Loc::here());

/// The layers one after the other, checkpointed in `segments` groups of about equal size; 0: the
/// square root of their number, which needs the least memory.
Variable checkpointSequential(std::span<const std::function<Variable(const Variable &)>> layers,
                              const Variable &x, int segments = 0, Loc loc = Loc::here());

} // namespace tile::autograd
