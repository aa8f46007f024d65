// Registers: what the threads of each role need, and where.
#include "codegen/report/MakeReport.h"

#include "passes/registers/RegisterEstimate.h"

using namespace mlir;

namespace tile::codegen {

static RegisterReport reportOf(const passes::RegisterEstimate &estimate, const char *who) {
  RegisterReport report{who, estimate.needed, estimate.expected, estimate.limit, {}, {}};
  if (estimate.worst) {
    report.where = sourceLineOf(estimate.worst->getLoc());
    report.operation = estimate.worst->getName().getStringRef();
  }
  return report;
}

void reportRegisters(func::FuncOp kernel, const ir::Target &target, KernelReport &report) {
  passes::KernelRegisters registers = passes::estimateRegisters(kernel, target);
  report.reportedRegisters = registers.reported();
  report.registers.push_back(
      reportOf(registers.compute, registers.producer ? "a thread that computes" : "a thread"));
  if (registers.producer)
    report.registers.push_back(reportOf(*registers.producer, "a thread that fills rings"));
}

} // namespace tile::codegen
