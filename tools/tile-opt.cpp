// tile-opt: runs passes on textual IR, for tests and for people working on passes.
#include "codegen/Passes.h"
#include "ir/Context.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tile::ir::registerDialects(registry);
  mlir::registerTransformsPasses();
  tile::passes::registerTilePasses();
  tile::passes::registerPipeline();
  tile::codegen::registerTileCodegenPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tilec pass driver\n", registry));
}
