// Scalar instructions: one kernel each, in which thread i applies the instruction to the operands i.
#pragma once

#include "tests/hardware/Probe.h"

#include <string>
#include <vector>

namespace tile::hardware {

/// Instructions with operands of the same kinds.
struct ScalarRow {
  /// Names, one for each way to choose a word from every {a,b,...}, the last of them changing first. What
  /// follows an @ tells names of the same instruction apart. In `names` and `kinds` a * is the word of the
  /// group.
  std::string names;
  std::string kinds; // of the operands %a, %b, %c: those of draw()
  unsigned bits;     // of the result %d
  /// PTX, where it is not the name with %d and the operands: $0 is the name before @, $1 what follows it, $2
  /// the name up to its first dot. It may use the predicate %p.
  std::string body = "";
};

/// Rows that are repeated for each of some words.
struct ScalarGroup {
  std::vector<std::string> words;
  std::vector<ScalarRow> rows;
};

/// The probes of a table; the first has the number `first` among all scalar probes, which is the seed of its inputs.
std::vector<Probe> scalarProbes(const std::vector<ScalarGroup> &table, size_t first);
/// How many probes a table has.
size_t countScalar(const std::vector<ScalarGroup> &table);

// The tables, in the order of their numbers.
const std::vector<ScalarGroup> &floatTable();
const std::vector<ScalarGroup> &halfTable();
const std::vector<ScalarGroup> &floatConversionTable();
const std::vector<ScalarGroup> &integerConversionTable();
const std::vector<ScalarGroup> &integerTable();
const std::vector<ScalarGroup> &videoTable();

} // namespace tile::hardware
