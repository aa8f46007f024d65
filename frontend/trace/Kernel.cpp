// Tracing a kernel: check the binding, run the lambda, emit, verify. MLIR's diagnostics are
// collected here and become one tile::Error; no exception ever crosses MLIR.
#include "frontend/trace/Kernel.h"

#include "frontend/trace/Emit.h"
#include "frontend/trace/Regions.h"
#include "frontend/trace/Settings.h"
#include "ir/Context.h"
#include "ir/TileDialect.h"

#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/Verifier.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace tile::frontend {

[[noreturn]] static void refuse(const detail::KernelRecord &record, std::string message) {
  throw Error(Fault::User, ErrorCode::InvalidArgument, std::move(message), record.where,
              {"in kernel '" + record.name + "'"});
}

static void checkConstants(const detail::KernelRecord &record, const Binding &binding) {
  auto count =
      std::count_if(record.params.begin(), record.params.end(), [](const detail::ParamSpec &spec) {
        return spec.kind == detail::ParamSpec::Const;
      });
  if (binding.consts.size() != static_cast<size_t>(count))
    refuse(record, "the kernel takes " + std::to_string(count) + " constants, got " +
                       std::to_string(binding.consts.size()));
  for (int64_t constant : binding.consts)
    if (constant != static_cast<int32_t>(constant))
      refuse(record, "the constant " + std::to_string(constant) + " does not fit an int");
}

static void checkBinding(const detail::KernelRecord &record, const Binding &binding) {
  checkConstants(record, binding);
  size_t argument = 0;
  for (const detail::ParamSpec &spec : record.params) {
    if (spec.kind == detail::ParamSpec::Const)
      continue;
    std::string name = "arg " + std::to_string(argument + 1);
    if (argument >= binding.args.size())
      refuse(record, "the binding lacks " + name);
    const ArgFacts &facts = binding.args[argument++];
    if (facts.dtype == any)
      refuse(record,
             name + ": the dtype is open: bind the dtype of the tensor that will be passed");
    if (spec.dtype != any && facts.dtype != spec.dtype)
      refuse(record, name + ": expected " + nameOf(spec.dtype) + ", got " + nameOf(facts.dtype));
    if (spec.kind != detail::ParamSpec::Scalar && facts.rank != spec.rank)
      refuse(record, name + ": expected rank " + std::to_string(spec.rank) + ", got rank " +
                         std::to_string(facts.rank));
  }
  if (argument != binding.args.size())
    refuse(record, "the kernel takes " + std::to_string(argument) + " arguments, the binding has " +
                       std::to_string(binding.args.size()));
  std::string wrong = wrongSetting(binding.settings);
  if (!wrong.empty())
    refuse(record, wrong);
}

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
  result.context = ir::makeContext();
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

} // namespace tile::frontend
