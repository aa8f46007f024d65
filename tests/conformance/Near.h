// The comparison of the conformance list: relative to the reference plus an absolute part.
#pragma once

#include "tests/execution/Harness.h"

namespace tile::test {

struct Tolerance {
  double absolute, relative;
};

/// Compares a whole output with reference(i).
template <class T, class Reference>
void expectClose(const std::vector<T> &results, Reference reference, Tolerance tolerance) {
  for (size_t i = 0; i < results.size(); ++i) {
    Exact<T> expected = static_cast<Exact<T>>(reference(static_cast<int64_t>(i)));
    double allowed =
        tolerance.absolute + tolerance.relative * std::abs(static_cast<double>(expected));
    if (!expectNear<T>(results[i], expected, {0, allowed},
                       [&] { return "element " + std::to_string(i); }))
      return;
  }
}

} // namespace tile::test
