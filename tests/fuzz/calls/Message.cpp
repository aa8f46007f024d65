#include "tests/fuzz/calls/Message.h"

#include <algorithm>

namespace tile::fuzz {
namespace {

/// Words of libraries and of the inside, which no user has written.
constexpr const char *kForeign[] = {"std::",        "basic_string", "max_size", "bad_",
                                    "no memory",    "map::",        "stoi",     "stod",
                                    "of the shape", "(null)",       "assert",   "vector<"};

bool isWordEnd(const std::string &text, size_t at) {
  return at == text.size() ||
         (!std::isalnum(static_cast<unsigned char>(text[at])) && text[at] != '_');
}

/// Whether the text describes a tensor so: "c is f32 2x3"
bool describes(const std::string &text, const std::string &tensor) {
  std::string words = " is " + tensor;
  for (size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1))
    if (isWordEnd(text, at + words.size()))
      return true;
  return false;
}

} // namespace

std::string objectionTo(const std::string &message, const std::string &op,
                        const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs) {
  if (!message.starts_with(op + ": "))
    return "does not begin with the op's name";
  if (std::ranges::count(message, '\n') > 2)
    return "has more than three lines";
  for (const char *foreign : kForeign)
    if (message.find(foreign) != message.npos)
      return std::string("has '") + foreign + "'";
  for (const std::string &output : outputs)
    if (describes(message, output) && !std::ranges::count(inputs, output))
      return "speaks of an output that nobody has made";
  return "";
}

} // namespace tile::fuzz
