// Whether two results of a kernel are the same but for the order of sums.
#pragma once

#include "runtime/tune/PrivateCall.h"

#include <string>

namespace tile::tune {

/// How results differ, as a sentence that names the worst element; empty if they agree. Floats may differ by a part of the
/// reference's element and as much of the root of the mean of its squares: 2^-6 of f16, 2^-4 of bf16, 2^-2 of 8-bit floats, 2^-9
/// of f32, 2^-35 of f64. NaN is equal to NaN. Integers are equal or not.
std::string disagreement(const PrivateCall::Result &result, const PrivateCall::Result &reference);

} // namespace tile::tune
