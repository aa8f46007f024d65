// Any bytes as IR: a verified module or diagnostics. As `tilec` does, the text is scanned first,
// since MLIR's parser is not made for hostile input.
#include "ir/Context.h"
#include "tests/fuzz/parsers/MemoryFile.h"
#include "tools/tilec/input/Scan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <tile/Error.h>

namespace {

/// Attributes live as long as their context: it is made anew before it has eaten the memory.
mlir::MLIRContext &freshContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 5000 == 0)
    context = tile::ir::makeContext();
  return *context;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tile::fuzz::MemoryFile file;
  if (!file.write(data, size))
    return 0;
  std::string text;
  try {
    text = tile::tilec::readSource(file.path());
  } catch (const tile::Error &) {
    return 0;
  }
  mlir::MLIRContext &context = freshContext();
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  return 0;
}
