// Tensors whose rows, the last dimension, are whole vectors: what tensor-core kernels load. Element by
// element rows would be slow, and need more registers for addresses and masks than there are.
#pragma once

#include <tile/Kernel.h>
#include <tile/Tensor.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

/// True if rows are contiguous, begin at multiples of 16 bytes and have a multiple of 8 elements.
bool hasAlignedRows(const Operand &x);

/// x, or a copy with aligned rows, which zeros extend.
class AlignedInput {
public:
  AlignedInput(CallSite site, const Operand &x);
  const Operand &rows() const { return rows_; }

private:
  Tensor copy_;
  Operand rows_;
};

/// y, or a tensor with aligned, extended rows in its place that `finish` copies to y.
class AlignedOutput {
public:
  AlignedOutput(CallSite site, const Operand &y);
  const Operand &rows() const { return rows_; }
  void finish(CallSite site) const;

private:
  Tensor temporary_;
  Operand target_, rows_;
};

} // namespace tile::ops
