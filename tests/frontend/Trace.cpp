// The one source of these tests that knows MLIR.
#include "tests/frontend/Trace.h"

#include "frontend/Kernel.h"

#include <llvm/Support/raw_ostream.h>

namespace tile::test {

Traced trace(const detail::KernelRecord &record, const frontend::Binding &binding) {
  frontend::TracedKernel traced = frontend::trace(record, binding);
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
