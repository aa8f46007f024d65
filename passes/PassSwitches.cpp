#include "passes/PassSwitches.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace tile::passes {

const std::vector<OptionalPass> &optionalPasses() {
  static const std::vector<OptionalPass> passes = {
      {"canonicalize", "operations that fold to nothing"},
      {"cse", "values computed twice"},
      {"combine-tile-ops", "additions after products"},
      {"scalarize-splats", "operations on splats"},
      {"unroll-loops", "iterations of loops that asked to be unrolled"},
      {"flatten-loops", "loops in loops that asked to be one"},
      {"hoist-invariants", "work repeated in loops"},
      {"propagate-layouts", "changes of layout"},
      {"schedule-loops", "waiting for what loops load"},
      {"pipeline-loops", "waiting for what loops load"},
      {"skew-loops", "products that wait for the rest of an iteration"},
      {"reorder-dots", "waiting for products whose results nobody takes yet"},
      {"specialize-warps", "waiting to issue copies"},
      {"estimate-registers", "kernels that spill registers"},
      {"simplifycfg", "LLVM: branches"},
      {"early-cse", "LLVM: values computed twice"},
      {"instcombine", "LLVM: instructions"},
      {"licm", "LLVM: work repeated in loops"},
      {"gvn", "LLVM: values computed twice, loads"},
  };
  return passes;
}

static std::string_view plainName(std::string_view name) {
  return name.starts_with("tile-") ? name.substr(5) : name;
}

bool isOptionalPass(std::string_view name) {
  return llvm::any_of(optionalPasses(),
                      [&](const OptionalPass &pass) { return plainName(name) == pass.name; });
}

bool PassSwitches::shouldRun(std::string_view pass) {
  if (!isOptionalPass(pass))
    return true;
  if (llvm::any_of(selection_.disabled, [&](std::string_view disabled) {
        return plainName(disabled) == plainName(pass);
      }))
    return false;
  if (selection_.limit < 0)
    return true;
  bool isAllowed = ++executions_ <= selection_.limit;
  llvm::errs() << llvm::format("bisect: %3lld %s  ", static_cast<long long>(executions_),
                               isAllowed ? "run " : "skip")
               << llvm::StringRef(pass.data(), pass.size()) << "\n";
  return isAllowed;
}

} // namespace tile::passes
