// What an op says of a call by name.
#pragma once

#include <tile/OpSettings.h>

#include <span>
#include <string>

namespace tile::jit {

/// The message with the op named once, first, as the caller called it: "topK: k is 0" is "top_k: k is 0". A function of C++ that it begins
/// with is the op's own, or one that the op is made of; its name says nothing to who called by another.
std::string opMessage(const std::string &op, const std::string &message);

/// The message with the fields of options as a caller by name gives them: "options.labelSmoothing" is "label_smoothing".
std::string inSettings(std::string message, std::span<const OpSetting> settings);

} // namespace tile::jit
