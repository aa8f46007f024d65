#include "passes/staging/StagedOperand.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/DotAnnotations.h"

using namespace mlir;

namespace tile::passes {

gpu::SmemType transposed(gpu::SmemType memory) {
  ArrayRef<int64_t> shape = memory.getShape();
  MLIRContext *context = memory.getContext();
  return gpu::SmemType::get(context, {shape[1], shape[0]}, memory.getElementType(),
                            gpu::attributeOf(context, gpu::sharedOf(memory).permuted({1, 0})));
}

gpu::DotAsyncOp beginDot(OpBuilder &builder, ir::DotOp dot, const StagedOperands &operands,
                         Value acc, Value reset, DenseI64ArrayAttr range) {
  auto [a, b] = operands;
  auto product =
      gpu::DotAsyncOp::create(builder, dot.getLoc(), a.value, b.value, acc, reset,
                              dot.getOperandsUnsigned(), range, a.isTransposed, b.isTransposed);
  product->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
  gpu::removeKMajor(product);
  return product;
}

} // namespace tile::passes
