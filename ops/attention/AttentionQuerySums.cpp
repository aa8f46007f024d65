#include "ops/attention/AttentionQuerySums.h"

#include "ops/attention/AttentionProgram.h"

#include <tile/ops/Arithmetic.h>

namespace tile::ops {

namespace {

constexpr int kRows = 8, kColumns = 16; // of a block

// Row r, column 8 h + 2 t + e of a block becomes element 16 r + 4 t + 2 h + e of it.
Value asThreadsHold(Value x) {
  int rows = x.shape()[0], width = x.shape()[1];
  Value parts = reshape(x, {rows / kRows, kRows, width / kColumns, 2, 4, 2});
  return reshape(permute(parts, {0, 2, 1, 4, 3, 5}), {rows / kRows, kRows * width});
}

// And back.
Value inOrder(Value x) {
  int blocks = x.shape()[0], width = x.shape()[1] / kRows;
  Value parts = reshape(x, {blocks, width / kColumns, kRows, 4, 2, 2});
  return reshape(permute(parts, {0, 2, 1, 4, 3, 5}), {kRows * blocks, width});
}

const auto finishKernel =
    kernel("attention_dq_sums", [](In<f32, 4> sums, Out<any, 4> dq, Scalar<f32> scale, Const Rows,
                                   Const Head) {
      AttentionGrid at(dq.dim(0), dq.dim(1), cdiv(dq.dim(2), Rows));
      int blocks = Rows / kRows, ofBlocks = kRows * Head;
      Value rows = reshape(sums.tile({1, 1, blocks, ofBlocks})(at.batch, at.head, at.tile, 0),
                           {blocks, ofBlocks});
      dq.tile({1, 1, Rows, Head})(at.batch, at.head, at.tile, 0) =
          cast(dq.dtype(), reshape(inOrder(rows) * scale, {1, 1, Rows, Head}));
    }).named("sums", "dq", "scale", "Rows", "Head");

} // namespace

std::array<int64_t, 4> extentsOfQuerySums(int64_t batches, int64_t heads, int64_t rows,
                                          int64_t width) {
  return {batches, heads, rows / kRows, kRows * width};
}

Tensor newQuerySums(CallSite site, const Operand &q, int64_t rows, int64_t width) {
  int64_t length = (q.extent(2) + rows - 1) / rows * rows;
  Tensor sums =
      site.stream.tensor(f32, extentsOfQuerySums(q.extent(0), q.extent(1), length, width));
  fill(site.stream, 0, sums, site.where);
  return sums;
}

void addToQuerySums(const InOut<f32, 4> &sums, Value batch, Value head, Value tile, Value x) {
  Value blocks = asThreadsHold(x);
  int rows = blocks.shape()[0], width = blocks.shape()[1];
  atomic_add(sums.tile({1, 1, rows, width}).unchecked()(batch, head, tile, 0),
             reshape(blocks, {1, 1, rows, width}));
}

void storeQuerySums(CallSite site, const Tensor &sums, const Operand &dq, float scale) {
  constexpr int kRowsAtOnce = 32;
  finishKernel.consts(kRowsAtOnce, static_cast<int>(sums.extent(3)) / kRows)(site, sums, dq, scale);
}

} // namespace tile::ops
