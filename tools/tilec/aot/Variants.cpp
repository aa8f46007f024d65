#include "tools/tilec/aot/Variants.h"

#include "runtime/jit/Compile.h"
#include "runtime/toolchain/Assemble.h"

#include <algorithm>
#include <iostream>
#include <optional>

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

/// Nothing where the kernel cannot be compiled without what the example promises.
std::optional<Variant> undemanding(const AotRequest &request,
                                   const codegen::CompileOptions &compile, Assumed assumed) {
  try {
    return variantOf(jit::specialise(request.request, compile, assumed));
  } catch (const Error &error) {
    if (error.fault() != Fault::User)
      throw;
    std::cerr << "note: '" << request.name << "' has no variant for "
              << (assumed == Assumed::Nothing ? "tensors beyond 2^31 elements"
                                              : "other alignments and extents")
              << " (" << compile.target << "): " << error.message() << "\n";
    return std::nullopt;
  }
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
  std::vector<Variant> variants;
  variants.push_back(variantOf(jit::specialise(request.request, compile, Assumed::LikeExample)));
  if (!options.isForExampleAlone)
    for (Assumed assumed : {Assumed::NothingSmall, Assumed::Nothing})
      if (std::optional<Variant> other = undemanding(request, compile, assumed)) {
        std::erase_if(variants, [&](const Variant &variant) {
          return variant.compiled.ptx == other->compiled.ptx;
        });
        variants.push_back(std::move(*other));
      }
  for (Variant &variant : variants) {
    if (options.hasMachineCode)
      assemble(variant);
    function.variants.push_back(std::move(variant));
  }
}

} // namespace tile::tilec
