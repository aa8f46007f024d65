#include "runtime/predict/Figures.h"

#include "runtime/toolchain/Assemble.h"

namespace tile::predict {

vgpu::AssemblerFigures figuresOf(std::string_view ptx, const std::string &target) {
  jit::AssemblerReport report = jit::inspectAssembly(ptx, target);
  if (report.assembler.empty())
    return {};
  return {static_cast<unsigned>(report.registers), static_cast<unsigned>(report.barriers)};
}

} // namespace tile::predict
