#include "codegen/CudaFunctions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace tile::codegen {

std::string cudaSymbolOf(ir::InlineCudaOp op) {
  std::string all;
  for (StringRef part : {op.getSource(), op.getEntry(), op.getSignature()})
    all += std::to_string(part.size()) + ":" + part.str();
  return "tile_cuda_" + llvm::utohexstr(llvm::xxh3_64bits(all), /*LowerCase=*/true, 16);
}

std::vector<CudaFunction> cudaFunctionsOf(ModuleOp module) {
  std::vector<CudaFunction> functions;
  module.walk([&](ir::InlineCudaOp op) {
    CudaFunction function;
    function.symbol = cudaSymbolOf(op);
    if (llvm::is_contained(llvm::map_range(functions, [](auto &f) { return f.symbol; }),
                           function.symbol))
      return;
    function.source = op.getSource().str();
    function.entry = op.getEntry().str();
    for (StringRef dtype : ir::InlineCudaOp::dtypesOf(op.getSignature()))
      function.dtypes.push_back(dtype.str());
    if (auto where = op.getLoc()->findInstanceOf<FileLineColLoc>()) {
      function.file = where.getFilename().str();
      function.line = static_cast<int>(where.getLine());
    }
    functions.push_back(std::move(function));
  });
  return functions;
}

} // namespace tile::codegen
