#include "tools/tilec/aot/Variants.h"

#include "frontend/call/Arguments.h"
#include "runtime/jit/Compile.h"
#include "runtime/toolchain/Assemble.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <optional>
#include <utility>

namespace tile::tilec {
namespace {

using aot::Variant;
using detail::ParamSpec;
using jit::Assumed;

Variant variantOf(jit::Specialisation made) {
  Variant variant;
  variant.needs.args = std::move(made.args);
  variant.needs.tiles = std::move(made.uses.tiles);
  for (size_t i = 0; i < made.values.size(); ++i)
    variant.needs.values.push_back({made.uses.values[i], made.values[i]});
  variant.aliases = std::move(made.uses.aliases);
  variant.compiled = std::move(made.compiled);
  return variant;
}

/// Machine code; without an assembler, drivers compile the PTX.
void assemble(Variant &variant) {
  static bool isTold = false;
  try {
    variant.cubin = jit::assemble(variant.compiled.ptx, variant.compiled.target);
  } catch (const Error &error) {
    if (error.code() != ErrorCode::ToolMissing)
      throw;
    if (!isTold)
      std::cerr << "note: no machine code, drivers will compile the PTX when it is loaded: "
                << error.message() << "\n";
    isTold = true;
  }
}

/// What a variant is for, in a note that there is none.
std::string purposeOf(Assumed assumed, bool isInPlace) {
  if (isInPlace)
    return "calls in place";
  return assumed == Assumed::Nothing ? "tensors beyond 2^31 elements"
                                     : "other alignments and extents";
}

/// Nothing where the kernel cannot be compiled without what the example promises.
std::optional<Variant> undemanding(const AotRequest &request, const KernelRequest &kernel,
                                   const codegen::CompileOptions &compile, Assumed assumed,
                                   bool isDependent, bool isInPlace) {
  try {
    return variantOf(jit::specialise(kernel, compile, assumed, isDependent));
  } catch (const Error &error) {
    if (error.fault() != Fault::User)
      throw;
    std::cerr << "note: '" << request.name << "' has no variant for "
              << purposeOf(assumed, isInPlace) << " (" << compile.target << "): " << error.message()
              << "\n";
    return std::nullopt;
  }
}

bool couldBeOneView(const HostArg &a, const HostArg &b) {
  return a.kind == HostArg::Tensor && b.kind == HostArg::Tensor && a.dtype == b.dtype &&
         a.rank == b.rank;
}

/// The request for calls that may give one view to several arguments, of which the kernel writes one: such arguments are
/// marked as if they were. In that code accesses of all that could be one view stay in order, so that it is right for any of
/// them being one, or none. Nothing if none could be.
std::optional<KernelRequest> inPlace(const KernelRequest &request) {
  std::vector<bool> isWritten;
  for (const ParamSpec &spec : request.record->params)
    if (spec.kind != ParamSpec::Const)
      isWritten.push_back(frontend::isWritten(spec));
  KernelRequest marked = request;
  std::vector<HostArg> &args = marked.arguments;
  for (size_t i = 0; i < args.size(); ++i)
    for (size_t first = 0; first < i && !args[i].sameAs; ++first)
      if (couldBeOneView(args[first], args[i]))
        args[i].sameAs = static_cast<uint8_t>(first + 1);
  auto isOfWritten = [&](size_t first) {
    for (size_t i = 0; i < args.size(); ++i)
      if (isWritten[i] && (i == first || args[i].sameAs == first + 1))
        return true;
    return false;
  };
  bool isAny = false;
  for (HostArg &arg : args) {
    if (arg.sameAs && !isOfWritten(arg.sameAs - 1u))
      arg.sameAs = 0;
    isAny |= arg.sameAs != 0;
  }
  return isAny ? std::optional(std::move(marked)) : std::nullopt;
}

/// Adds a variant; one with the same code that needs more has no use beside it.
void addBeside(std::vector<Variant> &variants, Variant variant) {
  std::erase_if(variants,
                [&](const Variant &other) { return other.compiled.ptx == variant.compiled.ptx; });
  variants.push_back(std::move(variant));
}

} // namespace

aot::Function functionOf(const AotRequest &request) {
  const detail::KernelRecord &record = *request.request.record;
  aot::Function function;
  function.name = request.name, function.kernel = record.name;
  function.file = record.where.file ? record.where.file : "", function.line = record.where.line;
  function.paramNames = request.argumentNames;
  function.constants = request.constants;
  auto argument = request.request.arguments.begin();
  for (const ParamSpec &spec : record.params)
    if (spec.kind != ParamSpec::Const)
      function.params.push_back({spec.kind, (argument++)->dtype, spec.rank});
  return function;
}

void addVariants(aot::Function &function, const AotRequest &request, const std::string &target,
                 const AotOptions &options) {
  codegen::CompileOptions compile;
  compile.target = target;
  compile.reproducer = options.reproducer;
  std::vector<Assumed> levels = {Assumed::LikeExample};
  if (!options.isForExampleAlone)
    levels.insert(levels.end(), {Assumed::NothingSmall, Assumed::Nothing});
  std::optional<KernelRequest> marked =
      options.isForCallsInPlace ? inPlace(request.request) : std::nullopt;
  std::vector<Variant> variants, forOneView;
  for (Assumed assumed : levels) {
    std::optional<Variant> apart =
        assumed == Assumed::LikeExample
            ? variantOf(jit::specialise(request.request, compile, assumed, options.isDependent))
            : undemanding(request, request.request, compile, assumed, options.isDependent, false);
    if (!apart)
      continue;
    std::optional<Variant> oneView =
        marked ? undemanding(request, *marked, compile, assumed, options.isDependent, true)
               : std::nullopt;
    if (oneView) {
      oneView->aliases = apart->aliases; // what the kernel says itself
      if (oneView->compiled.ptx == apart->compiled.ptx)
        apart = std::exchange(oneView, std::nullopt);
      else
        addBeside(forOneView, std::move(*oneView));
    }
    addBeside(variants, std::move(*apart));
  }
  // Behind the others, which are taken by all calls but those in place.
  std::ranges::move(forOneView, std::back_inserter(variants));
  for (Variant &variant : variants) {
    if (options.hasMachineCode)
      assemble(variant);
    function.variants.push_back(std::move(variant));
  }
}

} // namespace tile::tilec
