// Archives of kernels of the tests, compiled as `tilec aot` does it.
#pragma once

#include "runtime/aot/Archive.h"
#include "tools/tilec/aot/Variants.h"

#include <tile/Aot.h>
#include <tile/Registry.h>

#include <string>
#include <vector>

namespace tile::test {

/// A function of a kernel without machine code, which no device of the tests runs.
inline aot::Function compiledAhead(const std::string &name, const KernelRequest &request,
                                   std::vector<std::string> names,
                                   std::vector<std::string> targets = {"sm_80"},
                                   bool isForExampleAlone = false) {
  tilec::AotRequest asked{name, request, std::move(names), {}};
  tilec::AotOptions options;
  options.isForExampleAlone = isForExampleAlone, options.hasMachineCode = false;
  aot::Function function = tilec::functionOf(asked);
  for (const std::string &target : targets)
    tilec::addVariants(function, asked, target, options);
  return function;
}

inline std::vector<std::byte> archiveOf(std::vector<aot::Function> functions) {
  return aot::encode({"archive", std::move(functions)});
}

} // namespace tile::test
