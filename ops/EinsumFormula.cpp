#include "ops/EinsumFormula.h"

#include <algorithm>

namespace tile::ops {

namespace {

bool isLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
Label labelOf(char c) { return static_cast<Label>(c <= 'Z' ? c - 'A' : c - 'a' + 26); }

std::string describe(std::span<const Operand> operands, size_t i) {
  return "operand " + std::to_string(i) + " is " + operands[i].str();
}

std::string given(std::span<const Operand> operands) {
  return "operands given: " + std::to_string(operands.size());
}

} // namespace

EinsumFormula::EinsumFormula(std::string_view text, std::span<const Operand> operands,
                             const Arguments &arguments)
    : text_(text), operands_(operands), arguments_(arguments) {
  std::ranges::fill(extents_, -1);
  if (operands.empty() || operands.size() > kMostEinsumOperands)
    fail(ErrorCode::InvalidArgument,
         given(operands) + "; 1 to " + std::to_string(kMostEinsumOperands) + " are possible", 0);
  readInputs();
  if (next_ < static_cast<int>(text_.size()))
    readOutput();
  else
    implyOutput();
}

// --- Reading -------------------------------------------------------------------------------------

bool EinsumFormula::skipSpaces() {
  while (next_ < static_cast<int>(text_.size()) && text_[static_cast<size_t>(next_)] == ' ')
    ++next_;
  return next_ < static_cast<int>(text_.size());
}

/// Up to a comma, an arrow or the end.
EinsumFormula::Term EinsumFormula::readTerm() {
  Term term;
  term.begin = (skipSpaces(), next_);
  for (; skipSpaces(); ++next_) {
    char c = text_[static_cast<size_t>(next_)];
    if (c == ',' || c == '-')
      break;
    if (c == '.') {
      readDots(term);
      continue;
    }
    if (!isLetter(c))
      fail(ErrorCode::InvalidArgument, "a letter, ... , a comma or -> is expected", next_);
    if (term.letters.count == kMaxRank)
      fail(ErrorCode::InvalidArgument,
           "a term has at most " + std::to_string(kMaxRank) + " letters", next_);
    term.letters.append(labelOf(c), next_);
  }
  return term;
}

void EinsumFormula::readDots(Term &term) {
  if (text_.substr(static_cast<size_t>(next_), 3) != "...")
    fail(ErrorCode::InvalidArgument, "three dots are expected", next_);
  if (term.dots >= 0)
    fail(ErrorCode::InvalidArgument, "... stands twice in a term", next_);
  term.dots = term.letters.count, term.dotsAt = next_;
  next_ += 2;
}

void EinsumFormula::readInputs() {
  size_t operand = 0;
  for (bool more = true; more; ++operand) {
    Term term = readTerm();
    if (operand == operands_.size())
      fail(ErrorCode::InvalidArgument, given(operands_) + ", but there is another term",
           term.begin);
    inputs_[operand] = ofOperand(term, operand);
    bind(operand);
    more = next_ < static_cast<int>(text_.size()) && text_[static_cast<size_t>(next_)] == ',';
    next_ += more;
  }
  if (operand < operands_.size())
    fail(ErrorCode::InvalidArgument, given(operands_) + ", but the terms end here", next_);
}

void EinsumFormula::readOutput() {
  if (text_.substr(static_cast<size_t>(next_), 2) != "->")
    fail(ErrorCode::InvalidArgument, "-> is expected", next_);
  next_ += 2;
  Term term = readTerm();
  if (skipSpaces())
    fail(ErrorCode::InvalidArgument, "the formula should end here", next_);
  LabelSet seen = 0;
  for (int i = 0; i < term.letters.count; ++i) {
    Label label = term.letters.list[i];
    if (uses_[label] == 0)
      fail(ErrorCode::InvalidArgument, "no operand has " + name(label), term.letters.at[i]);
    if (seen & only(label))
      fail(ErrorCode::InvalidArgument, name(label) + " stands twice behind ->", term.letters.at[i]);
    seen |= only(label);
  }
  int dots = term.dots < 0 ? 0 : dots_;
  if (term.letters.count + dots > kMaxRank)
    fail(ErrorCode::Unsupported,
         "the result has more than " + std::to_string(kMaxRank) + " dimensions", term.begin);
  output_ = expanded(term, dots);
}

void EinsumFormula::implyOutput() {
  int end = static_cast<int>(text_.size());
  Term term;
  term.dots = 0, term.dotsAt = end;
  for (Label label = 0; label < kLetters; ++label)
    if (uses_[label] == 1) {
      if (term.letters.count + dots_ == kMaxRank)
        fail(ErrorCode::Unsupported,
             "the result has more than " + std::to_string(kMaxRank) + " dimensions", end);
      term.letters.append(label, end);
    }
  output_ = expanded(term, dots_);
}

/// The term with so many dimensions in the place of `...`.
Labels EinsumFormula::expanded(const Term &term, int dots) const {
  Labels labels;
  for (int i = 0; i <= term.letters.count; ++i) {
    if (i == term.dots)
      for (int dim = dots; dim-- > 0;)
        labels.append(static_cast<Label>(kLetters + dim), term.dotsAt);
    if (i < term.letters.count)
      labels.append(term.letters.list[i], term.letters.at[i]);
  }
  return labels;
}

// --- Operands ------------------------------------------------------------------------------------

Labels EinsumFormula::ofOperand(const Term &term, size_t operand) const {
  int rank = operands_[operand].rank(), letters = term.letters.count;
  if (letters > rank || (letters < rank && term.dots < 0))
    fail(ErrorCode::InvalidShape,
         describe(operands_, operand) + ", of rank " + std::to_string(rank) +
             ", but its term has " + std::to_string(letters) +
             (letters == 1 ? " letter" : " letters"),
         term.begin);
  return expanded(term, rank - letters);
}

/// Learns the extents of an operand's labels, or compares them with those that are known.
void EinsumFormula::bind(size_t operand) {
  const Labels &labels = inputs_[operand];
  LabelSet before = 0;
  for (int dim = 0; dim < labels.count; ++dim) {
    Label label = labels.list[dim];
    if (label >= kLetters)
      dots_ = std::max(dots_, label - kLetters + 1);
    else
      ++uses_[label];
    if (before & only(label))
      checkDiagonal(operand, dim);
    else
      bind(operand, dim);
    before |= only(label);
  }
}

/// An extent of 1 is repeated along the others'.
void EinsumFormula::bind(size_t operand, int dim) {
  Label label = inputs_[operand].list[dim];
  int64_t &known = extents_[label], extent = operands_[operand].extent(dim);
  if (known == -1 || known == 1)
    known = extent, firstUse_[label] = operand;
  else if (extent != 1 && extent != known)
    fail(ErrorCode::InvalidShape,
         (label < kLetters ? name(label) : "a dimension of ...") + " is " + std::to_string(known) +
             " in operand " + std::to_string(firstUse_[label]) + " (" +
             operands_[firstUse_[label]].str() + "), but " + std::to_string(extent) +
             " in operand " + std::to_string(operand) + " (" + operands_[operand].str() +
             "): they must be equal, or one of them 1",
         inputs_[operand].at[dim]);
}

/// A letter that the operand had before: nothing is repeated along its own dimensions.
void EinsumFormula::checkDiagonal(size_t operand, int dim) const {
  const Labels &labels = inputs_[operand];
  auto first = std::ranges::find(labels.span(), labels.list[dim]) - labels.span().begin();
  int64_t extent = operands_[operand].extent(static_cast<int>(first)),
          other = operands_[operand].extent(dim);
  if (extent != other)
    fail(ErrorCode::InvalidShape,
         name(labels.list[dim]) + " is " + std::to_string(extent) + " and " +
             std::to_string(other) + " in operand " + std::to_string(operand) + " (" +
             operands_[operand].str() + "): a diagonal has equal extents",
         labels.at[dim]);
}

// --- Messages ------------------------------------------------------------------------------------

std::string EinsumFormula::name(Label label) const {
  return std::string(1, static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26));
}

/// The message, the formula, and a mark under a place in it.
void EinsumFormula::fail(ErrorCode code, const std::string &message, int position) const {
  std::string shown(text_);
  for (char &c : shown)
    if (c < ' ' || c > '~')
      c = '?';
  arguments_.fail(code, message + "\n  " + shown + "\n  " +
                            std::string(static_cast<size_t>(position), ' ') + "^");
}

} // namespace tile::ops
