// Copies of tensors whose rows are not aligned.
#include "ops/AlignedRows.h"

#include "ops/NewTensor.h"

#include <tile/ops/Arithmetic.h>

namespace tile::ops {

namespace {

constexpr int64_t kAlignment = 16; // bytes of a vector access
constexpr int64_t kWhole = 8;      // elements; what divides an extent spares masks

/// Not initialised.
Tensor withAlignedRows(const Stream &stream, const Operand &x) {
  int last = x.rank() - 1;
  Extents extents(x);
  extents[last] = (extents[last] + kWhole - 1) / kWhole * kWhole;
  return stream.tensor(x.dtype(), extents.span());
}

} // namespace

bool hasAlignedRows(const Operand &x) {
  int last = x.rank() - 1;
  auto isMultiple = [](int64_t bytes) { return bytes % kAlignment == 0; };
  if (x.extent(last) % kWhole != 0 || x.stride(last) != 1 ||
      !isMultiple(static_cast<int64_t>(reinterpret_cast<uintptr_t>(x.data()))))
    return false;
  for (int dim = 0; dim < last; ++dim)
    if (!isMultiple(x.stride(dim) * static_cast<int64_t>(sizeOf(x.dtype()))))
      return false;
  return true;
}

AlignedInput::AlignedInput(CallSite site, const Operand &x) : rows_(x) {
  if (hasAlignedRows(x))
    return;
  copy_ = withAlignedRows(site.stream, x);
  rows_ = copy_;
  int last = x.rank() - 1;
  int64_t length = x.extent(last), extended = rows_.extent(last);
  copy(site.stream, x, rows_.slice(last, 0, length), site.where);
  if (extended != length)
    fill(site.stream, 0, rows_.slice(last, length, extended - length), site.where);
}

AlignedOutput::AlignedOutput(CallSite site, const Operand &y) : target_(y), rows_(y) {
  if (hasAlignedRows(y))
    return;
  temporary_ = withAlignedRows(site.stream, y);
  rows_ = temporary_;
}

void AlignedOutput::finish(CallSite site) const {
  int last = target_.rank() - 1;
  if (temporary_)
    copy(site.stream, rows_.slice(last, 0, target_.extent(last)), target_, site.where);
}

} // namespace tile::ops
