// Reading a KernelReport off the IR. Each topic has a file.
#pragma once

#include "codegen/report/KernelReport.h"
#include "codegen/report/LaunchFacts.h"
#include "ir/LayoutAttr.h"
#include "ir/target/Target.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tile::codegen {

/// Everything but `stageLines`, `registers` and what is of a launch, from a kernel in dialect tilegpu.
KernelReport makeReport(mlir::func::FuncOp kernel);

/// Fills in copies, products and their traffic.
void reportVariants(mlir::func::FuncOp kernel, KernelReport &report);
/// Fills in loops.
void reportLoops(mlir::func::FuncOp kernel, KernelReport &report);
/// Fills in changes of layout, transfers, barriers and allocations.
void reportShared(mlir::func::FuncOp kernel, KernelReport &report);
/// Fills in registers, as they are estimated.
void reportRegisters(mlir::func::FuncOp kernel, const ir::Target &target, KernelReport &report);
/// Fills in work.
void reportWork(mlir::func::FuncOp kernel, KernelReport &report);
/// Fills in the work of a launch of so many programs, and how often each scope is carried out in it. Without facts or a grid: of a
/// program, if that is the same for all arguments.
void reportLaunch(mlir::func::FuncOp kernel, const LaunchFacts *facts,
                  std::optional<std::array<int64_t, 3>> grid, KernelReport &report);

/// Programs along each axis of a launch, of a kernel whose threads take so many registers; nothing where neither it nor the launch
/// says.
std::optional<std::array<int64_t, 3>> programsOf(const LaunchFacts &launch,
                                                 const CompiledKernel &kernel, int64_t registers);

/// The text of a module, and the source line of each of its lines.
std::string printWithLines(mlir::ModuleOp module, std::vector<SourceLine> &lines);

/// The first file and line a location names.
SourceLine sourceLineOf(mlir::Location location);
/// Extents of a tile in registers or in shared memory; none of a scalar.
llvm::ArrayRef<int64_t> extentsOf(mlir::Type type);
/// Elements along K that a matrix product in any of its forms sums.
int64_t depthOf(mlir::Operation *product);
/// "128x32", "scalar"
std::string shapeText(mlir::Type type);
/// "f16", "i1"; of pointers their pointee
std::string dtypeText(mlir::Type type);

/// Elements along `dim`: those of a run of `run` lie `step` elements apart; where the next run lies is known only if there
/// is none.
struct AlongMemory {
  int64_t run = 1, step = 1;
};
/// What accesses of a tile in this layout touch; different runs are taken to lie apart.
GlobalTraffic trafficOf(const layout::Layout &layout, int dim, AlongMemory along, int64_t vector,
                        int64_t elementBytes);

/// Elements that warp-wide accesses of `vector` elements a lane ask for, each counted once an access, as a part of the tile's elements;
/// those that differ only along `sameDims` (bits) are one.
double requestsPerElement(const layout::Layout &layout, int64_t vector, uint32_t sameDims);

/// Warps that have each element of a tile in this layout.
int64_t warpsPerElement(const layout::Layout &layout);

} // namespace tile::codegen
