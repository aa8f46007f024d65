// Prints the IR of Programs.cpp, without locations.
#include "frontend/trace/Kernel.h"
#include "tests/frontend/canonical/Programs.h"

#include <llvm/Support/raw_ostream.h>

int main() {
  try {
    for (const Program &program : programs()) {
      tile::frontend::TracedKernel traced = tile::frontend::trace(
          *program.record, tile::frontend::bindingFor(*program.record, program.consts));
      traced.module->print(llvm::outs());
      for (const tile::frontend::TileUse &use : traced.uses.tiles)
        llvm::outs() << "// tile use: argument " << use.arg << ", dimension " << use.dim
                     << ", extent " << use.extent << "\n";
    }
  } catch (const tile::Error &error) {
    llvm::errs() << error.what() << "\n";
    return 1;
  }
  return 0;
}
