#include "codegen/Compile.h"

#include "codegen/CudaFunctions.h"
#include "codegen/EmitPtx.h"
#include "codegen/EntryName.h"
#include "codegen/MemoryStages.h"
#include "codegen/PassRunner.h"
#include "codegen/Pipeline.h"
#include "codegen/Remarks.h"
#include "codegen/Reproducer.h"
#include "codegen/report/MakeReport.h"
#include "ir/DependentLaunch.h"
#include "ir/KnownTarget.h"
#include "ir/UserError.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "passes/Pipeline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace tile::codegen {

const char *fileNameOf(Stage stage) {
  constexpr const char *names[] = {"1-tile.mlir", "2-tilegpu.mlir", "3-llvm.mlir", "4-kernel.ll",
                                   "5-kernel.ptx"};
  return names[static_cast<int>(stage)];
}

namespace {

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
  result.userError = ir::userErrorCodeOf(diagnostic);
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
        ir::userError(function.emitError(), ErrorCode::InvalidArgument)
            << "a module is compiled for one kernel, this is a second one";
        return {};
      }
      kernel = function;
    } else if (!function->hasAttr(ir::kCallableAttr) && !function.isDeclaration() &&
               SymbolTable::symbolKnownUseEmpty(function, module)) {
      ir::userError(function.emitError(), ErrorCode::InvalidArgument)
          << "a module is compiled for one kernel and what it calls: function '"
          << function.getName() << "' is neither";
      return {};
    }
  if (!kernel)
    ir::userError(module.emitError(), ErrorCode::InvalidArgument)
        << "the module has no kernel: no func.func with attribute tile.kernel";
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

Parameter::Kind kindOf(ir::ParamKind kind) {
  switch (kind) {
  case ir::ParamKind::Pointer:
    return Parameter::Kind::Pointer;
  case ir::ParamKind::Extent:
    return Parameter::Kind::Extent;
  case ir::ParamKind::Stride:
    return Parameter::Kind::Stride;
  case ir::ParamKind::Workspace:
    return Parameter::Kind::Workspace;
  case ir::ParamKind::Counters:
    return Parameter::Kind::Counters;
  case ir::ParamKind::Scalar:
    break;
  }
  return Parameter::Kind::Scalar;
}

Parameter parameterOf(func::FuncOp kernel, unsigned index) {
  Parameter parameter;
  Type type = kernel.getArgumentTypes()[index];
  parameter.bytes = type.isIntOrFloat() ? std::max(1u, type.getIntOrFloatBitWidth() / 8) : 8;
  if (ir::ParamAttr param = ir::paramOf(kernel, index)) {
    parameter.kind = kindOf(param.getKind());
    parameter.arg = param.getArg();
    parameter.dim = param.getDim();
  }
  return parameter;
}

TensorMapRecipe recipeOf(gpu::TensorMapAttr map) {
  TensorMapRecipe recipe;
  recipe.arg = map.getArg();
  recipe.element =
      map.getElement().isTF32()
          ? TensorMapRecipe::Element::Rounded
          : static_cast<TensorMapRecipe::Element>(llvm::Log2_64(gpu::bytesOf(map.getElement())));
  recipe.dims = map.getDims().vec();
  recipe.box = map.getBox().vec();
  recipe.swizzle = map.getSwizzle();
  return recipe;
}

/// One compile: runs the stages and collects what they leave.
class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options)
      : module_(module), options_(options), runner_(module, options, result_.timings) {}

  FailureOr<CompiledKernel> run() {
    FailureOr<ir::Target> target = ir::knownTarget(module_, options_.target);
    if (failed(target))
      return failure();
    func::FuncOp kernel = findKernel(module_);
    if (!kernel)
      return failure();
    result_.name = entryNameOf(kernel.getName());
    result_.target = options_.target;
    result_.grid = gridOf(kernel);
    result_.persistent = kernel->hasAttr(ir::kPersistentAttr);
    allowFusion_ = !kernel->hasAttr(ir::kNoFusionAttr);
    result_.cudaFunctions = cudaFunctionsOf(module_);
    keep(Stage::Tile);
    emitRemarks(kernel);
    if (failed(runner_.run([&](PassManager &manager) {
          passes::buildLayoutPipeline(manager, {options_.target});
        })) ||
        failed(placeInSharedMemory(module_, runner_, options_.target)) ||
        failed(
            runner_.run([&](PassManager &manager) { buildLaunchWaits(manager, options_.target); })))
      return failure();
    keep(Stage::TileGpu); // before the checks, which it shows the reason of
    if (failed(runner_.run(
            [&](PassManager &manager) { passes::buildChecks(manager, {options_.target}); })))
      return failure();
    emitStageRemarks(findKernel(module_));
    readMetadata(findKernel(module_), *target);
    makeReportIfAsked(findKernel(module_), *target);
    if (failed(runner_.run(
            [&](PassManager &manager) { buildScalarPipeline(manager, options_.target); })))
      return failure();
    readTensorMaps();
    if (failed(runner_.run([](PassManager &manager) { buildLlvmPipeline(manager); })))
      return failure();
    keep(Stage::Llvm);
    return emit(*target);
  }

