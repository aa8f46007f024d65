// Tracing a kernel: check the binding, run the lambda, emit, verify. MLIR's diagnostics are
// collected here and become one tile::Error; no exception ever crosses MLIR.
#include "frontend/trace/Kernel.h"

#include "frontend/trace/Emit.h"
#include "frontend/trace/FactAttributes.h"
#include "frontend/trace/Regions.h"
#include "ir/tile/TileDialect.h"

#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/Verifier.h>

#include <algorithm>
#include <tuple>

namespace tile::frontend {

/// Runs `verifies` on IR and throws its first diagnostic, if it fails, as an error that `make`
/// composes of message and line.
template <class Verify, class Make>
static void throwFirst(mlir::MLIRContext *context, Verify verifies, Make make) {
  std::string message, file;
  Loc where;
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    if (!message.empty())
      return mlir::success();
    message = diagnostic.str();
    if (auto line = mlir::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation())) {
      file = line.getFilename().str();
      where.line = static_cast<int>(line.getLine());
    }
    return mlir::success();
  });
  if (mlir::succeeded(verifies()))
    return;
  where.file = file.c_str();
  throw make(message, where);
}

/// Text in another language is checked by the operation that holds it: there a failure is the
/// user's.
static void verifyForeign(mlir::ModuleOp module, const Trace &trace) {
  module.walk([&](mlir::Operation *op) {
    bool isPtx = mlir::isa<ir::InlinePtxOp>(op);
    if (!isPtx && !mlir::isa<ir::InlineCudaOp>(op))
      return;
    throwFirst(
        module.getContext(), [&] { return mlir::verify(op); },
        [&](const std::string &message, Loc where) {
          size_t rule = message.find(" op ");
          return Error(Fault::User, ErrorCode::InvalidArgument,
                       (isPtx ? "inline_ptx: " : "inline_cuda: ") +
                           (rule == message.npos ? message : message.substr(rule + 4)),
                       where, {"in kernel '" + trace.record().name + "'"});
        });
  });
}

/// The frontend checks every other rule before, so a failure is our fault.
static void verifyModule(mlir::ModuleOp module) {
  throwFirst(
      module.getContext(), [&] { return mlir::verify(module); },
      [](const std::string &message, Loc where) {
        return Error(Fault::Compiler, ErrorCode::InternalCompilerError,
                     "the traced kernel is not valid IR: " + message, where,
                     {"the kernel is not at fault; please report it"});
      });
}

/// Arguments that are one view are accessed in program order, like one argument.
static void orderSameViews(Trace &trace, const Binding &binding) {
  auto firstOf = [&](int arg) {
    int first = binding.args[static_cast<size_t>(arg)].sameAs;
    return first < 0 ? arg : first;
  };
  for (int arg = 0; arg < static_cast<int>(binding.args.size()); ++arg)
    for (int other = 0; other < arg; ++other)
      if (firstOf(arg) == firstOf(other))
        trace.graph().aliases.insert({{arg, other}, {other, arg}});
}

TracedKernel trace(const detail::KernelRecord &record, const Binding &binding) {
  checkBinding(record, binding);
  TracedKernel result;
  result.context = takeContext();
  result.name = record.name;
  {
    Trace trace(record, binding);
    orderSameViews(trace, binding);
    record.body->run(detail::ParamSource());
    closeGuards(trace, 0);
    result.module = emitModule(trace, *result.context);
    verifyForeign(*result.module, trace);
    result.uses = trace.uses;
    for (auto [first, second] : trace.graph().aliases)
      if (first < second)
        result.uses.aliases.push_back({first, second});
  }
  // Recording order depends on the host compiler's evaluation order; this one does not.
  std::sort(result.uses.tiles.begin(), result.uses.tiles.end(),
            [](const TileUse &a, const TileUse &b) {
              return std::tie(a.arg, a.dim, a.extent) < std::tie(b.arg, b.dim, b.extent);
            });
  verifyModule(*result.module);
  return result;
}

bool rebind(TracedKernel &traced, std::span<const ArgFacts> args) {
  auto function = traced.module->lookupSymbol<mlir::func::FuncOp>(traced.name);
  for (int arg : traced.uses.strides)
    if (isWide(function, arg) != args[static_cast<size_t>(arg)].isWide)
      return false;
  setFacts(function, args);
  return true;
}

} // namespace tile::frontend
