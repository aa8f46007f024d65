// Keeps which registers of a warp are in flight.
#include "runtime/vgpu/machine/MatrixFlight.h"

#include <algorithm>

namespace tile::vgpu {

void MatrixFlight::reset(uint32_t fileBytes, bool watches) {
  watches_ = watches;
  issues_.clear();
  if (!watches)
    return;
  size_t words = fileBytes / kRowBytes / 64 + 1;
  inFlight_.assign(words, 0);
  touched_.assign(words,
                  ~uint64_t{0}); // whatever registers hold at first was put there before any fence
}

void MatrixFlight::fence() { std::ranges::fill(touched_, 0); }

void MatrixFlight::issue(const Op &op, uint32_t time, std::span<const uint32_t> rows) {
  issues_.push_back({&op, time, std::vector(rows.begin(), rows.end())});
  for (uint32_t row : rows)
    set(inFlight_, row);
}

void MatrixFlight::land(uint32_t time) {
  if (!watches_)
    return;
  std::erase_if(issues_, [&](const Issue &issue) { return issue.time <= time; });
  std::ranges::fill(inFlight_, 0);
  for (const Issue &issue : issues_)
    for (uint32_t row : issue.rows)
      set(inFlight_, row);
}

void MatrixFlight::rename(uint32_t target, uint32_t source) {
  if (isTouched(source))
    set(touched_, target);
  else
    clear(touched_, target);
  for (Issue &issue : issues_)
    if (std::ranges::count(issue.rows, source)) {
      issue.rows.push_back(target);
      set(inFlight_, target);
    }
}

const Op *MatrixFlight::holder(uint32_t row) const {
  for (const Issue &issue : issues_)
    if (std::ranges::count(issue.rows, row))
      return issue.op;
  return nullptr;
}

} // namespace tile::vgpu
