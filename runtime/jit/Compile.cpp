#include "runtime/jit/Compile.h"

#include "base/Environment.h"
#include "codegen/Compile.h"
#include "codegen/Remarks.h"
#include "codegen/report/Roofline.h"
#include "frontend/call/ArgFacts.h"
#include "frontend/trace/Kernel.h"
#include "ir/Context.h"
#include "ir/DependentLaunch.h"
#include "ir/target/Target.h"
#include "ir/tile/TileDialect.h"
#include "runtime/jit/Call.h"
#include "runtime/jit/Dump.h"
#include "runtime/jit/Isolated.h"
#include "runtime/toolchain/LinkCuda.h"
#include "runtime/trace/Span.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <fstream>

namespace tile::jit {
namespace {

using codegen::CompiledKernel;
using codegen::CompileOptions;
using codegen::Diagnostic;

std::string textOf(const Diagnostic &diagnostic) {
  if (diagnostic.file.empty())
    return diagnostic.message;
  return diagnostic.file + ":" + std::to_string(diagnostic.line) + ": " + diagnostic.message;
}

/// Who wrote the module: a trace of a kernel in C++, or somebody in a file of IR.
enum class Author { Trace, User };

/// What a failed compile means for the caller: passes mark what the author of a kernel can mend.
/// The author of IR can also write what no trace makes, so that any pass may refuse it.
[[noreturn]] void throwDiagnostics(const std::vector<Diagnostic> &diagnostics,
                                   const std::string &name, Loc fallback, Author author) {
  auto error = std::find_if(diagnostics.begin(), diagnostics.end(), [](const Diagnostic &d) {
    return d.severity == Diagnostic::Severity::Error;
  });
  std::vector<std::string> notes;
  auto first = error == diagnostics.end() ? diagnostics.begin() : error;
  for (auto next = first; next != diagnostics.end(); ++next)
    if (next != error && (next->severity == Diagnostic::Severity::Error ||
                          next->severity == Diagnostic::Severity::Note))
      notes.push_back(textOf(*next));
  notes.push_back("in kernel '" + name + "'");
  std::string message =
      error != diagnostics.end() ? error->message : "compilation failed without a message";
  Loc where = fallback;
  if (error != diagnostics.end() && !error->file.empty())
    where = {error->file.c_str(), error->line};
  if (error != diagnostics.end() && error->userError)
    throw Error(Fault::User, *error->userError, message, where, notes);
  if (author == Author::User) {
    notes.push_back("passes refuse this IR; if tilec wrote it, please report it");
    throw Error(Fault::User, ErrorCode::Verify, message, where, notes);
  }
  notes.push_back("the kernel is not at fault; please report it");
  throw Error(Fault::Compiler, ErrorCode::InternalCompilerError, message, where, notes);
}

} // namespace

// Read once, since compiled kernels are kept in the process under keys that do not hold it.
const passes::PassSelection &passesOfEnvironment() {
  static const passes::PassSelection selection = {
      base::environmentList("TILE_DISABLE_PASSES",
                            [](std::string_view name) {
                              if (passes::isOptionalPass(name))
                                return std::string();
                              std::string known;
                              for (const passes::OptionalPass &pass : passes::optionalPasses())
                                known += (known.empty() ? "" : ", ") + std::string(pass.name);
                              return "is no optional pass; there are " + known;
                            }),
      base::environmentInteger("TILE_BISECT", -1, 0, int64_t(1) << 40)};
  return selection;
}

namespace {

/// The file that TILE_REPRODUCER names, if it can be written.
std::string reproducerOfEnvironment() {
  std::string file = base::environmentText("TILE_REPRODUCER");
  if (file.empty() || std::ofstream(file, std::ios::app))
    return file;
  base::warnOfEnvironment("TILE_REPRODUCER", file, "cannot be written; no IR is kept");
  return {};
}

void printTimings(const CompiledKernel &kernel) {
  double total = 0;
  std::string text;
  llvm::raw_string_ostream out(text);
  for (auto &[step, milliseconds] : kernel.timings) {
    out << llvm::format("%10.2f ms  %s\n", milliseconds, step.c_str());
    total += milliseconds;
  }
  out << llvm::format("%10.2f ms  %s for %s\n", total, kernel.name.c_str(), kernel.target.c_str());
  llvm::errs() << text;
}

void linkCudaInto(CompiledKernel &kernel) {
  if (kernel.cudaFunctions.empty())
    return;
  kernel.ptx = linkCuda(std::move(kernel.ptx), kernel.cudaFunctions, kernel.target);
  for (auto &[stage, text] : kernel.stages)
    if (stage == codegen::Stage::Ptx)
      text = kernel.ptx;
}

CompiledKernel compileModule(mlir::ModuleOp module, const std::string &name, Loc where,
                             CompileOptions options, Author author) {
  trace::Span span("compile", name);
  bool isTimed = base::environmentFlag("TILE_TIME_PASSES");
  options.keepStages |= dumpsAllStages();
  options.timePasses |= isTimed || span;
  options.verifyEach &= !base::environmentFlag("TILE_VERIFY_GROUPS");
  if (options.passes.disabled.empty() && options.passes.limit < 0)
    options.passes = passesOfEnvironment();
  if (options.reproducer.empty())
    options.reproducer = reproducerOfEnvironment();
  std::vector<Diagnostic> diagnostics;
  mlir::FailureOr<CompiledKernel> kernel = codegen::compile(module, options, diagnostics);
  if (mlir::failed(kernel))
    throwDiagnostics(diagnostics, name, where, author);
  if (span)
    span.parts(kernel->timings);
  linkCudaInto(*kernel);
  dumpIfAsked(*kernel);
  if (isTimed)
    printTimings(*kernel);
  return std::move(*kernel);
}

} // namespace

/// Traces the kernel. What is no matter of the language is said on its function behind that.
static std::shared_ptr<frontend::TracedKernel> traced(const Call &call,
                                                      const frontend::Binding &binding) {
  trace::Span span("trace", call.record().name);
  auto kernel = std::make_shared<frontend::TracedKernel>(frontend::trace(call.record(), binding));
  if (call.isDependent())
    for (auto function : kernel->module->getOps<mlir::func::FuncOp>())
      if (function->hasAttr(ir::kKernelAttr))
        function->setAttr(ir::kDependentAttr, mlir::UnitAttr::get(function.getContext()));
  return kernel;
}

std::shared_ptr<frontend::TracedKernel> traceCall(const Call &call, const TargetInfo &target) {
  return traced(call, call.binding(target));
}

std::shared_ptr<frontend::TracedKernel> traceFor(const Call &call, const CallFacts &facts,
                                                 std::shared_ptr<frontend::TracedKernel> known,
                                                 const TargetInfo &target) {
  if (known && frontend::rebind(*known, facts.args))
    return known;
  return traced(call, call.binding(target, &facts));
}

/// An output without elements is one that nobody wants: a kernel that leaves it out does as it is asked.
static void dropRemarksOfUnwanted(const Call &call, std::vector<Diagnostic> &remarks) {
  size_t number = 0; // of the argument: constants are none
  for (size_t param = 0; param < call.record().params.size(); ++param) {
    if (call.record().params[param].kind == detail::ParamSpec::Const)
      continue;
    const detail::HostArg &arg = call.args()[number++];
    std::span extents(arg.extents, arg.kind == detail::HostArg::Tensor ? arg.rank : 0);
    if (std::ranges::find(extents, 0) == extents.end())
      continue;
    const std::vector<std::string> &names = call.record().paramNames;
    std::string name = param < names.size() && !names[param].empty() ? "'" + names[param] + "'"
                                                                     : std::to_string(number);
    std::erase_if(remarks, [&](const Diagnostic &remark) {
      return remark.message == codegen::neverStored(name);
    });
  }
}

CompiledKernel compileTraced(const Call &call, frontend::TracedKernel &traced,
                             const CompileOptions &options) {
  const detail::KernelRecord &record = call.record();
  CompiledKernel kernel =
      isIsolated(options)
          ? compileIsolated(*traced.module, record.name, record.where, options)
          : compileModule(*traced.module, record.name, record.where, options, Author::Trace);
  dropRemarksOfUnwanted(call, kernel.remarks);
  return kernel;
}

/// What a report may take for granted of a call.
static codegen::LaunchFacts launchFactsOf(std::span<const detail::HostArg> args,
                                          std::string_view target) {
  codegen::LaunchFacts launch;
  if (std::optional<ir::Target> known = ir::findTarget(target))
    launch.multiprocessors = known->card.multiprocessors;
  for (const detail::HostArg &arg : args) {
    codegen::LaunchFacts::Argument &fact = launch.arguments.emplace_back();
    if (arg.kind == detail::HostArg::Scalar) {
      if (arg.hasValue && !isFloat(arg.dtype))
        fact.value = frontend::integerOf(arg.dtype, arg.bits);
      continue;
    }
    fact.bytes = static_cast<int64_t>(sizeOf(arg.dtype));
    for (int dim = 0; dim < arg.rank; ++dim) {
      fact.extents.push_back(arg.extents[dim]), fact.strides.push_back(arg.strides[dim]);
      fact.bytes *= arg.strides[dim] ? arg.extents[dim] : 1;
    }
  }
  return launch;
}

CompiledKernel compileRequest(const KernelRequest &request, const CompileOptions &asked,
                              bool isDependent) {
  Call call(request, isDependent);
  CompileOptions options = asked;
  if (options.keepReport && !options.launch)
    options.launch = launchFactsOf(call.args(), options.target);
  detail::checkArguments(call.record(), call.args());
  TargetInfo target = knownTarget(options.target);
  std::shared_ptr<frontend::TracedKernel> traced = traceCall(call, target);
  const CallFacts &facts = call.facts(traced->uses.tiles);
  return compileTraced(call, *traceFor(call, facts, std::move(traced), target), options);
}

Specialisation specialise(const KernelRequest &request, const CompileOptions &options,
                          Assumed assumed, bool isDependent) {
  detail::CompileSettings settings = request.settings;
  settings.assume &= assumed == Assumed::LikeExample;
  Call call(*request.record, request.arguments, request.constants, settings, isDependent);
  detail::checkArguments(call.record(), call.args());
  TargetInfo target = knownTarget(options.target);
  std::shared_ptr<frontend::TracedKernel> traced = traceCall(call, target);
  CallFacts facts = call.facts(traced->uses.tiles);
  if (assumed != Assumed::LikeExample)
    for (frontend::ArgFacts &arg : facts.args)
      arg.isWide = assumed == Assumed::Nothing;
  traced = traceFor(call, facts, std::move(traced), target);
  Specialisation result;
  result.args.assign(facts.args.begin(), facts.args.end());
  result.uses = traced->uses;
  for (frontend::ValueUse use : result.uses.values)
    result.values.push_back(valueOf(call.args(), use));
  result.compiled = compileTraced(call, *traced, options);
  return result;
}

CompiledKernel compileText(std::string_view text, const std::string &name,
                           const CompileOptions &options, Loc where) {
  std::unique_ptr<mlir::MLIRContext> context = ir::makeContext();
  std::string message, file = name;
  int line = 0;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    mlir::ScopedDiagnosticHandler handler(context.get(), [&](mlir::Diagnostic &diagnostic) {
      if (!message.empty())
        return mlir::success();
      message = diagnostic.str();
      if (auto at = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
        file = at.getFilename().str(), line = static_cast<int>(at.getLine());
      return mlir::success();
    });
    module = mlir::parseSourceString<mlir::ModuleOp>(llvm::StringRef(text.data(), text.size()),
                                                     mlir::ParserConfig(context.get()), name);
  }
  if (!module)
    throw Error(Fault::User, ErrorCode::Parse, message.empty() ? "not a module" : message,
                {file.c_str(), line});
  if (where.line) // a worker's, of a kernel that was traced there
    return compileModule(*module, name, where, options, Author::Trace);
  return compileModule(*module, name, Loc{name.c_str(), 1}, options, Author::User);
}

std::string llvmVersion() { return LLVM_VERSION_STRING; }

/// What kernels may know of a row of the table.
static TargetInfo infoOf(const ir::Target &target) {
  return {target.smVersion,
          target.maxSharedBytesPerBlock,
          target.hasFloat8,
          target.hasClusters,
          target.hasTma,
          target.hasWgmma,
          target.card.multiprocessors};
}

TargetInfo knownTarget(std::string_view target) {
  std::optional<ir::Target> found = ir::findTarget(target);
  if (!found)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "unknown target '" + std::string(target) + "'; known: " + ir::knownTargets());
  return infoOf(*found);
}

} // namespace tile::jit

tile::TargetInfo tile::target_info(std::string_view gpu) {
  return jit::infoOf(ir::targetForGpu(gpu));
}
