#include "codegen/Compile.h"

#include "codegen/EmitPtx.h"
#include "codegen/EntryName.h"
#include "codegen/Passes.h"
#include "codegen/report/MakeReport.h"
#include "ir/TileGpuDialect.h"
#include "passes/DotLayouts.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <chrono>

using namespace mlir;

namespace tile::codegen {

const char *fileNameOf(Stage stage) {
  constexpr const char *names[] = {"1-tile.mlir", "2-tilegpu.mlir", "3-llvm.mlir", "4-kernel.ll",
                                   "5-kernel.ptx"};
  return names[static_cast<int>(stage)];
}

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Times passes.
class PassWatcher : public PassInstrumentation {
public:
  explicit PassWatcher(std::vector<std::pair<std::string, double>> &timings) : timings(timings) {}
  void runBeforePass(Pass *, Operation *) final { start = Clock::now(); }
  void runAfterPass(Pass *pass, Operation *) final {
    if (!pass->getArgument().empty())
      timings.emplace_back(pass->getArgument().str(), millisecondsSince(start));
  }

private:
  std::vector<std::pair<std::string, double>> &timings;
  Clock::time_point start;
};

Diagnostic toDiagnostic(mlir::Diagnostic &diagnostic) {
  Diagnostic result;
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    result.severity = Diagnostic::Severity::Error;
    break;
  case DiagnosticSeverity::Warning:
    result.severity = Diagnostic::Severity::Warning;
    break;
  case DiagnosticSeverity::Remark:
    result.severity = Diagnostic::Severity::Remark;
    break;
  case DiagnosticSeverity::Note:
    result.severity = Diagnostic::Severity::Note;
  }
  result.message = diagnostic.str();
  if (auto loc = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
    result.file = loc.getFilename().str();
    result.line = static_cast<int>(loc.getLine());
  }
  return result;
}

func::FuncOp findKernel(ModuleOp module) {
  func::FuncOp kernel;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(ir::kKernelAttr)) {
      if (kernel) {
        function.emitError("a module is compiled for one kernel, this is a second one");
        return {};
      }
      kernel = function;
    }
  if (!kernel)
    module.emitError("the module has no kernel: no func.func with attribute tile.kernel");
  return kernel;
}

GridExpression gridOf(func::FuncOp kernel) {
  auto map = kernel->getAttrOfType<AffineMapAttr>(ir::kGridAttr);
  auto symbols = kernel->getAttrOfType<ArrayAttr>(ir::kGridSymbolsAttr);
  if (!map || !symbols)
    return {};
  std::vector<GridExpression::Symbol> list;
  for (Attribute symbol : symbols) {
    auto pair = cast<DenseI32ArrayAttr>(symbol);
    list.push_back({pair[0], pair[1]});
  }
  return GridExpression(map.getValue(), std::move(list));
}

Parameter parameterOf(func::FuncOp kernel, unsigned index) {
  Parameter parameter;
  Type type = kernel.getArgumentTypes()[index];
  parameter.bytes = type.isIntOrFloat() ? std::max(1u, type.getIntOrFloatBitWidth() / 8) : 8;
  auto parts = kernel.getArgAttrOfType<ArrayAttr>(index, passes::kParamAttr);
  if (!parts)
    return parameter;
  parameter.kind = llvm::StringSwitch<Parameter::Kind>(cast<StringAttr>(parts[0]).getValue())
                       .Case("pointer", Parameter::Kind::Pointer)
                       .Case("extent", Parameter::Kind::Extent)
                       .Case("stride", Parameter::Kind::Stride)
                       .Default(Parameter::Kind::Scalar);
  parameter.arg = static_cast<int32_t>(cast<IntegerAttr>(parts[1]).getInt());
  if (parts.size() > 2)
    parameter.dim = static_cast<int32_t>(cast<IntegerAttr>(parts[2]).getInt());
  return parameter;
}

