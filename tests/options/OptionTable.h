// Every option that the language documents, on every target: accepted with the right result, or refused with a sentence.
//
// The rows name each field, enumerator, hint, setting of a launch and method of a loop as programs write them;
// tools/check_coverage.py compares them with the public headers.
#pragma once

#include <tile/tile.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace tile::test {

/// Where a row is accepted.
enum class On {
  Every, ///< target
  Tma,   ///< targets that have it
  Wgmma, ///< the same; all of them have TMA
  None
};

struct OptionRow {
  std::string name; ///< as a program writes it
  /// Launches a kernel with the option; returns whether the results are right.
  std::function<bool(const Device &)> isRight;
  On accepted = On::Every;
  std::string refusal = {}; ///< a part of the sentence where it is not
};

/// Runs each row on each target.
void expectRows(const std::vector<OptionRow> &rows);

/// Small integers; `seed` tells lists apart.
std::vector<float> numbers(int64_t count, int seed = 0);
template <class T> std::vector<T> as(const std::vector<float> &values) {
  std::vector<T> result;
  for (float value : values)
    result.push_back(T(value));
  return result;
}

} // namespace tile::test
