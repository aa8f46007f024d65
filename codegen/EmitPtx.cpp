#include "codegen/EmitPtx.h"

#include "codegen/Pipeline.h"
#include "codegen/math/Library.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <chrono>
#include <mutex>

using namespace mlir;

namespace tile::codegen {

namespace {

// Pointers into shared memory have 32 bits: cheaper address arithmetic. Those into local and constant memory become generic
// ones, and the back end knows that of 64 bits alone.
constexpr const char *kDataLayout = "e-p3:32:32-p6:32:32-p7:32:32-i64:64-i128:128-"
                                    "i256:256-v16:16-v32:32-n16:32:64";

void initializeBackend() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const ir::Target &target, bool allowFusion,
                                                       std::string &error) {
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = allowFusion ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  std::string features = "+ptx" + std::to_string(target.ptxVersion);
  return std::unique_ptr<llvm::TargetMachine>(
      backend->createTargetMachine(triple, target.name, features, options, llvm::Reloc::PIC_,
                                   std::nullopt, llvm::CodeGenOptLevel::Default));
}

// Whether threads of a warp depend on each other in a piece of assembly, which LLVM does not read: it does something, or it
// says so in its text. What is left computes, such as `cvt.rna.tf32`, and may be moved or made once for all branches.
bool mayInvolveOtherThreads(const llvm::InlineAsm &assembly) {
  StringRef text = assembly.getAsmString();
  return assembly.hasSideEffects() || text.contains(".sync") || text.contains("activemask");
}

// MLIR's inline_asm cannot say it: without the mark simplifycfg copies a `bar.sync` into both arms of a branch on which the
// threads of a warp part.
void markAssemblyConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && call->isInlineAsm())
        if (mayInvolveOtherThreads(*llvm::cast<llvm::InlineAsm>(call->getCalledOperand())))
          call->setConvergent();
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine, passes::PassSwitches &switches) {
  llvm::PassInstrumentationCallbacks callbacks;
  if (switches.isActive())
    callbacks.registerShouldRunOptionalPassCallback([&](StringRef type, const llvm::Any &) {
      return switches.shouldRun(callbacks.getPassNameForClassName(type));
    });
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(), std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::ModulePassManager manager;
  buildOptimization(manager);
  manager.run(module, modules);
}

// The library relies on each operation being rounded, so a*b+c may be one operation in the kernel's own code only.
Refusal addLibrary(llvm::Module &module, llvm::TargetMachine &machine) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (llvm::isa<llvm::BinaryOperator>(instruction) &&
          llvm::isa<llvm::FPMathOperator>(instruction))
        instruction.setHasAllowContract(true);
  machine.Options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return linkLibrary(module);
}

/// Times steps that follow one another.
class StepClock {
public:
  StepClock(bool isOn, Timings &timings) : isOn_(isOn), timings_(timings) {}
  void step(const char *name) {
    auto now = std::chrono::steady_clock::now();
    if (isOn_)
      timings_.emplace_back(name, std::chrono::duration<double, std::milli>(now - start_).count());
    start_ = now;
  }

private:
  bool isOn_;
  Timings &timings_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string printed(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, nullptr);
  return text;
}

} // namespace

FailureOr<EmittedPtx> emitPtx(ModuleOp module, const ir::Target &target,
                              const CompileOptions &options, bool allowFusion,
                              passes::PassSwitches &switches, Timings &timings) {
  StepClock clock(options.timePasses, timings);
  initializeBackend();
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  registerNVVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(module, context, "kernel");
  if (!llvmModule)
    return failure();
  markAssemblyConvergent(*llvmModule);
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, allowFusion, error);
  if (!machine)
    return module.emitError("LLVM has no NVPTX back end: ") << error;
  llvmModule->setTargetTriple(llvm::Triple("nvptx64-nvidia-cuda"));
  llvmModule->setDataLayout(kDataLayout);
  clock.step("llvm-translate");
  if (callsLibrary(*llvmModule)) {
    if (Refusal fault = addLibrary(*llvmModule, *machine))
      return module.emitError("the library of math functions is unusable: ") << *fault;
    clock.step("llvm-link-math");
  }
  optimize(*llvmModule, *machine, switches);
  EmittedPtx emitted;
  if (options.keepStages)
    emitted.llvmIr = printed(*llvmModule);
  clock.step("llvm-optimize");
  llvm::SmallString<0> buffer;
  llvm::raw_svector_ostream os(buffer);
  llvm::legacy::PassManager backend;
  if (machine->addPassesToEmitFile(backend, os, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                   /*DisableVerify=*/true))
    return module.emitError("LLVM's NVPTX back end cannot print assembly");
  backend.run(*llvmModule);
  emitted.ptx = buffer.str().str();
  clock.step("llvm-codegen");
  return emitted;
}

} // namespace tile::codegen
