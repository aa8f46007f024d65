// wgmma.mma_async.sp: what is kept of A lies in registers or shared memory like a dense A, B has twice the depth.
//
// The metadata are taken at the issue: PTX asks for no fence or wait around their register.
#include "runtime/vgpu/isa/tensor/WgmmaForm.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

// Elements of a matrix in shared memory, whose bounds have been checked at the issue.
struct MatrixElements {
  const SharedMatrix &matrix;
  const SharedBytes &shared;
  Element element;

  float at(uint32_t mn, uint32_t k) const {
    uint32_t bytes = 4 / elementsPerRegister(element), address = matrix.address(mn, k, bytes),
             word = 0;
    if (const uint8_t *chunk = shared.chunk(address / kChunkBytes * kChunkBytes))
      std::memcpy(&word, chunk + address % kChunkBytes, bytes);
    return elementValue(element, word, 0);
  }
};

void readKept(Warp &warp, const Op &op, const WgmmaForm &form, const MatrixElements &a,
              unsigned position, KeptRows &rows) {
  Sparsity sparsity = form.sparsity();
  if (form.aInRegisters) {
    const uint32_t *fragments[kRegistersOfA];
    for (unsigned r = 0; r < kRegistersOfA; ++r)
      fragments[r] = warp.row<uint32_t>(rowsOfA(op)[r]);
    readKept(sparsity, fragments, rows);
  } else {
    for (unsigned row = 0; row < kRowsOfWarp; ++row)
      for (unsigned i = 0; i < sparsity.kept(); ++i)
        rows.values[row][i] = a.at(position * kRowsOfWarp + row, i);
  }
  for (unsigned row = 0; form.negates && row < kRowsOfWarp; ++row)
    for (unsigned i = 0; i < sparsity.kept(); ++i)
      rows.values[row][i] = -rows.values[row][i];
}

} // namespace

void readSparsity(Cta &cta, Warpgroup &group, const Op &op, Warpgroup::Issue &issue) {
  Sparsity sparsity = formOf<WgmmaForm>(op).sparsity();
  KeptRows rows;
  for (unsigned position = 0; position < kWarpsOfGroup; ++position) {
    Warp &warp = memberOf(cta, group, position);
    const uint32_t *metadata = warp.row<uint32_t>(rowOfMetadata(op));
    issue.metadata.insert(issue.metadata.end(), metadata, metadata + kLanes);
    readMetadata(sparsity, metadata, rows);
    reportMetadata(warp, op, sparsity, rows, rowOfMetadata(op));
  }
}

void computeSparse(Cta &cta, Warpgroup &group, const Warpgroup::Issue &issue) {
  static thread_local std::vector<float> b;
  const Op &op = *issue.op;
  auto form = formOf<WgmmaForm>(op);
  Sparsity sparsity = form.sparsity();
  SharedBytes shared{std::span(cta.shared.data(), cta.launch->sharedBytes()), kSharedBase};
  Warp &first = memberOf(cta, group, 0);
  SharedMatrix matrixB = wgmmaMatrix(first, op, issue.descriptorB, form.extentOfB()), matrixA;
  if (!form.aInRegisters)
    matrixA = wgmmaMatrix(first, op, issue.descriptorA, form.extentOfA());
  MatrixElements elementsA{matrixA, shared, sparsity.element},
      elementsB{matrixB, shared, static_cast<Element>(form.b)};
  unsigned columns = form.blocks * kBlockColumns;
  b.resize(size_t{sparsity.depth} * columns);
  for (unsigned k = 0; k < sparsity.depth; ++k)
    for (unsigned column = 0; column < columns; ++column)
      b[k * columns + column] = elementsB.at(column, k);
  KeptProduct product{elementsB.element, form.sum, form.blocks,
                      keptRule(cta.launch->program().sumArch, sparsity, form.sum, true)};
  KeptRows rows;
  for (unsigned position = 0; position < kWarpsOfGroup; ++position) {
    Warp &warp = memberOf(cta, group, position);
    readKept(warp, op, form, elementsA, position, rows);
    readMetadata(sparsity, issue.metadata.data() + position * kLanes, rows);
    uint32_t *d[4 * kMaxBlocks];
    for (unsigned r = 0; r < op.targets; ++r)
      d[r] = warp.row<uint32_t>(op.rows[r]);
    multiplyKept(sparsity, rows, b.data(), product, issue.accumulates ? d : nullptr, d);
  }
}

} // namespace tile::vgpu
