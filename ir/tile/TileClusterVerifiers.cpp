// What the operations among blocks of a cluster reject: one message a rule.
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/tile/TileDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;

// Parts are told apart by bits of places in shared memory.
static LogicalResult verifyParts(ClusterSumOp op, ArrayRef<int64_t> whole, int64_t blocks) {
  if (!llvm::all_of(whole, llvm::isPowerOf2_64))
    return op.emitOpError("the extents of a sum that is scattered must be powers of two");
  if (whole.front() % blocks)
    return op.emitOpError("dimension 0 has no part for each of ")
           << blocks << " blocks: its extent is " << whole.front();
  return success();
}

LogicalResult ClusterSumOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()),
       result = cast<RankedTensorType>(getResult().getType());
  int64_t blocks = clusterOf(*this);
  if (blocks < 2)
    return emitOpError("needs a kernel whose programs are divided among several blocks");
  SmallVector<int64_t> expected(input.getShape());
  if (getScatter()) {
    if (failed(verifyParts(*this, expected, blocks)))
      return failure();
    expected.front() /= blocks;
  }
  if (result.getShape() != ArrayRef(expected) || result.getElementType() != input.getElementType())
    return emitOpError("result must be ")
           << RankedTensorType::get(expected, input.getElementType()) << ", got " << result;
  return success();
}
