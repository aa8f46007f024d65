// How passes say no: a sentence for `tilec explain`, a remark or an error.
#pragma once

#include <string>
#include <utility>

namespace tile::passes {

/// Why something cannot be done. It is false if it can be done:
///
///   if (Refusal why = whyNotFlattenable(nest))
///     loop.emitRemark("not flattened: ") << *why;
class [[nodiscard]] Refusal {
public:
  Refusal() = default;
  Refusal(std::string sentence) : sentence_(std::move(sentence)) {}
  Refusal(const char *sentence) : sentence_(sentence) {}

  explicit operator bool() const { return !sentence_.empty(); }
  const std::string &operator*() const { return sentence_; }

private:
  std::string sentence_; ///< empty if nothing is refused
};

} // namespace tile::passes
