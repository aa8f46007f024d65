#include "ops/attention/AttentionQuerySums.h"

#include "ops/attention/AttentionProgram.h"

#include <tile/ops/Arithmetic.h>

#include <array>

namespace tile::ops {

namespace {

constexpr int kGroup = 16;

// Column 8 h + 2 t + e of sixteen becomes column 4 t + 2 h + e.
Value asThreadsHold(Value x) {
  int rows = x.shape()[0], width = x.shape()[1];
  Value parts = reshape(x, {rows, width / kGroup, 2, 4, 2});
  return reshape(permute(parts, {0, 1, 3, 2, 4}), {rows, width});
}

// And back.
Value inOrder(Value x) {
  int rows = x.shape()[0], width = x.shape()[1];
  Value parts = reshape(x, {rows, width / kGroup, 4, 2, 2});
  return reshape(permute(parts, {0, 1, 3, 2, 4}), {rows, width});
}

const auto finishKernel =
    kernel("attention_dq_sums", [](In<f32, 4> sums, Out<any, 4> dq, Scalar<f32> scale, Const Rows,
                                   Const Head) {
      AttentionGrid at(dq.dim(0), dq.dim(1), cdiv(dq.dim(2), Rows));
      Value rows =
          reshape(sums.tile({1, 1, Rows, Head})(at.batch, at.head, at.tile, 0), {Rows, Head});
      dq.tile({1, 1, Rows, Head})(at.batch, at.head, at.tile, 0) =
          cast(dq.dtype(), reshape(inOrder(rows) * scale, {1, 1, Rows, Head}));
    }).named("sums", "dq", "scale", "Rows", "Head");

} // namespace

Tensor newQuerySums(CallSite site, const Operand &q, int64_t rows, int64_t width) {
  int64_t length = (q.extent(2) + rows - 1) / rows * rows;
  Tensor sums = site.stream.tensor(f32, std::array{q.extent(0), q.extent(1), length, width});
  fill(site.stream, 0, sums, site.where);
  return sums;
}

void addToQuerySums(const InOut<f32, 4> &sums, Value batch, Value head, Value tile, Value x) {
  int rows = x.shape()[0], width = x.shape()[1];
  atomic_add(sums.tile({1, 1, rows, width}).unchecked()(batch, head, tile, 0),
             reshape(asThreadsHold(x), {1, 1, rows, width}));
}

void storeQuerySums(CallSite site, const Tensor &sums, const Operand &dq, float scale) {
  constexpr int kRows = 32;
  finishKernel.consts(kRows, static_cast<int>(sums.extent(3)))(site, sums, dq, scale);
}

} // namespace tile::ops
