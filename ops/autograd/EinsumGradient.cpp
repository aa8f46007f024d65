// einsum of variables: the gradient of each operand is an einsum too.
#include "ops/EinsumFormula.h"
#include "ops/autograd/Shapes.h"

#include <tile/autograd/Einsum.h>
#include <tile/autograd/Function.h>
#include <tile/ops/Arithmetic.h>

#include <algorithm>

namespace tile::autograd {
namespace {

using detail::ExtentList;
using ops::EinsumFormula;
using ops::Label;
using ops::LabelSet;

/// An operand's dimensions: a letter for each, '1' for one of `...` that was repeated.
struct Term {
  std::string letters;
  ExtentList extents;
};

/// x without the dimensions that were repeated.
Tensor withoutRepeated(const Tensor &x, const Term &term) {
  ExtentList extents, strides;
  for (int dim = 0; dim < x.rank(); ++dim)
    if (term.letters[static_cast<size_t>(dim)] != '1')
      extents.push_back(x.extent(dim)), strides.push_back(x.stride(dim));
  return x.withStrides(extents, strides);
}

std::string lettersOf(const Term &term) {
  std::string letters = term.letters;
  std::erase(letters, '1');
  return letters;
}

class Einsum final : public detail::AnyFunction {
public:
  static constexpr const char *kName = "einsum";
  Einsum(std::string_view formula, const ops::MatmulOptions &options)
      : formula_(formula), options_(options) {}

  std::vector<Tensor> forward(Context &context, std::span<const Tensor> inputs) override {
    std::vector<ops::Operand> operands(inputs.begin(), inputs.end());
    Tensor y = ops::einsum(context.stream(), formula_, operands, options_, context.where());
    if (context.isRecorded()) {
      note(operands, ops::Arguments(kName, {context.stream(), context.where()}));
      context.save(inputs);
    }
    return {y};
  }
  std::vector<Tensor> backward(Context &context, std::span<const Tensor> outputs) override {
    std::vector<Tensor> gradients(terms_.size());
    for (size_t i = 0; i < terms_.size(); ++i)
      if (context.needs(i))
        gradients[i] = gradient(context, outputs[0], i);
    return gradients;
  }

private:
  /// Remembers the terms with dots replaced by letters that the formula does not use.
  void note(std::span<const ops::Operand> operands, const ops::Arguments &arguments) {
    EinsumFormula formula(formula_, operands, arguments);
    std::string free;
    for (char letter : {'A', 'a'})
      for (int i = 0; i < 26; ++i)
        if (formula_.find(static_cast<char>(letter + i)) == std::string::npos)
          free += static_cast<char>(letter + i);
    auto letterOf = [&](Label label) {
      if (label < ops::kLetters)
        return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26);
      size_t dot = label - ops::kLetters;
      if (dot >= free.size())
        arguments.fail(ErrorCode::Unsupported, "the formula leaves no letter for its ...");
      return free[dot];
    };
    for (Label label : formula.output().span())
      output_ += letterOf(label);
    for (size_t i = 0; i < operands.size(); ++i) {
      Term &term = terms_.emplace_back();
      for (int dim = 0; dim < operands[i].rank(); ++dim) {
        Label label = formula.input(i).list[dim];
        int64_t extent = operands[i].extent(dim);
        term.letters += extent == formula.extent(label) ? letterOf(label) : '1';
        term.extents.push_back(extent);
      }
    }
  }

  /// The letters of operand i, each once, that the result or another operand has.
  std::string lettersFound(size_t i) const {
    std::string others = output_, found;
    for (size_t other = 0; other < terms_.size(); ++other)
      if (other != i)
        others += lettersOf(terms_[other]);
    for (char letter : lettersOf(terms_[i]))
      if (others.find(letter) != std::string::npos && found.find(letter) == std::string::npos)
        found += letter;
    return found;
  }

  Tensor gradient(Context &context, const Tensor &dy, size_t i) const {
    std::string formula = output_, found = lettersFound(i);
    std::vector<Tensor> tensors = {dy};
    for (size_t other = 0; other < terms_.size(); ++other)
      if (other != i) {
        tensors.push_back(withoutRepeated(context.saved(other), terms_[other]));
        formula += "," + lettersOf(terms_[other]);
      }
    std::vector<ops::Operand> operands(tensors.begin(), tensors.end());
    Tensor sums =
        ops::einsum(context.stream(), formula + "->" + found, operands, options_, context.where());
    return spread(context, sums, found, terms_[i]);
  }

  /// The dimensions of a term with each letter once, whose strides are added up.
  struct Dims {
    std::string letters;
    ExtentList extents, strides;
  };
  static Dims merged(const Term &term, std::span<const int64_t> strides) {
    Dims dims;
    for (size_t dim = 0; dim < term.letters.size(); ++dim) {
      char letter = term.letters[dim];
      size_t known = letter == '1' ? std::string::npos : dims.letters.find(letter);
      if (known != std::string::npos) {
        dims.strides[known] += strides[dim];
        continue;
      }
      dims.letters += letter;
      dims.extents.push_back(term.extents[dim]), dims.strides.push_back(strides[dim]);
    }
    return dims;
  }

  /// `sums`, whose dimensions have these letters, as a gradient of the operand: repeated along other letters, with zeros
  /// beside diagonals.
  static Tensor spread(Context &context, const Tensor &sums, const std::string &letters,
                       const Term &term) {
    Dims own = merged(term, ExtentList(term.extents.size(), 0));
    for (size_t dim = 0; dim < own.letters.size(); ++dim)
      if (size_t from = letters.find(own.letters[dim]); from != std::string::npos)
        own.strides[dim] = sums.stride(static_cast<int>(from));
    Tensor placed = sums.withStrides(own.extents, own.strides);
    if (own.letters.size() == term.letters.size())
      return placed;
    Tensor whole = context.stream().tensor(sums.dtype(), term.extents);
    ops::fill(context.stream(), 0, whole, context.where());
    Dims diagonal = merged(term, whole.strides());
    ops::copy(context.stream(), placed, whole.withStrides(diagonal.extents, diagonal.strides),
              context.where());
    return whole;
  }

  std::string formula_, output_;
  ops::MatmulOptions options_;
  std::vector<Term> terms_;
};

} // namespace

Variable einsum(std::string_view formula, std::span<const Variable> operands,
                const ops::MatmulOptions &options, Loc loc) {
  return detail::applyAny(std::make_unique<Einsum>(formula, options), Einsum::kName, loc,
                          operands)[0];
}
Variable einsum(std::string_view formula, std::initializer_list<Variable> operands,
                const ops::MatmulOptions &options, Loc loc) {
  return einsum(formula, std::span(operands.begin(), operands.size()), options, loc);
}

} // namespace tile::autograd
