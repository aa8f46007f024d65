// What the operations among programs of a launch reject: one message a rule.
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/target/Target.h"
#include "ir/tile/TileDialect.h"

using namespace mlir;
using namespace tile::ir;

// A program that did not come, or came twice, would spoil the count of those that have.
static bool isCarriedOutOnce(GridSumOp op) {
  return op->getParentOp() && op->getParentOp()->hasAttr(kKernelAttr);
}

LogicalResult GridSumOp::verify() {
  if (getPrograms() < 2 || getPrograms() > kMostProgramsOfSum)
    return emitOpError("adds up tiles of 2 to ")
           << kMostProgramsOfSum << " programs, not of " << getPrograms();
  if (!isCarriedOutOnce(*this))
    return emitOpError("must be carried out by all programs, once: not in a loop, a branch or a "
                       "function that is called");
  if (clusterOf(*this) > 1 || teamsOf(*this) > 1)
    return emitOpError("is for programs that are one block and one team");
  return success();
}
