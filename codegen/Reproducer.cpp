#include "codegen/Reproducer.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace tile::codegen {

/// "builtin.module(func.func(tile-assign-layouts))"
static std::string pipelineOf(Operation *op, Pass *pass) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "builtin.module(";
  if (!isa<ModuleOp>(op))
    os << op->getName() << "(";
  pass->printAsTextualPipeline(os);
  os << (isa<ModuleOp>(op) ? ")" : "))");
  return text;
}

static ModuleOp moduleOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  return module ? module : op->getParentOfType<ModuleOp>();
}

void writeReproducer(const CompileOptions &options, Operation *op, Pass *pass) {
  std::error_code fault;
  llvm::raw_fd_ostream out(options.reproducer, fault, llvm::sys::fs::OF_Text);
  if (fault)
    return;
  ModuleOp module = moduleOf(op);
  OpPrintingFlags flags;
  flags.enableDebugInfo(true, false).assumeVerified();
  AsmState state(module, flags);
  if (pass)
    state.attachResourcePrinter("mlir_reproducer", [&](Operation *, AsmResourceBuilder &builder) {
      builder.buildString("pipeline", pipelineOf(op, pass));
      builder.buildBool("disable_threading", true);
      builder.buildBool("verify_each", true);
    });
  else
    out << "// mlir-translate --mlir-to-llvmir FILE | llc -mtriple=nvptx64-nvidia-cuda -mcpu="
        << options.target << "\n";
  module->print(out, state);
  out << "\n";
  out.clear_error(); // a full disk is no reason to stop a compile
}

std::string newReproducerPath() {
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("tilec-reproducer", "mlir", path))
    return {};
  return path.str().str();
}

std::string howToReproduce(const std::string &path) {
  uint64_t bytes = 0;
  if (path.empty() || llvm::sys::fs::file_size(path, bytes) || bytes == 0)
    return {};
  auto buffer = llvm::MemoryBuffer::getFile(path);
  bool isForPasses = buffer && (*buffer)->getBuffer().contains("mlir_reproducer");
  return isForPasses ? "tile-opt --run-reproducer " + path : "the first line of " + path;
}

} // namespace tile::codegen
