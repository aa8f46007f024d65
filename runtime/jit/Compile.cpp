#include "runtime/jit/Compile.h"

#include "codegen/Compile.h"
#include "frontend/Kernel.h"
#include "ir/Context.h"
#include "ir/Target.h"
#include "runtime/jit/Dump.h"
#include "runtime/jit/Specialize.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdlib>

namespace tile::jit {
namespace {

using codegen::CompiledKernel;
using codegen::CompileOptions;
using codegen::Diagnostic;

bool mentions(const std::string &message, std::string_view words) {
  return message.find(words) != message.npos;
}

std::string textOf(const Diagnostic &diagnostic) {
  if (diagnostic.file.empty())
    return diagnostic.message;
  return diagnostic.file + ":" + std::to_string(diagnostic.line) + ": " + diagnostic.message;
}

/// What a failed compile means for the caller. Limits of the target and shapes are the user's to
/// change; all else should have been refused while tracing, and is ours.
[[noreturn]] void throwDiagnostics(const std::vector<Diagnostic> &diagnostics,
                                   const std::string &name, Loc fallback) {
  auto error = std::find_if(diagnostics.begin(), diagnostics.end(), [](const Diagnostic &d) {
    return d.severity == Diagnostic::Severity::Error;
  });
  std::vector<std::string> notes;
  for (auto next = error; next != diagnostics.end(); ++next)
    if (next != error && (next->severity == Diagnostic::Severity::Error ||
                          next->severity == Diagnostic::Severity::Note))
      notes.push_back(textOf(*next));
  notes.push_back("in kernel '" + name + "'");
  std::string message =
      error != diagnostics.end() ? error->message : "compilation failed without a message";
  Loc where = fallback;
  if (error != diagnostics.end() && !error->file.empty())
    where = {error->file.c_str(), error->line};
  if (mentions(message, "shared memory") || mentions(message, "registers"))
    throw Error(Fault::User, ErrorCode::ResourceExceeded, message, where, notes);
  if (mentions(message, "cannot be laid out") || mentions(message, "are supported"))
    throw Error(Fault::User, ErrorCode::Unsupported, message, where, notes);
  if (mentions(message, "unknown target") || mentions(message, "has no kernel") ||
      mentions(message, "for one kernel"))
    throw Error(Fault::User, ErrorCode::InvalidArgument, message, where, notes);
  notes.push_back("the kernel is not at fault; please report it");
  throw Error(Fault::Compiler, ErrorCode::InternalCompilerError, message, where, notes);
}

bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value && std::string_view(value) != "0";
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

CompiledKernel compileModule(mlir::ModuleOp module, const std::string &name, Loc where,
                             CompileOptions options) {
  const char *dump = std::getenv("TILE_DUMP");
  bool isDumped = dump && *dump, isTimed = isSet("TILE_TIME_PASSES");
  options.keepStages |= isDumped;
  options.timePasses |= isTimed;
  std::vector<Diagnostic> diagnostics;
  mlir::FailureOr<CompiledKernel> kernel = codegen::compile(module, options, diagnostics);
  if (mlir::failed(kernel))
    throwDiagnostics(diagnostics, name, where);
  if (isDumped)
    dumpStages(*kernel, dump);
  if (isTimed)
    printTimings(*kernel);
  return std::move(*kernel);
}

} // namespace

CompiledKernel compileKernel(const detail::KernelRecord &record, const frontend::Binding &binding,
                             const CompileOptions &options) {
  frontend::TracedKernel traced = frontend::trace(record, binding);
  return compileModule(*traced.module, record.name, record.where, options);
}

CompiledKernel compileRequest(const KernelRequest &request, const CompileOptions &options) {
  detail::checkArguments(*request.record, request.arguments);
  TargetInfo target = targetInfo(options.target);
  auto bind = [&](std::span<const frontend::TileUse> uses) {
    return bindingOf(request.arguments, uses, request.constants, request.warps, target);
  };
  return compileKernel(*request.record, bind(tileUsesOf(*request.record, bind({}))), options);
}

CompiledKernel compileText(std::string_view text, const std::string &name,
                           const CompileOptions &options) {
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
  return compileModule(*module, name, {name.c_str(), 1}, options);
}

std::vector<frontend::TileUse> tileUsesOf(const detail::KernelRecord &record,
                                          const frontend::Binding &binding) {
  return frontend::trace(record, binding).tileUses;
}

std::string llvmVersion() { return LLVM_VERSION_STRING; }

TargetInfo targetInfo(std::string_view target) {
  std::optional<ir::Target> found = ir::findTarget(target);
  if (!found)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "unknown target '" + std::string(target) + "'; known: " + ir::knownTargets());
  return {found->smVersion, found->maxSharedBytesPerBlock};
}

} // namespace tile::jit
