// A second autograd, of numbers, in a few lines: the oracle for random graphs.
#pragma once

#include <array>
#include <vector>

namespace tile::test {

/// Nodes in the order they are made; each knows two inputs and the slopes with respect to them.
class ScalarGraph {
public:
  int leaf(double value) { return add(value, {-1, -1}, {0, 0}); }
  int sum(int a, int b) { return add(value_[at(a)] + value_[at(b)], {a, b}, {1, 1}); }
  int product(int a, int b) {
    return add(value_[at(a)] * value_[at(b)], {a, b}, {value_[at(b)], value_[at(a)]});
  }
  int scaled(int a, double factor) { return add(value_[at(a)] * factor, {a, -1}, {factor, 0}); }

  double value(int node) const { return value_[at(node)]; }

  /// The gradients of all nodes for a gradient `seed` of `output`.
  std::vector<double> gradients(int output, double seed) const {
    std::vector<double> gradient(value_.size());
    gradient[at(output)] = seed;
    for (int node = output; node >= 0; --node)
      for (size_t side : {0, 1})
        if (inputs_[at(node)][side] >= 0)
          gradient[at(inputs_[at(node)][side])] += gradient[at(node)] * slopes_[at(node)][side];
    return gradient;
  }

private:
  static size_t at(int node) { return static_cast<size_t>(node); }
  int add(double value, std::array<int, 2> inputs, std::array<double, 2> slopes) {
    value_.push_back(value);
    inputs_.push_back(inputs);
    slopes_.push_back(slopes);
    return static_cast<int>(value_.size()) - 1;
  }

  std::vector<double> value_;
  std::vector<std::array<int, 2>> inputs_;
  std::vector<std::array<double, 2>> slopes_;
};

} // namespace tile::test