/// One compile: runs the stages and collects what they leave.
class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options) : module(module), options(options) {}

  FailureOr<CompiledKernel> run() {
    std::optional<ir::Target> target = ir::findTarget(options.target);
    if (!target)
      return module.emitError("unknown target '")
             << options.target << "'; known: " << ir::knownTargets();
    func::FuncOp kernel = findKernel(module);
    if (!kernel)
      return failure();
    result.name = entryNameOf(kernel.getName());
    result.target = options.target;
    result.grid = gridOf(kernel);
    keep(Stage::Tile);
    if (failed(runPasses(
            [&](PassManager &manager) { passes::buildPipeline(manager, {options.target}); })))
      return failure();
    keep(Stage::TileGpu);
    readMetadata(findKernel(module));
    makeReportIfAsked(findKernel(module));
    if (failed(runPasses([](PassManager &manager) {
          manager.addPass(createLowerToScalars());
          manager.addPass(createScalarsToLlvm());
          // Lines for reports and profilers. More than directives would put `debug` on `.target`, which ruins the code.
          manager.addPass(
              LLVM::createDIScopeForLLVMFuncOpPass({LLVM::DIEmissionKind::DebugDirectivesOnly}));
        })))
      return failure();
    keep(Stage::Llvm);
    return emit(*target);
  }

private:
  LogicalResult runPasses(function_ref<void(PassManager &)> build) {
    PassManager manager(module.getContext());
    manager.enableVerifier(options.verifyEach);
    if (options.timePasses)
      manager.addInstrumentation(std::make_unique<PassWatcher>(result.timings));
    build(manager);
    return manager.run(module);
  }

  void keep(Stage stage) {
    if (!options.keepStages)
      return;
    std::vector<SourceLine> lines;
    result.stages.emplace_back(stage, printWithLines(module, lines));
    stageLines.push_back({stage, std::move(lines)});
  }

  // Of the kernel as it is now; the stages' lines follow when all are known.
  void makeReportIfAsked(func::FuncOp kernel) {
    if (options.keepReport)
      report = std::make_shared<KernelReport>(makeReport(kernel));
  }

  void readMetadata(func::FuncOp kernel) {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      result.parameters.push_back(parameterOf(kernel, i));
    result.threads = static_cast<int32_t>(passes::warpsOf(kernel) * ir::kWarpSize);
    if (auto bytes = kernel->getAttrOfType<IntegerAttr>(gpu::kSharedBytesAttr))
      result.sharedBytes = bytes.getInt();
  }

  FailureOr<CompiledKernel> emit(const ir::Target &target) {
    Clock::time_point start = Clock::now();
    FailureOr<EmittedPtx> emitted = emitPtx(module, target, options.keepStages);
    if (failed(emitted))
      return failure();
    if (options.timePasses)
      result.timings.emplace_back("llvm-to-ptx", millisecondsSince(start));
    result.ptx = std::move(emitted->ptx);
    if (options.keepStages) {
      result.stages.emplace_back(Stage::LlvmIr, std::move(emitted->llvmIr));
      result.stages.emplace_back(Stage::Ptx, result.ptx);
    }
    if (report) {
      report->stageLines = std::move(stageLines);
      result.report = std::move(report);
    }
    return std::move(result);
  }

  ModuleOp module;
  const CompileOptions &options;
  std::shared_ptr<KernelReport> report;
  std::vector<StageLines> stageLines;
  CompiledKernel result;
};

} // namespace

FailureOr<CompiledKernel> compile(ModuleOp module, const CompileOptions &options,
                                  std::vector<Diagnostic> &diagnostics) {
  module.getContext()->printOpOnDiagnostic(
      false); // messages name the user's line; IR is in the dumps
  ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    diagnostics.push_back(toDiagnostic(diagnostic));
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      diagnostics.push_back(toDiagnostic(note));
    return success();
  });
  FailureOr<CompiledKernel> kernel = Compilation(module, options).run();
  if (succeeded(kernel))
    for (const Diagnostic &diagnostic : diagnostics)
      kernel->remarks.push_back(diagnostic);
  return kernel;
}

} // namespace tile::codegen
