// Attention and its gradient as plain loops over doubles.
#pragma once

#include <cstdint>
#include <vector>

namespace tile::test {

/// Sizes and options; tensors are row-major, B x H x L x D.
struct AttentionCase {
  int64_t batches, heads, keyHeads, queries, keys, head;
  bool causal = false;
  double scale = 0.3;

  int64_t queryNumel() const { return batches * heads * queries * head; }
  int64_t keyNumel() const { return batches * keyHeads * keys * head; }
  int64_t rows() const { return batches * heads * queries; }
  /// Where row `i` of head `h` begins, of q and of the keys its head reads.
  int64_t query(int64_t b, int64_t h, int64_t i) const {
    return ((b * heads + h) * queries + i) * head;
  }
  int64_t key(int64_t b, int64_t h, int64_t j) const {
    return ((b * keyHeads + h / (heads / keyHeads)) * keys + j) * head;
  }
  bool sees(int64_t i, int64_t j) const { return !causal || j - i <= keys - queries; }
};

using Doubles = std::vector<double>;

double rowProduct(const Doubles &x, int64_t at, const Doubles &y, int64_t other, int64_t count);

struct AttentionReference {
  AttentionReference(const AttentionCase &c, const Doubles &q, const Doubles &k, const Doubles &v);

  void backward(const Doubles &dout);

  Doubles out, lse, dq, dk, dv;

private:
  double score(int64_t b, int64_t h, int64_t i, int64_t j) const;
  void forwardRow(int64_t b, int64_t h, int64_t i);
  void backwardRow(const Doubles &dout, int64_t b, int64_t h, int64_t i);

  AttentionCase c_;
  Doubles q_, k_, v_;
};

} // namespace tile::test
