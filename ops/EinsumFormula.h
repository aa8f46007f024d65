// Formulas of einsum, read beside the operands that they speak of.
#pragma once

#include "ops/Arguments.h"

#include <string>
#include <string_view>

namespace tile::ops {

inline constexpr int kMostEinsumOperands = 16;

/// The number of a dimension's name: A is 0, Z 25, a 26, z 51; from 52 on the dimensions of `...`, the last first.
using Label = uint8_t;
inline constexpr int kLetters = 52, kMostLabels = kLetters + kMaxRank;

/// A set of labels, one bit each.
using LabelSet = uint64_t;
inline LabelSet only(Label label) { return LabelSet{1} << label; }

/// The labels of a tensor's dimensions.
struct Labels {
  int count = 0;
  Label list[kMaxRank] = {};
  int at[kMaxRank] = {}; ///< where in the formula each stands

  void append(Label label, int position = 0) { list[count] = label, at[count++] = position; }
  std::span<const Label> span() const { return {list, static_cast<size_t>(count)}; }
  LabelSet set() const {
    LabelSet result = 0;
    for (Label label : span())
      result |= only(label);
    return result;
  }
};

class EinsumFormula {
public:
  /// Reads the text and finds the extents. Throws the errors of `einsum` about both.
  EinsumFormula(std::string_view text, std::span<const Operand> operands,
                const Arguments &arguments);

  /// The label of each dimension of operand i.
  const Labels &input(size_t i) const { return inputs_[i]; }
  const Labels &output() const { return output_; }
  int64_t extent(Label label) const { return extents_[label]; }

private:
  /// A term as it is written; `dots` is the index of the letter that `...` stands before, or -1.
  struct Term {
    Labels letters;
    int begin = 0, dots = -1, dotsAt = 0;
  };

  Term readTerm();
  void readDots(Term &term);
  void readInputs();
  void readOutput();
  void implyOutput();
  Labels expanded(const Term &term, int dots) const;
  Labels ofOperand(const Term &term, size_t operand) const;
  void bind(size_t operand);
  void bind(size_t operand, int dim);
  void checkDiagonal(size_t operand, int dim) const;

  bool skipSpaces();
  [[noreturn]] void fail(ErrorCode code, const std::string &message, int position) const;
  std::string name(Label label) const;

  std::string_view text_;
  std::span<const Operand> operands_;
  const Arguments &arguments_;
  int next_ = 0;
  Labels inputs_[kMostEinsumOperands], output_;
  int dots_ = 0; ///< the most dimensions that `...` stands for
  int64_t extents_[kMostLabels];
  int uses_[kMostLabels] = {};
  size_t firstUse_[kMostLabels] = {}; ///< the operand that gave the extent
};

} // namespace tile::ops
