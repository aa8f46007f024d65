// The parts every topic of a report needs: lines, names of tiles, text with line numbers.
#include "codegen/report/MakeReport.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "mlir/IR/AsmState.h"

using namespace mlir;

namespace tile::codegen {

SourceLine sourceLineOf(Location location) {
  if (auto at = location->findInstanceOf<FileLineColLoc>())
    return {at.getFilename().str(), static_cast<int>(at.getLine())};
  return {};
}

ArrayRef<int64_t> extentsOf(Type type) {
  if (auto smem = dyn_cast<gpu::SmemType>(type))
    return smem.getShape();
  return ir::shapeOf(gpu::tileOf(type));
}

int64_t depthOf(Operation *product) {
  if (auto run = dyn_cast<gpu::DotAsyncOp>(product)) {
    auto [first, end] = run.getSpan();
    return end - first;
  }
  return extentsOf(product->getOperand(0).getType()).back();
}

std::string shapeText(Type type) {
  std::string text;
  for (int64_t extent : extentsOf(type))
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "scalar" : text;
}

std::string dtypeText(Type type) {
  auto smem = dyn_cast<gpu::SmemType>(type);
  Type element = smem ? smem.getElementType() : ir::elementTypeOf(gpu::tileOf(type));
  if (auto pointer = dyn_cast<ir::PtrType>(element))
    element = pointer.getPointeeType();
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

std::string printWithLines(ModuleOp module, std::vector<SourceLine> &lines) {
  AsmState::LocationMap places;
  AsmState state(module, OpPrintingFlags(), &places);
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, state);
  lines.assign(llvm::count(text, '\n') + 1, {});
  for (auto &[op, place] : places)
    if (!isa<ModuleOp>(op) && place.first >= 1 && place.first <= lines.size())
      lines[place.first - 1] = sourceLineOf(op->getLoc());
  return text;
}

KernelReport makeReport(func::FuncOp kernel) {
  KernelReport report;
  report.where = sourceLineOf(kernel.getLoc());
  report.warps = ir::warpsOf(kernel);
  report.teams = ir::teamsOf(kernel);
  if (gpu::WarpSpecializeOp roles = gpu::rolesOf(kernel))
    if (std::optional<unsigned> producer = roles.find(gpu::RoleKind::Producer))
      report.producerWarps = roles.getRole(*producer).getWarps();
  report.cluster = ir::clusterOf(kernel);
  report.sharedBytes = gpu::sharedBytesOf(kernel).value_or(0);
  reportVariants(kernel, report);
  reportLoops(kernel, report);
  reportShared(kernel, report);
  reportWork(kernel, report);
  return report;
}

} // namespace tile::codegen
