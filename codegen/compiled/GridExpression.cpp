#include "codegen/compiled/GridExpression.h"

#include "base/StackArray.h"

#include <algorithm>
#include <cstddef>

namespace tile::codegen {

static constexpr size_t kUsualSteps = 64;

static int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

std::array<int64_t, 3> GridExpression::evaluate(std::span<const int64_t> values) const {
  std::array<int64_t, 3> grid = {1, 1, 1};
  for (size_t axis = 0; axis < axes_.size() && axis < 3; ++axis) {
    base::StackArray<int64_t, kUsualSteps> stack(axes_[axis].size());
    size_t depth = 0;
    for (const Step &step : axes_[axis]) {
      if (step.op == Op::Constant || step.op == Op::Symbol) {
        stack[depth++] = step.op == Op::Constant ? step.value : values[step.value];
        continue;
      }
      int64_t b = stack[--depth];
      int64_t &a = stack[depth - 1];
      int64_t divisor = b == 0 ? 1 : b;
      switch (step.op) {
      case Op::Add:
        a += b;
        break;
      case Op::Multiply:
        a *= b;
        break;
      case Op::CeilDivide:
        a = -floorDivide(-a, divisor);
        break;
      case Op::FloorDivide:
        a = floorDivide(a, divisor);
        break;
      default:
        a -= floorDivide(a, divisor) * divisor;
      }
    }
    grid[axis] = std::max<int64_t>(0, stack[0]);
  }
  return grid;
}

std::vector<int64_t> GridExpression::words() const {
  std::vector<int64_t> words = {static_cast<int64_t>(symbolList_.size())};
  for (Symbol symbol : symbolList_)
    words.insert(words.end(), {symbol.arg, symbol.dim});
  for (const std::vector<Step> &steps : axes_) {
    words.push_back(static_cast<int64_t>(steps.size()));
    for (Step step : steps)
      words.insert(words.end(), {static_cast<int64_t>(step.op), step.value});
  }
  return words;
}

// Does each step find its operands, and is one number left?
bool GridExpression::isValid(const std::vector<Step> &steps) const {
  int64_t depth = 0;
  for (Step step : steps) {
    bool isOperand = step.op == Op::Constant || step.op == Op::Symbol;
    bool isKnown = step.op != Op::Symbol ||
                   (step.value >= 0 && step.value < static_cast<int64_t>(symbolList_.size()));
    if (!isKnown || (!isOperand && depth < 2))
      return false;
    depth += isOperand ? 1 : -1;
  }
  return depth == 1;
}

std::optional<GridExpression> GridExpression::of(std::span<const int64_t> words) {
  size_t at = 0;
  // How many groups of `size` words follow; nothing if they are not there.
  auto count = [&](size_t size) -> std::optional<size_t> {
    if (at == words.size())
      return std::nullopt;
    auto number = static_cast<uint64_t>(words[at++]);
    return number <= (words.size() - at) / size ? std::optional<size_t>(number) : std::nullopt;
  };
  GridExpression grid;
  std::optional<size_t> symbols = count(2);
  if (!symbols)
    return std::nullopt;
  for (size_t i = 0; i < *symbols; ++i, at += 2)
    grid.symbolList_.push_back(
        {static_cast<int32_t>(words[at]), static_cast<int32_t>(words[at + 1])});
  while (at < words.size()) {
    std::optional<size_t> steps = count(2);
    if (!steps)
      return std::nullopt;
    std::vector<Step> &axis = grid.axes_.emplace_back();
    for (size_t i = 0; i < *steps; ++i, at += 2) {
      if (words[at] < 0 || words[at] > static_cast<int64_t>(Op::Modulo))
        return std::nullopt;
      axis.push_back({static_cast<Op>(words[at]), words[at + 1]});
    }
    if (!grid.isValid(axis))
      return std::nullopt;
  }
  return grid;
}

int64_t fewestPrograms(int64_t tiles, int64_t atOnce) {
  if (tiles <= atOnce)
    return tiles;
  int64_t rounds = (tiles + atOnce - 1) / atOnce;
  return (tiles + rounds - 1) / rounds;
}

} // namespace tile::codegen
