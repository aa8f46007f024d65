// What main.cpp computes, with Eigen in float64.
#pragma once

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <functional>

struct Reference {
  Eigen::MatrixXd probabilities;
  Eigen::VectorXd entropy, margin, shares;
};

inline Eigen::MatrixXd layernorm(const Eigen::MatrixXd &x) {
  Eigen::MatrixXd centred = x.colwise() - x.rowwise().mean();
  Eigen::ArrayXd variance = centred.array().square().rowwise().mean();
  return centred.array().colwise() / (variance + 1e-5).sqrt();
}

inline Reference reference(const Eigen::MatrixXd &features, const Eigen::MatrixXd &hidden,
                           const Eigen::VectorXd &bias, const Eigen::MatrixXd &output) {
  auto gelu = [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; };
  Eigen::MatrixXd sums = (layernorm(features) * hidden).rowwise() + bias.transpose();
  Eigen::MatrixXd scores = sums.unaryExpr(gelu) * output;

  Reference result;
  Eigen::ArrayXXd powers = (scores.colwise() - scores.rowwise().maxCoeff()).array().exp();
  result.probabilities = powers.colwise() / powers.rowwise().sum();
  result.shares = result.probabilities.colwise().mean();
  result.entropy.resize(features.rows());
  result.margin.resize(features.rows());
  for (Eigen::Index row = 0; row < features.rows(); ++row) {
    Eigen::ArrayXd p = result.probabilities.row(row);
    std::sort(p.begin(), p.end(), std::greater());
    result.margin[row] = p[0] - p[1];
    result.entropy[row] = -(p * p.log()).sum();
  }
  return result;
}
