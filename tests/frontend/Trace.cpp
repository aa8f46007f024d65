// The one source of these tests that knows MLIR.
#include "tests/frontend/Trace.h"

#include "frontend/trace/Kernel.h"

#include <llvm/Support/raw_ostream.h>

#include <stdexcept>

namespace tile::test {

/// Every operation lies at a line of the user's program: here, of a test.
static void expectUsersLines(mlir::ModuleOp module) {
  module.walk([](mlir::Operation *op) {
    auto line = mlir::dyn_cast<mlir::FileLineColLoc>(op->getLoc());
    llvm::StringRef file = line ? line.getFilename().getValue() : "";
    if (file.contains("frontend/") && !file.contains("tests/frontend/"))
      throw std::logic_error((op->getName().getStringRef() + " lies at a line of the library, " +
                              file + ":" + llvm::Twine(line.getLine()))
                                 .str());
  });
}

Traced trace(const detail::KernelRecord &record, const frontend::Binding &binding) {
  frontend::TracedKernel traced = frontend::trace(record, binding);
  expectUsersLines(*traced.module);
  Traced result;
  result.uses = traced.uses;
  llvm::raw_string_ostream plain(result.ir), located(result.irWithLocations);
  traced.module->print(plain);
  traced.module->print(located, mlir::OpPrintingFlags().enableDebugInfo(true, true));
  return result;
}

int count(const std::string &text, const std::string &piece) {
  int found = 0;
  for (size_t at = text.find(piece); at != std::string::npos;
       at = text.find(piece, at + piece.size()))
    ++found;
  return found;
}

} // namespace tile::test
