// What the text of a refusal must be.
#pragma once

#include <string>
#include <vector>

namespace tile::fuzz {

/// What is wrong with a message about a call of this op, or nothing. It may describe the `inputs`, "f32 2x3", but none of the
/// `outputs`, which the caller has not made.
std::string objectionTo(const std::string &message, const std::string &op,
                        const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs);

} // namespace tile::fuzz
