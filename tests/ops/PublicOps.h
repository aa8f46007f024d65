// Every op that takes tensors, as a row of a table: what it calls its tensors, what they may be, and a call of it. Tests
// of what holds for all ops go through the rows.
#pragma once

#include <tile/Device.h>
#include <tile/ops/Operand.h>

#include <span>
#include <string>
#include <vector>

namespace tile::test {

/// What a call does with a tensor, and what it may be.
struct Parameter {
  enum Use : unsigned {
    In = 0,
    Out = 1,      ///< written
    Optional = 2, ///< may be Operand()
    Broadcast =
        4, ///< an input that may have fewer dimensions or, of an output, one that may have more
    AnyDtype = 8, ///< every dtype will do
    Index = 16,   ///< integers
    AnyRank = 32, ///< the other tensors follow its rank, or do not depend on it
    Chooses = 64, ///< without it the call means something else
  };
  const char *name;
  DType dtype;
  const char *extents; ///< a letter for each dimension; see extentOf
  unsigned use = In;

  bool is(Use what) const { return (use & what) != 0; }
};

/// A call: of the tensors in the order of the parameters, or of the inputs alone where a new tensor is returned.
struct PublicOp {
  const char *name;
  std::vector<Parameter> parameters;
  void (*call)(const Stream &stream, std::span<const ops::Operand> tensors);
  /// Letters whose extents may not become 0.
  std::string_view nonEmpty = "";

  /// "softmax" or "softmax, new": for messages of tests.
  std::string title() const;
};

/// Equal letters are equal extents.
int64_t extentOf(char letter);

/// The ops, each form of them.
const std::vector<PublicOp> &publicOps();
/// Those of PublicRowOps.cpp.
void addRowOps(std::vector<PublicOp> &rows);

} // namespace tile::test