private:
  void keep(Stage stage) {
    if (!options_.keepStages && !options_.onStage)
      return;
    std::vector<SourceLine> lines;
    std::string text = printWithLines(module_, lines);
    if (options_.onStage)
      options_.onStage(stage, text);
    if (!options_.keepStages)
      return;
    result_.stages.emplace_back(stage, std::move(text));
    stageLines_.push_back({stage, std::move(lines)});
  }

  // Of the kernel as it is now; the stages' lines follow when all are known.
  void makeReportIfAsked(func::FuncOp kernel, const ir::Target &target) {
    if (!options_.keepReport)
      return;
    report_ = std::make_shared<KernelReport>(makeReport(kernel));
    reportRegisters(kernel, target, *report_);
    const LaunchFacts *launch = options_.launch ? &*options_.launch : nullptr;
    reportLaunch(kernel, launch,
                 launch ? programsOf(*launch, result_, report_->reportedRegisters) : std::nullopt,
                 *report_);
  }

  void readMetadata(func::FuncOp kernel, const ir::Target &target) {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      result_.parameters.push_back(parameterOf(kernel, i));
    result_.threads = gpu::threadsOf(kernel);
    result_.cluster = static_cast<int32_t>(ir::clusterOf(kernel));
    result_.sharedBytes = gpu::sharedBytesOf(kernel).value_or(0);
    if (gpu::WorkspaceAttr workspace = gpu::workspaceOf(kernel))
      result_.workspace = {workspace.getBytes(), workspace.getCounters(), workspace.getPrograms()};
    result_.waits = kernel->hasAttr(ir::kDependentAttr) && target.hasDependentLaunch;
  }

  // The lowering adds a parameter for each map that a copy needs.
  void readTensorMaps() {
    for (auto function : module_.getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (gpu::TensorMapAttr map = gpu::tensorMapOf(function, i))
          result_.tensorMaps.push_back(recipeOf(map));
  }

  FailureOr<CompiledKernel> emit(const ir::Target &target) {
    runner_.keepBeforePtx();
    FailureOr<EmittedPtx> emitted =
        emitPtx(module_, target, options_, allowFusion_, runner_.switches(), result_.timings);
    if (failed(emitted))
      return failure();
    result_.ptx = std::move(emitted->ptx);
    if (options_.keepStages) {
      result_.stages.emplace_back(Stage::LlvmIr, std::move(emitted->llvmIr));
      result_.stages.emplace_back(Stage::Ptx, result_.ptx);
    }
    if (report_) {
      report_->stageLines = std::move(stageLines_);
      result_.report = std::move(report_);
    }
    return std::move(result_);
  }

  ModuleOp module_;
  const CompileOptions &options_;
  std::shared_ptr<KernelReport> report_;
  std::vector<StageLines> stageLines_;
  bool allowFusion_ = true; ///< a * b + c may become one operation
  CompiledKernel result_;
  PassRunner runner_;
};

FailureOr<CompiledKernel> compileOnce(ModuleOp module, const CompileOptions &options,
                                      std::vector<Diagnostic> &diagnostics) {
  ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    diagnostics.push_back(toDiagnostic(diagnostic));
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      diagnostics.push_back(toDiagnostic(note));
    return success();
  });
  return Compilation(module, options).run();
}

/// Compiles again, with the IR kept before each step, for a note that says how to see the fault.
void reproduce(ModuleOp module, CompileOptions options, std::vector<Diagnostic> &diagnostics) {
  if (options.reproducer.empty())
    options.reproducer = newReproducerPath();
  options.verifyEach = true; // names the pass that left invalid IR, not the one that met it
  std::vector<Diagnostic> seenBefore;
  bool isGone = succeeded(compileOnce(module, options, seenBefore));
  std::string how = isGone ? "" : howToReproduce(options.reproducer);
  if (how.empty())
    llvm::sys::fs::remove(options.reproducer);
  else
    diagnostics.push_back({Diagnostic::Severity::Note, "to see it again: " + how, {}, 0, {}});
}

} // namespace

bool isUserError(const std::vector<Diagnostic> &diagnostics) {
  auto error = llvm::find_if(diagnostics, [](const Diagnostic &diagnostic) {
    return diagnostic.severity == Diagnostic::Severity::Error;
  });
  return error != diagnostics.end() && error->userError;
}

FailureOr<CompiledKernel> compile(ModuleOp module, const CompileOptions &options,
                                  std::vector<Diagnostic> &diagnostics) {
  module.getContext()->printOpOnDiagnostic(
      false); // messages name the user's line; IR is in the dumps
  OwningOpRef<ModuleOp> original = module.clone();
  FailureOr<CompiledKernel> kernel = compileOnce(module, options, diagnostics);
  if (succeeded(kernel))
    kernel->remarks = diagnostics;
  else if (!isUserError(diagnostics))
    reproduce(*original, options, diagnostics);
  if (!options.reproducer.empty() && (succeeded(kernel) || isUserError(diagnostics)))
    llvm::sys::fs::remove(options.reproducer);
  return kernel;
}

} // namespace tile::codegen
