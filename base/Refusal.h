// How the compiler says no: a sentence for `tilec explain`, a remark or an error.
//
// A function that is asked whether something may be done returns a Refusal:
//
//   if (Refusal why = whyNotFlattenable(nest))
//     loop.emitRemark("not flattened: ") << *why;
//
// A function that is asked for a value returns none, with the sentence in *why for a caller who
// wants it:
//
//   Refusal why;
//   std::optional<TensorCopyPlan> plan = planTensorCopy(load, view, shape, memory, &why);
//   if (!plan)
//     return load.emitOpError("cannot be done by TMA: ") << *why;
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tile {

/// Why something cannot be done. It is false if it can be done.
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

/// For a function that is asked for a value: `return refuse(why, "...")`.
inline std::nullopt_t refuse(Refusal *why, Refusal because) {
  if (why)
    *why = std::move(because);
  return std::nullopt;
}

} // namespace tile
