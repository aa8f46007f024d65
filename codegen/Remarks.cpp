#include "codegen/Remarks.h"

#include "ir/annotations/LoopAnnotations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile::codegen {
namespace {

/// Operations that read a view or a pointer, or ask for its extents: what they make is no place to store to.
bool onlyReads(Operation *op) {
  return isa<ir::DimOp, ir::StrideOp, ir::ViewLoadOp, ir::LoadOp, ir::PrefetchOp>(op);
}

/// Operations whose results are places in the tensor that their operand is.
bool makesPlaces(Operation *op) {
  return isa<ir::PermuteViewOp, ir::BaseOp, ir::AddPtrOp, ir::SplatOp, ir::BroadcastOp,
             ir::ExpandDimsOp, ir::ReshapeOp, ir::PermuteOp, ir::FactsOp>(op);
}

/// Whether something may store to the tensor; what is not known, such as a call, may.
bool mayBeStoredTo(Value tensor) {
  llvm::SetVector<Value> places;
  places.insert(tensor);
  for (size_t i = 0; i < places.size(); ++i)
    for (Operation *user : Value(places[i]).getUsers()) {
      if (makesPlaces(user))
        places.insert_range(user->getResults());
      else if (!onlyReads(user))
        return true;
    }
  return false;
}

std::string nameOf(func::FuncOp kernel, unsigned argument) {
  auto name = kernel.getArgAttrOfType<StringAttr>(argument, ir::kNameAttr);
  return name ? "'" + name.str() + "'" : std::to_string(argument + 1);
}

} // namespace

std::string neverStored(const std::string &output) {
  return "output " + output + " is never stored to: its tensor keeps what it holds";
}

void emitRemarks(func::FuncOp kernel) {
  for (unsigned argument = 0; argument < kernel.getNumArguments(); ++argument) {
    auto access = kernel.getArgAttrOfType<StringAttr>(argument, ir::kAccessAttr);
    if (access && access.getValue() == "out" && !mayBeStoredTo(kernel.getArgument(argument)))
      kernel.emitRemark() << neverStored(nameOf(kernel, argument));
  }
}

void emitStageRemarks(func::FuncOp kernel) {
  kernel.walk([](scf::ForOp loop) {
    gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop);
    if (plan && plan.getStages() < plan.getAsked())
      loop.emitRemark() << "stages: " << plan.getAsked() << " asked, " << plan.getStages()
                        << " given: " << plan.getReason().getValue();
    if (plan && plan.getWhyNotSkewed())
      loop.emitRemark() << "overlap_dots: the loop stays as it is: "
                        << plan.getWhyNotSkewed().getValue();
    if (plan && plan.getWhyNoProducer())
      loop.emitRemark() << "warp_specialize: the loop stays as it is: "
                        << plan.getWhyNoProducer().getValue();
  });
}

} // namespace tile::codegen
