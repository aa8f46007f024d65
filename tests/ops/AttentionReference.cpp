#include "tests/ops/AttentionReference.h"

#include <algorithm>
#include <cmath>

namespace tile::test {

double rowProduct(const Doubles &x, int64_t at, const Doubles &y, int64_t other, int64_t count) {
  double sum = 0;
  for (int64_t d = 0; d < count; ++d)
    sum += x[size_t(at + d)] * y[size_t(other + d)];
  return sum;
}

template <class F> static void forEachRow(const AttentionCase &c, F f) {
  for (int64_t b = 0; b < c.batches; ++b)
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t i = 0; i < c.queries; ++i)
        f(b, h, i);
}

AttentionReference::AttentionReference(const AttentionCase &c, const Doubles &q, const Doubles &k,
                                       const Doubles &v)
    : out(size_t(c.queryNumel())), lse(size_t(c.rows()), -INFINITY), c_(c), q_(q), k_(k), v_(v) {
  forEachRow(c, [&](int64_t b, int64_t h, int64_t i) { forwardRow(b, h, i); });
}

void AttentionReference::backward(const Doubles &dout) {
  dq.assign(size_t(c_.queryNumel()), 0);
  dk.assign(size_t(c_.keyNumel()), 0), dv = dk;
  forEachRow(c_, [&](int64_t b, int64_t h, int64_t i) { backwardRow(dout, b, h, i); });
}

double AttentionReference::score(int64_t b, int64_t h, int64_t i, int64_t j) const {
  return c_.scale * rowProduct(q_, c_.query(b, h, i), k_, c_.key(b, h, j), c_.head);
}

void AttentionReference::forwardRow(int64_t b, int64_t h, int64_t i) {
  double largest = -INFINITY, total = 0;
  for (int64_t j = 0; j < c_.keys; ++j)
    if (c_.sees(i, j))
      largest = std::max(largest, score(b, h, i, j));
  int64_t at = c_.query(b, h, i);
  for (int64_t j = 0; j < c_.keys; ++j)
    if (c_.sees(i, j)) {
      double weight = std::exp(score(b, h, i, j) - largest);
      total += weight;
      for (int64_t d = 0; d < c_.head; ++d)
        out[size_t(at + d)] += weight * v_[size_t(c_.key(b, h, j) + d)];
    }
  if (total == 0)
    return;
  for (int64_t d = 0; d < c_.head; ++d)
    out[size_t(at + d)] /= total;
  lse[size_t(at / c_.head)] = largest + std::log(total);
}

void AttentionReference::backwardRow(const Doubles &dout, int64_t b, int64_t h, int64_t i) {
  int64_t at = c_.query(b, h, i);
  double delta = rowProduct(dout, at, out, at, c_.head);
  for (int64_t j = 0; j < c_.keys; ++j)
    if (c_.sees(i, j)) {
      int64_t key = c_.key(b, h, j);
      double weight = std::exp(score(b, h, i, j) - lse[size_t(at / c_.head)]);
      double ds = c_.scale * weight * (rowProduct(dout, at, v_, key, c_.head) - delta);
      for (int64_t d = 0; d < c_.head; ++d) {
        dv[size_t(key + d)] += weight * dout[size_t(at + d)];
        dq[size_t(at + d)] += ds * k_[size_t(key + d)];
        dk[size_t(key + d)] += ds * q_[size_t(at + d)];
      }
    }
}

} // namespace tile::test
