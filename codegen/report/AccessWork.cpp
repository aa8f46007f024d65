#include "codegen/report/AccessWork.h"

#include "codegen/report/WorkOfOp.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;

namespace tile::codegen {

AccessWork::AccessWork(const ScalarAccess &access, int64_t blocks) : op_(access.op) {
  OpWork all = workOf(access.op);
  auto elements = static_cast<double>(llvm::product_of(access.shape));
  elementBytes_ = static_cast<double>(std::max(all.bytesRead, all.bytesWritten)) / elements;
  reads_ = all.bytesRead > 0, writes_ = all.bytesWritten > 0;
  auto copy = dyn_cast<gpu::TensorCopyOp>(access.op);
  isByTma_ = copy != nullptr;
  if (copy && copy.getMulticast())
    share_ = 1.0 / static_cast<double>(blocks);
}

double AccessWork::requests(uint32_t sameDims) {
  if (!isa<ir::ViewLoadOp, ir::LoadOp>(op_))
    return 1;
  auto tile = dyn_cast<RankedTensorType>(op_->getResult(0).getType());
  if (!tile)
    return static_cast<double>(ir::warpsOf(op_));
  auto [known, isNew] = requests_.try_emplace(sameDims);
  if (isNew) {
    gpu::AccessAttr access = gpu::accessOf(op_);
    known->second =
        requestsPerElement(gpu::layoutOf(tile), access ? access.getVector() : 1, sameDims);
  }
  return known->second;
}

} // namespace tile::codegen
