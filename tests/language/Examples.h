// The examples of docs/language.md: one or more for each operation, with all elements of the
// result. They are run as tests, and their text goes into the tables.
#pragma once

#include <tile/tile.h>

#include <string>
#include <vector>

namespace tile::language {

/// What examples are written in terms of.
struct Given {
  Value x, y;      ///< f32[4]: 1 2 3 4, and 4 3 2 1
  Value m;         ///< f32[2x4]: 1 to 8
  Value i;         ///< i32[4]: 0 1 2 3
  Value b;         ///< i1[4]: false false true true
  Value n;         ///< i32 argument: 3
  In<f32, 2> A;    ///< 3 rows of 5: 0 to 14
  In<f32, 3> T;    ///< one element, 0
  InOut<f32, 1> f; ///< eight f32 zeros
  InOut<i32, 1> c; ///< eight i32 zeros
};

struct Example {
  const char *operation;
  Value (*run)(Given &);
  std::vector<double> expected; ///< the elements, in row-major order
};

/// In the order of the document.
const std::vector<Example> &examples();

} // namespace tile::language
